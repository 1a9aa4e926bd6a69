"""Drafts: small pictures of few steps, from which a run learns what its pictures look like.

The noise of a draft is that of the picture, averaged over 2 × 2 places and doubled, so that it is
noise again. A quarter of the pixels and a fraction of the steps cost a few percent of a picture.
Whether a draft resembles its picture depends on the model; a run without drafts learns from the
numbers of its candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zorank import descriptors
from zorank.renderers.diffusers.tuning import Layout
from zorank.renderers.pictures import resized
from zorank.types import Vector

if TYPE_CHECKING:
    from zorank.renderers.diffusers import Diffusers

SMALLEST = 16
"""The smallest side of a draft's latents."""


def described(renderer: Diffusers, candidates: Sequence[Vector]) -> NDArray[np.float64]:
    """Return descriptors of the drafts of candidates."""
    pictures = [draft(renderer, candidate) for candidate in candidates]
    small = np.stack([resized(picture, descriptors.SIDE) for picture in pictures])
    return descriptors.pictures(np.asarray(small / 255, dtype=np.float32))


def draft(renderer: Diffusers, candidate: Vector) -> NDArray[np.uint8]:
    """Return the draft of a candidate, (rows, columns, 3)."""
    layout = renderer.layout()
    steps = renderer.drafts
    if renderer.image:
        steps = max(steps, ceil(1 / renderer.strength))
    quick = replace(renderer, steps=min(steps, renderer.steps), drafts=0, batch=1)
    if not _can_shrink(layout):
        return quick.picture(candidate)
    rows, columns = layout.shape[1:]
    scale = renderer.pixels_per_latent
    small = replace(quick, width=columns * scale // 2, height=rows * scale // 2)
    return small.picture(shrunk(layout.check(candidate), layout))


def shrunk(candidate: Vector, layout: Layout) -> Vector:
    """Return a candidate with a quarter of the noise; what else is tuned stays."""
    count = prod(layout.shape)
    channels, rows, columns = layout.shape
    noise = candidate[:count].reshape(channels, rows // 2, 2, columns // 2, 2)
    return np.concatenate([2.0 * noise.mean(axis=(2, 4)).ravel(), candidate[count:]])


def _can_shrink(layout: Layout) -> bool:
    """Whether half the sides are sizes that a model can paint, and the noise is tuned."""
    if "latents" not in layout.parts or len(layout.shape) != 3:
        return False
    return all(side % 16 == 0 and side >= 2 * SMALLEST for side in layout.shape[1:])
