"""Faces of a GAN, judged by a model of facial expressions: a real generator and a real judge.

The models are not part of zorank: `benchmarks/faces/convert.py` makes them. A rater likes what the
judge calls happy: its log-odds of "happy" against the six other expressions. Looks are the
generator's own activations at 16 × 16 pixels, which cost about a tenth of a face.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
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
DIM = 512
TASTE = "happy"
MEANING = "happy, by the log-odds of a model of facial expressions"
HAPPY = 3
"""The judge's class for happy faces; there are seven."""
FACE = slice(16, 112)
"""Rows and columns of the face itself, of 128."""
GREY = np.array([0.299, 0.587, 0.114])
JUDGED_SIZE = 64
RANDOM_FACES = 200
"""The number of random faces that the taste is standardised over."""
CACHED = 4096


def check_models() -> None:
    """Raise InvalidInput unless the models are there."""
    folder = os.environ.get(VARIABLE, "")
    missing = [n for n in ("faces", "look", "expression") if not _file(folder, n).is_file()]
    if not folder or missing:
        raise InvalidInput(
            "the part faces needs the models that benchmarks/faces/convert.py makes; name their "
            f"folder in the environment variable {VARIABLE}, found {folder!r}"
        )


class Faces:
    """The generator as a renderer: latents are scaled to a fixed norm by the model itself."""

    dim = DIM
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
        """Return the generator's activations at 16 × 16, averaged over 4 × 4 areas, (n, 8192)."""
        return np.stack([_run("look", row)[0] for row in np.atleast_2d(candidates)]).astype(float)


def picture(candidate: Vector) -> NDArray[np.float32]:
    """Return a face, (128, 128, 3), from 0 to 1."""
    return np.moveaxis(_run("faces", candidate)[0], 0, -1)


def happiness(face: NDArray[np.float32]) -> float:
    """Return the log-odds of "happy" that the judge gives to a picture of a face."""
    from PIL import Image

    grey = (255 * (face[FACE, FACE] @ GREY)).astype(np.uint8)
    small = Image.fromarray(grey).resize((JUDGED_SIZE,) * 2, Image.Resampling.BILINEAR)
    logits = _run("expression", (np.asarray(small) / 127.5 - 1)[None])[0].astype(float)
    return float(logits[HAPPY] - np.logaddexp.reduce(np.delete(logits, HAPPY)))


@lru_cache(maxsize=1)
def taste() -> Taste:
    """Return the taste of a rater who likes happy faces: mean 0, sd 1 over random faces."""
    draws, shell = rng.for_content(0, b"random faces"), Shell()
    values = [_loss(shell.place(draws.standard_normal(DIM))) for _ in range(RANDOM_FACES)]
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
    file = _file(os.environ[VARIABLE], model)
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def _file(folder: str, model: str) -> Path:
    return Path(folder) / f"{model}.onnx"
