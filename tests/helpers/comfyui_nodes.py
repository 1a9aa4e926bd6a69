"""Nodes of the stand-in for ComfyUI, with the names, inputs and outputs of the real ones.

Latents are arrays and a "model" is a number, so that pictures depend on the noise, the guidance,
the strength of a LoRA and the prompt as they would, in microseconds.
"""

import hashlib
import importlib.util
import sys
import types

import numpy as np

ANY_SEED = {"default": 0, "min": 0, "max": 2**64 - 1, "control_after_generate": True}
STRENGTH = {"default": 1.0, "min": -100.0, "max": 100.0, "step": 0.01}
CFG = {"default": 8.0, "min": 0.0, "max": 100.0, "step": 0.1, "round": 0.01}
STEPS = {"default": 20, "min": 1, "max": 10000}
UNIT = {"default": 1.0, "min": 0.0, "max": 1.0, "step": 0.01}
SIZE = {"default": 512, "min": 16, "max": 16384, "step": 8}
SAMPLERS = [["euler", "dpmpp_2m"], {}]
SCHEDULERS = [["normal", "karras"], {}]

INPUTS = {
    "CheckpointLoaderSimple": {"ckpt_name": [["tiny.safetensors"], {}]},
    "LoraLoader": {
        "model": ["MODEL"],
        "clip": ["CLIP"],
        "lora_name": [["ink.safetensors"], {}],
        "strength_model": ["FLOAT", STRENGTH],
        "strength_clip": ["FLOAT", STRENGTH],
    },
    "CLIPTextEncode": {"text": ["STRING", {"multiline": True}], "clip": ["CLIP"]},
    "EmptyLatentImage": {
        "width": ["INT", SIZE],
        "height": ["INT", SIZE],
        "batch_size": ["INT", {}],
    },
    "RandomNoise": {"noise_seed": ["INT", ANY_SEED]},
    "KSamplerSelect": {"sampler_name": SAMPLERS},
    "BasicScheduler": {
        "model": ["MODEL"],
        "scheduler": SCHEDULERS,
        "steps": ["INT", STEPS],
        "denoise": ["FLOAT", UNIT],
    },
    "CFGGuider": {
        "model": ["MODEL"],
        "positive": ["CONDITIONING"],
        "negative": ["CONDITIONING"],
        "cfg": ["FLOAT", CFG],
    },
    "SamplerCustomAdvanced": {
        "noise": ["NOISE"],
        "guider": ["GUIDER"],
        "sampler": ["SAMPLER"],
        "sigmas": ["SIGMAS"],
        "latent_image": ["LATENT"],
    },
    "KSampler": {
        "model": ["MODEL"],
        "seed": ["INT", ANY_SEED],
        "steps": ["INT", STEPS],
        "cfg": ["FLOAT", CFG],
        "sampler_name": SAMPLERS,
        "scheduler": SCHEDULERS,
        "positive": ["CONDITIONING"],
        "negative": ["CONDITIONING"],
        "latent_image": ["LATENT"],
        "denoise": ["FLOAT", UNIT],
    },
    "VAEDecode": {"samples": ["LATENT"], "vae": ["VAE"]},
    "SaveImage": {"images": ["IMAGE"], "filename_prefix": ["STRING", {"default": "ComfyUI"}]},
    "PreviewImage": {"images": ["IMAGE"]},
}
OUTPUT_NODES = ("SaveImage", "PreviewImage")
SAMPLING = ("KSampler", "SamplerCustomAdvanced")


def prepare_noise(latents, seed, positions=None):
    return np.random.default_rng(seed).standard_normal(latents.shape)


def load_custom(file):
    """Load a file of `custom_nodes` as ComfyUI does; its `comfy.sample` is that of this module."""
    sample = types.ModuleType("comfy.sample")
    sample.prepare_noise = prepare_noise
    comfy = types.ModuleType("comfy")
    comfy.sample = sample
    sys.modules |= {"comfy": comfy, "comfy.sample": sample}
    spec = importlib.util.spec_from_file_location(f"custom_{file.stem}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.NODE_CLASS_MAPPINGS


def run(kind, inputs, custom):
    """Return the outputs of a node."""
    if kind in custom:
        node = custom[kind]()
        return getattr(node, node.FUNCTION)(**inputs)
    return globals()[f"_run_{kind}"](**inputs)


def _number(text):
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") / 2**32


def _run_CheckpointLoaderSimple(ckpt_name):
    return 0.0, 0.0, 1.0


def _run_LoraLoader(model, clip, lora_name, strength_model, strength_clip):
    return model + strength_model, clip + strength_clip


def _run_CLIPTextEncode(text, clip):
    return (_number(text) + clip,)


def _run_EmptyLatentImage(width, height, batch_size):
    return ({"samples": np.zeros((batch_size, 4, height // 8, width // 8))},)


def _run_RandomNoise(noise_seed):
    made = types.SimpleNamespace(seed=noise_seed)
    made.generate_noise = lambda latent: prepare_noise(latent["samples"], noise_seed)
    return (made,)


def _run_KSamplerSelect(sampler_name):
    return (sampler_name,)


def _run_BasicScheduler(model, scheduler, steps, denoise):
    return (denoise,)


def _run_CFGGuider(model, positive, negative, cfg):
    return ((model, positive, negative, cfg),)


def _run_SamplerCustomAdvanced(noise, guider, sampler, sigmas, latent_image):
    model, positive, negative, cfg = guider
    drawn = noise.generate_noise(latent_image) * sigmas
    wave = np.sin(3 * drawn + model) + 0.2 * cfg * (positive - negative)
    sampled = {"samples": latent_image["samples"] + drawn + wave}
    return sampled, sampled


def _run_KSampler(seed, cfg, sampler_name, latent_image, denoise, **others):
    guider = (others["model"], others["positive"], others["negative"], cfg)
    (noise,) = _run_RandomNoise(seed)
    return _run_SamplerCustomAdvanced(noise, guider, sampler_name, denoise, latent_image)[:1]


def _run_VAEDecode(samples, vae):
    levels = 255 / (1 + np.exp(-samples["samples"][:, :3] * vae))
    pictures = np.moveaxis(levels, 1, -1).repeat(4, axis=1).repeat(4, axis=2)
    return (pictures.round().astype(np.uint8),)
