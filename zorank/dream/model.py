"""Inference of the trained networks with onnxruntime: denoiser, decoder and judge."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zorank.dream.samplers import Grid, Guess
from zorank.dream.vocabulary import WORDS
from zorank.errors import required_by
from zorank.types import Vector

SHAPE = (16, 16, 16)
"""Components of a patch, rows and columns of patches."""


def guided(said: Vector, guidance: float) -> Guess:
    """Return a denoiser with classifier-free guidance (Ho & Salimans, 2022).

    Guidance 1 is the conditional prediction. A larger one extrapolates from the unconditional
    prediction through the conditional one.
    """
    words = np.stack([said, np.zeros(len(WORDS))]).astype(np.float32)
    if guidance == 1 or not said.any():
        words = words[:1]

    def guess(grid: Grid, cleanness: float) -> Grid:
        inputs = {
            "noisy": np.repeat(grid[None], len(words), 0),
            "cleanness": np.full(len(words), cleanness, np.float32),
            "words": words,
        }
        (clean,) = _session("denoiser").run(None, inputs)
        if len(clean) > 1:
            clean = clean[1:] + np.float32(guidance) * (clean[:1] - clean[1:])
        return np.asarray(clean[0])

    return guess


def picture_of(grid: Grid) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Decode a clean grid into a picture of 256 × 256 pixels, and the same at 64 × 64.

    Both are (rows, columns, 3) of red, green and blue from 0 to 1.
    """
    large, small = _session("picture").run(None, {"grids": grid[None]})
    return large[0].transpose(1, 2, 0), small[0].transpose(1, 2, 0)


def fit(pictures: NDArray[np.float32], said: Vector) -> Vector:
    """Return how well pictures, (n, 64, 64, 3) from 0 to 1, fit a prompt: from −1 to 1 each."""
    inputs = {
        "pictures": (2 * pictures.transpose(0, 3, 1, 2) - 1).astype(np.float32),
        "words": np.repeat(said[None], len(pictures), 0).astype(np.float32),
    }
    found: Vector = _session("judge").run(None, inputs)[0].astype(np.float64)
    return found


@cache
def fingerprint() -> str:
    """Return a short digest of the weights."""
    found = blake2b(digest_size=6)
    for name in ("denoiser", "picture", "judge"):
        found.update(_file(name))
    return found.hexdigest()


def _file(name: str) -> bytes:
    return (resources.files("zorank.dream") / "weights" / f"{name}.onnx").read_bytes()


@cache
def _session(name: str) -> Any:
    with required_by("dream", "onnxruntime", "dream"):
        import onnxruntime
    options = onnxruntime.SessionOptions()
    # One thread per picture, so that results do not depend on how many are rendered at once.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(_file(name), options, providers=["CPUExecutionProvider"])
