"""Workflows of ComfyUI in the API format, as its "Export (API)" writes them."""

import json


def usual(**changes):
    """The workflow that ComfyUI begins with, and a LoRA; numbers as JavaScript writes them."""
    sampler = {
        "seed": 42,
        "steps": 4,
        "cfg": 7,
        "sampler_name": "euler",
        "scheduler": "normal",
        "denoise": 1,
        "model": ["10", 0],
        "positive": ["6", 0],
        "negative": ["7", 0],
        "latent_image": ["5", 0],
        **changes,
    }
    lora = {"lora_name": "ink.safetensors", "strength_model": 1, "strength_clip": 1}
    nodes = {
        "3": ("KSampler", sampler, "Sampler"),
        "4": ("CheckpointLoaderSimple", {"ckpt_name": "tiny.safetensors"}, "Load Checkpoint"),
        "5": ("EmptyLatentImage", {"width": 64, "height": 64, "batch_size": 1}, "Latent"),
        "6": ("CLIPTextEncode", {"text": "a lake", "clip": ["10", 1]}, "Prompt"),
        "7": ("CLIPTextEncode", {"text": "text", "clip": ["10", 1]}, "Prompt"),
        "8": ("VAEDecode", {"samples": ["3", 0], "vae": ["4", 2]}, "VAE Decode"),
        "9": ("SaveImage", {"filename_prefix": "lake", "images": ["8", 0]}, "Save Image"),
        "10": ("LoraLoader", {**lora, "model": ["4", 0], "clip": ["4", 1]}, "Ink, 1.5"),
    }
    return _workflow(nodes)


def advanced(seed=42):
    """The same with SamplerCustomAdvanced, in place of the KSampler."""
    nodes = json.loads(usual())
    of = {
        "21": ("RandomNoise", {"noise_seed": seed}, "Noise"),
        "22": ("CFGGuider", {n: nodes["3"]["inputs"][n] for n in GUIDER}, "Guider"),
        "23": ("KSamplerSelect", {"sampler_name": "euler"}, "Method"),
        "24": ("BasicScheduler", {n: nodes["3"]["inputs"][n] for n in SIGMAS}, "Steps"),
    }
    slots = zip(("noise", "guider", "sampler", "sigmas"), of, strict=True)
    inputs = {name: [node_id, 0] for name, node_id in slots}
    inputs["latent_image"] = ["5", 0]
    of["3"] = ("SamplerCustomAdvanced", inputs, "Sampler")
    return json.dumps({**nodes, **json.loads(_workflow(of))})


GUIDER = ("model", "positive", "negative", "cfg")
SIGMAS = ("model", "scheduler", "steps", "denoise")


def _workflow(nodes):
    return json.dumps(
        {
            node_id: {"inputs": inputs, "class_type": kind, "_meta": {"title": title}}
            for node_id, (kind, inputs, title) in nodes.items()
        }
    )
