"""How far a run has drifted: is its noise still noise, how much has its picture changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np

from zorank.renderers.interface import ResolvedRenderer
from zorank.types import Exhibit, Vector


def measure(renderer: ResolvedRenderer, stations: Mapping[int, Vector]) -> list[dict[str, Any]]:
    """The drift of the best after each of these rounds; empty if the renderer measures none."""
    measured = ((index, renderer.drift(best)) for index, best in stations.items())
    return [{"round": index, **found} for index, found in measured if found]


def picture_change(before: Exhibit, after: Exhibit) -> float | None:
    """The mean change of a colour from 0 to 1; None if these are not two pictures of one size."""
    pictures = [_pixels(before), _pixels(after)]
    if any(picture is None for picture in pictures):
        return None
    first, second = pictures
    if first.shape != second.shape:
        return None
    return float(np.abs(first - second).mean()) / 255


def words(measured: Sequence[Mapping[str, Any]], change: float | None) -> str:
    """One calm sentence for the side of the page; empty if there is nothing to say."""
    if not measured:
        return ""
    if measured[-1]["unusual"]:
        return (
            "The noise is no longer what the model was trained on; if pictures look odd, go back "
            "a few rounds."
        )
    changed = "" if not change else f"; colours changed by {100 * change:.0f} % from the start"
    return f"The noise is as random as at the start{changed}."


def _pixels(exhibit: Exhibit) -> Any:
    from PIL import Image, UnidentifiedImageError

    try:
        picture = Image.open(BytesIO(exhibit.data)).convert("RGB")
    except (UnidentifiedImageError, OSError):
        return None
    return np.asarray(picture, dtype=float)
