"""Drift of a run: whether its latents still look like noise, and how its picture changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np

from zorank.renderers.interface import ResolvedRenderer
from zorank.types import Exhibit, Vector


def measure(renderer: ResolvedRenderer, stations: Mapping[int, Vector]) -> list[dict[str, Any]]:
    """Measure the best after each of these rounds; empty if the renderer measures no drift."""
    measured = ((index, renderer.drift(best)) for index, best in stations.items())
    return [{"round": index, **found} for index, found in measured if found]


def picture_change(before: Exhibit, after: Exhibit) -> float | None:
    """Return the mean change of a colour, 0 to 1; None unless both are pictures of one size."""
    pictures = [_pixels(before), _pixels(after)]
    if any(picture is None for picture in pictures):
        return None
    first, second = pictures
    if first.shape != second.shape:
        return None
    return float(np.abs(first - second).mean()) / 255


def drift_text(measured: Sequence[Mapping[str, Any]], change: float | None) -> str:
    """Describe the drift in one sentence for the sidebar; empty if it was not measured."""
    if not measured:
        return ""
    if measured[-1]["unusual"]:
        return (
            "The latents are no longer typical of Gaussian noise, which the model was trained on. "
            "If pictures look odd, undo a few rounds."
        )
    changed = (
        "" if not change else f"; colours have changed by {100 * change:.0f} % since the start"
    )
    return f"The latents are still typical of Gaussian noise{changed}."


def _pixels(exhibit: Exhibit) -> Any:
    from PIL import Image, UnidentifiedImageError

    try:
        picture = Image.open(BytesIO(exhibit.data)).convert("RGB")
    except (UnidentifiedImageError, OSError):
        return None
    return np.asarray(picture, dtype=float)
