"""Measures the renderer of diffusion models: the cost of drafts, and memory.

    python benchmarks/diffusion.py drafts
    python benchmarks/diffusion.py memory
    python benchmarks/diffusion.py computed

`drafts`, on the tiny pipeline of the tests (random weights): processor time of a draft and of its
picture, and how well distances of drafts agree with those of pictures (rank correlation).

`memory`: the largest resident memory of a process that renders a batch, for the tiny pipelines and
for a pipeline of the size of Stable Diffusion 1.5 with random weights, in single precision on the
CPU, one step. Each case runs in a process of its own.

`computed`: parameters and bytes of weights of Stable Diffusion 1.5 and XL in half precision, from
their published shapes, without making the weights.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from zorank import descriptors
from zorank.renderers.diffusers import Diffusers, drafts
from zorank.renderers.pictures import resized

sys.path.insert(0, str(Path(__file__).parent.parent))

PICTURES = 16
BATCHES = (1, 2, 4)
WIDTHS = {
    "sd15": {
        "block_out_channels": (320, 640, 1280, 1280),
        "cross_attention_dim": 768,
        "attention_head_dim": 8,
    },
    "sdxl": {
        "block_out_channels": (320, 640, 1280),
        "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
        "up_block_types": ("CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"),
        "cross_attention_dim": 2048,
        "attention_head_dim": (5, 10, 20),
        "transformer_layers_per_block": (1, 2, 10),
        "use_linear_projection": True,
        "addition_embed_type": "text_time",
        "addition_time_embed_dim": 256,
        "projection_class_embeddings_input_dim": 2816,
    },
}
"""The published shapes of the denoisers."""

TEXT = {
    "sd15": [{"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12}],
    "sdxl": [
        {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12},
        {"hidden_size": 1280, "intermediate_size": 5120, "num_hidden_layers": 32},
    ],
}
"""Those of the text encoders."""


def tiny_pipelines() -> Any:
    """Return the module of the tests that makes tiny pipelines."""
    return import_module("tests.helpers.tiny_pipelines")


def unet(family: str) -> Any:
    """Make a denoiser of this shape."""
    import diffusers

    side = {"sd15": 64, "sdxl": 128}[family]
    make: Any = diffusers.UNet2DConditionModel
    return make(sample_size=side, **WIDTHS[family])


def autoencoder() -> Any:
    """Make an autoencoder of the shape of both families."""
    import diffusers

    make: Any = diffusers.AutoencoderKL
    return make(
        latent_channels=4,
        block_out_channels=(128, 256, 512, 512),
        layers_per_block=2,
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
    )


def text_encoders(family: str) -> list[Any]:
    """Make the text encoders of a family."""
    import transformers

    heads = {768: 12, 1280: 20}
    config: Any = transformers.CLIPTextConfig
    return [
        transformers.CLIPTextModel(
            config(num_attention_heads=heads[shape["hidden_size"]], **shape)
        )
        for shape in TEXT[family]
    ]


def full_size(folder: str) -> str:
    """Save a pipeline of the size of Stable Diffusion 1.5 with random weights."""
    import diffusers

    make: Any = diffusers.StableDiffusionPipeline
    tiny = tiny_pipelines()
    make(
        unet=unet("sd15"),
        vae=autoencoder(),
        text_encoder=text_encoders("sd15")[0].eval(),
        tokenizer=tiny.tokenizer(),
        scheduler=tiny.scheduler(),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    ).save_pretrained(folder)
    return folder


def print_computed() -> None:
    """Print the parameters of both families, in millions, and gigabytes in half precision."""
    import torch

    print(
        f"{'family':<6} {'denoiser':>9} {'autoenc.':>9} {'text':>9} {'all, M':>9} {'fp16 GB':>8}"
    )
    for family in WIDTHS:
        with torch.device("meta"):
            parts = [[unet(family)], [autoencoder()], text_encoders(family)]
        counts = [sum(p.numel() for one in part for p in one.parameters()) for part in parts]
        row = "".join(f" {count / 1e6:>9.1f}" for count in (*counts, sum(counts)))
        print(f"{family:<6}{row} {2 * sum(counts) / 1e9:>8.2f}")


def print_drafts() -> None:
    """Print the cost of drafts and how well they agree with pictures."""
    tiny = tiny_pipelines()
    folder = str(tiny.stable_diffusion(tempfile.mkdtemp()))
    plain = Diffusers(model=folder, prompt="a red house", steps=20)
    points = np.random.default_rng(0).standard_normal((PICTURES, plain.dim))
    plain.picture(points[0])
    begin = time.process_time()
    pictures = np.stack([resized(plain.picture(x), descriptors.SIDE) for x in points])
    cost = (time.process_time() - begin) / PICTURES
    full = descriptors.pictures(np.asarray(pictures / 255, dtype=np.float32))
    print(f"picture of 20 steps: {1e3 * cost:.0f} ms of processor time")
    for steps in (2, 4, 8):
        renderer = replace(plain, drafts=steps)
        begin = time.process_time()
        looks = drafts.described(renderer, list(points))
        quick = (time.process_time() - begin) / PICTURES
        print(
            f"draft of {steps} steps: {1e3 * quick:.0f} ms, {cost / quick:.1f} times less; rank "
            f"correlation of distances {agreement(full, looks):.2f}"
        )


def agreement(full: np.ndarray, looks: np.ndarray) -> float:
    """Return the rank correlation of the distances between candidates."""
    pairs = np.triu_indices(len(full), 1)
    ranks = [
        np.argsort(np.argsort(np.linalg.norm(rows[:, None] - rows[None], axis=2)[pairs]))
        for rows in (full, looks)
    ]
    return float(np.corrcoef(np.array(ranks, dtype=float))[0, 1])


def print_memory() -> None:
    """Print the largest resident memory of each case, in a process of its own."""
    tiny = tiny_pipelines()
    print(f"{'pipeline':<10} {'batch':>5} {'loaded MB':>10} {'largest MB':>11} {'seconds':>8}")
    with tempfile.TemporaryDirectory() as folder:
        cases = {
            "tiny sd": str(tiny.stable_diffusion(f"{folder}/sd")),
            "tiny sdxl": str(tiny.stable_diffusion_xl(f"{folder}/sdxl")),
        }
        subprocess.run([sys.executable, __file__, "save", f"{folder}/full"], check=True)
        for name, place in {**cases, "sd15 size": f"{folder}/full"}.items():
            for batch in BATCHES if name != "sd15 size" else BATCHES[:2]:
                command = [sys.executable, __file__, "case", place, str(batch)]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                loaded, largest, seconds = json.loads(done.stdout.splitlines()[-1])
                print(f"{name:<10} {batch:>5} {loaded:>10.0f} {largest:>11.0f} {seconds:>8.1f}")


def print_case(folder: str, batch: int) -> None:
    """Render a batch with one step; print the memory after loading, the largest, and the time."""

    def megabytes() -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    renderer = Diffusers(model=folder, prompt="a red house", steps=1, batch=batch)
    points = np.random.default_rng(0).standard_normal((batch, renderer.dim))
    loaded, begin = megabytes(), time.perf_counter()
    renderer.render(list(points))
    print(json.dumps([loaded, megabytes(), time.perf_counter() - begin]))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["drafts"]:
            print_drafts()
        case ["memory"]:
            print_memory()
        case ["computed"]:
            print_computed()
        case ["save", folder]:
            full_size(folder)
        case ["case", folder, batch]:
            print_case(folder, int(batch))
        case _:
            print(__doc__)
