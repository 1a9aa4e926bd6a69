"""A learned perceptual distance of pictures: ShiftTolerant-LPIPS (Ghildyal & Liu, 2022).

The distance compares the activations of AlexNet's five layers, whose channels are weighted to fit
people's judgements of similarity. Only the weights are those of the package `stlpips-pytorch`
(BSD-2); they are read as tensors (`weights_only`), and the package's code is not imported.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zorank.errors import MissingExtra, required_by

_FILE = Path("weights") / "vST0.0" / "alex_shift_tolerant.pth"
_LAYERS = 5


def features(picture: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return numbers of a (rows, columns, 3) picture; their distance is the perceptual one.

    `distance` is the squared Euclidean distance of the features of two pictures of equal size.
    """
    torch, weights = _torch(), _weights()
    with torch.inference_mode():
        x = torch.from_numpy(np.array(picture)).permute(2, 0, 1)[None].float() / 127.5 - 1.0
        x = (x - weights["scaling_layer.shift"]) / weights["scaling_layer.scale"]
        parts = []
        for layer, found in enumerate(_activations(x, weights)):
            unit = found / (found.norm(dim=1, keepdim=True) + 1e-10)
            scale = weights[f"lin{layer}.model.1.weight"].reshape(1, -1, 1, 1)
            places = found.shape[2] * found.shape[3]
            parts.append((unit * (scale.clamp(min=0) / places).sqrt()).flatten())
        return np.asarray(torch.cat(parts).numpy(), np.float32)


def distance(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """Return the perceptual distance of two pictures from their features."""
    change = one - other
    return float(change @ change)


def _activations(x: Any, weights: Any) -> list[Any]:
    """Return the activations of the five layers for a picture, (1, 3, rows, columns)."""
    torch = _torch()

    def convolved(x: Any, name: str, padding: int) -> Any:
        kernel, bias = (weights[f"net.{name}.{part}"] for part in ("weight", "bias"))
        return torch.nn.functional.conv2d(x, kernel, bias, padding=padding)

    def halved(x: Any, name: str) -> Any:
        """Blur, and keep every second pixel."""
        wide = torch.nn.functional.pad(x, (2, 2, 2, 2), mode="reflect")
        kernel = weights[f"net.{name}.filt"]
        return torch.nn.functional.conv2d(wide, kernel, stride=2, groups=x.shape[1])

    def pooled(x: Any) -> Any:
        return torch.nn.functional.max_pool2d(x, kernel_size=3, stride=1)

    first = torch.relu(halved(convolved(x, "slice1.0", 2), "slice1.1"))
    second = torch.relu(convolved(halved(pooled(first), "slice2.4"), "slice2.5", 2))
    third = torch.relu(convolved(halved(pooled(second), "slice3.8"), "slice3.9", 1))
    fourth = torch.relu(convolved(third, "slice4.11", 1))
    return [first, second, third, fourth, torch.relu(convolved(fourth, "slice5.13", 1))]


def _torch() -> Any:
    with required_by("the perceptual distance", "torch", "peers"):
        import torch
    return torch


@cache
def _weights() -> Any:
    found = find_spec("stlpips_pytorch")
    for place in (found and found.submodule_search_locations) or ():
        file = Path(place) / _FILE
        if file.is_file():
            return _torch().load(file, map_location="cpu", weights_only=True)
    raise MissingExtra("the perceptual distance", "stlpips-pytorch", "peers")


__all__ = ["distance", "features"]
