"""The trained networks, run by onnxruntime: a grid becomes cleaner, a clean grid a picture."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zorank.dream.samplers import Grid, Guess
from zorank.dream.vocabulary import WORDS
from zorank.errors import MissingExtra
from zorank.types import Vector

SHAPE = (16, 16, 16)
"""Components of a patch, rows and columns of patches."""


def guided(said: Vector, guidance: float) -> Guess:
    """Guesses the clean grid, with more stress on what was said than the network would put there.

    Guidance 1 is the network's own guess; more goes beyond it, away from what it would guess if
    nothing had been said (Ho & Salimans, 2022).
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
    """The picture of a clean grid, 256 pixels a side, and as it was made, 64 pixels a side.

    Both are (rows, columns, 3) of red, green and blue from 0 to 1.
    """
    large, small = _session("picture").run(None, {"grids": grid[None]})
    return large[0].transpose(1, 2, 0), small[0].transpose(1, 2, 0)


def fit(pictures: NDArray[np.float32], said: Vector) -> Vector:
    """How well pictures (n, 64, 64, 3) from 0 to 1 fit what was said, each from −1 to 1."""
    inputs = {
        "pictures": (2 * pictures.transpose(0, 3, 1, 2) - 1).astype(np.float32),
        "words": np.repeat(said[None], len(pictures), 0).astype(np.float32),
    }
    found: Vector = _session("judge").run(None, inputs)[0].astype(np.float64)
    return found


@cache
def fingerprint() -> str:
    """A short name for these very weights: others give other pictures."""
    found = blake2b(digest_size=6)
    for name in ("denoiser", "picture", "judge"):
        found.update(_file(name))
    return found.hexdigest()


def _file(name: str) -> bytes:
    return (resources.files("zorank.dream") / "weights" / f"{name}.onnx").read_bytes()


@cache
def _session(name: str) -> Any:
    try:
        import onnxruntime
    except ModuleNotFoundError as error:
        raise MissingExtra("dream", "onnxruntime", "dream") from error
    options = onnxruntime.SessionOptions()
    # A picture is one thread's work: several are painted at a time, each the same as if alone.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(_file(name), options, providers=["CPUExecutionProvider"])
