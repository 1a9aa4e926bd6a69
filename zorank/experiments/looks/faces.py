"""Faces of a GAN, judged by a model of facial expressions: a real generator and a real judge.

The models are not part of zorank: `benchmarks/faces/convert.py` makes them. A rater likes what the
judge calls happy: its log-odds of "happy" against the six other expressions. Looks are the
generator's own activations at 8 × 8 pixels where the face is, which cost a fiftieth of a face.

In "happy" a candidate is all 512 latents. In "happy main" it is 64 coordinates along the principal
axes of the generator's first layer (as in GANSpace, Härkönen et al., 2020); what is orthogonal to
them is the same for all candidates, and of the length that it has in a random face.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zorank import rng
from zorank.errors import InvalidInput, required_by
from zorank.experiments.simulated_raters import Taste
from zorank.renderers.pictures import jpeg
from zorank.slates import Shell
from zorank.types import Exhibit, Vector

VARIABLE = "ZORANK_FACES"
"""The environment variable with the folder of the models, which also reaches other processes."""
LATENTS, AXES = 512, 64
ALL, MAIN = "happy", "happy main"
DIMS = {ALL: LATENTS, MAIN: AXES}
"""The number of coordinates of a candidate, by the name of the taste."""
MEANINGS = {
    ALL: "happy, by the log-odds of a model of facial expressions",
    MAIN: "the same along the 64 main axes of the generator's first layer",
}
HAPPY = 3
"""The judge's class for happy faces; there are seven."""
FACE = slice(16, 112)
"""Rows and columns of the face itself, of 128."""
GREY = np.array([0.299, 0.587, 0.114])
JUDGED_SIZE = 64
MODELS = ("faces.onnx", "look.onnx", "expression.onnx", "axes.npy")
RANDOM_FACES = 200
"""The number of random faces that the taste is standardised over."""
CACHED = 4096


def check_models() -> None:
    """Raise InvalidInput unless the models are there."""
    folder = os.environ.get(VARIABLE, "")
    missing = [name for name in MODELS if not (Path(folder) / name).is_file()]
    if not folder or missing:
        raise InvalidInput(
            "the part faces needs the models that benchmarks/faces/convert.py makes; name their "
            f"folder in the environment variable {VARIABLE}, found {folder!r}"
        )


@dataclass(frozen=True)
class Faces:
    """The generator as a renderer: latents are scaled to a fixed norm by the model itself.

    Attributes:
        dim: 512 for all latents, 64 for the main axes among them.
    """

    dim: int = LATENTS

    # Without annotations these are not fields.
    media_type = "image/jpeg"
    space = "gaussian"
    title = "Faces"
    description = "Faces of nobody, by a GAN. A benchmark."

    def render(self, candidates: Iterable[Vector]) -> list[Exhibit]:
        """One JPEG picture of 128 × 128 for each candidate, in their order."""
        return [
            Exhibit(self.media_type, jpeg((255 * picture(x)).round().astype(np.uint8)))
            for x in candidates
        ]

    def look(self, candidates: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the generator's activations at 8 × 8 where the face is, (n, 10240)."""
        rows = np.atleast_2d(candidates)
        return np.stack([_run("look", latents(row))[0] for row in rows]).astype(float)


def latents(candidate: Vector) -> Vector:
    """Return the latents of a candidate, which is all of them or their main coordinates."""
    if candidate.size == LATENTS:
        return candidate
    axes = _axes()
    rest = rng.for_content(0, b"other latents").standard_normal(LATENTS)
    rest -= (axes @ rest) @ axes
    rest *= np.sqrt(LATENTS - AXES) / np.linalg.norm(rest)
    return np.asarray(rest + candidate @ axes)


def picture(candidate: Vector) -> NDArray[np.float32]:
    """Return a face, (128, 128, 3), from 0 to 1."""
    return np.moveaxis(_run("faces", latents(candidate))[0], 0, -1)


def happiness(face: NDArray[np.float32]) -> float:
    """Return the log-odds of "happy" that the judge gives to a picture of a face."""
    from PIL import Image

    grey = (255 * (face[FACE, FACE] @ GREY)).astype(np.uint8)
    small = Image.fromarray(grey).resize((JUDGED_SIZE,) * 2, Image.Resampling.BILINEAR)
    logits = _run("expression", (np.asarray(small) / 127.5 - 1)[None])[0].astype(float)
    return float(logits[HAPPY] - np.logaddexp.reduce(np.delete(logits, HAPPY)))


@lru_cache(maxsize=len(DIMS))
def taste(dim: int) -> Taste:
    """Return the taste of a rater who likes happy faces: mean 0, sd 1 over random faces."""
    draws, shell = rng.for_content(0, b"random faces"), Shell()
    values = [_loss(shell.place(draws.standard_normal(dim))) for _ in range(RANDOM_FACES)]
    return Taste(_loss, float(np.mean(values)), float(np.std(values)))


def _loss(x: Vector) -> Any:
    values = np.array([_judged(row.tobytes()) for row in np.atleast_2d(x).astype(np.float64)])
    return values if np.ndim(x) == 2 else float(values[0])


@lru_cache(maxsize=CACHED)
def _judged(candidate: bytes) -> float:
    return -happiness(picture(np.frombuffer(candidate)))


def _run(model: str, x: Any) -> NDArray[np.float32]:
    """Return what a model makes of one input."""
    (found,) = _session(model).run(None, {"x": np.asarray(x, dtype=np.float32)[None]})
    return np.asarray(found, dtype=np.float32)


@lru_cache(maxsize=3)
def _session(model: str) -> Any:
    with required_by("the part faces", "onnxruntime", "dream"):
        import onnxruntime
    check_models()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # the same sums on every machine, and one core a process
    file = Path(os.environ[VARIABLE]) / f"{model}.onnx"
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


@cache
def _axes() -> NDArray[np.float64]:
    """Return the main axes, orthonormal, (64, 512)."""
    check_models()
    with (Path(os.environ[VARIABLE]) / "axes.npy").open("rb") as file:
        return np.asarray(np.load(file, allow_pickle=False), np.float64)
