"""The shapes of the land: ridges one behind the other, each a line across the picture."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from zorank.renderers.landscape.colour import clamp, mix, step
from zorank.renderers.landscape.dials import Dials
from zorank.renderers.landscape.noise import (
    Array,
    mountain_table,
    sample,
    soft_table,
    tuft_table,
)
from zorank.renderers.landscape.scene import Scene

# From far to near: three ridges of mountains, two of hills, a lake, three of foreground.
MOUNTAINS, LAKE_AFTER, RIDGES = 3, 5, 8

_RANGES = (MOUNTAINS, LAKE_AFTER)  # where they part
_STRETCH = (0.42, 0.50, 0.50, 0.45, 0.40, 0.36, 0.32, 0.28)  # noise periods across the picture


class Ridge(NamedTuple):
    """A ridge: its lines are (1, size) rows; the other fields locate its noise."""

    depth: float  # from 1, the farthest, to 0
    crest: Array
    outline: Array  # the crest without its small detail
    edge: Array  # the height over which the crest fades into the background
    highest: float  # rows of the crest
    lowest: float
    pan: float
    row: float
    stretch: float
    roughness: float


def ridges_of(scene: Scene) -> list[Ridge]:
    """All ridges of a scene, from far to near; their lines are found at once."""
    ranges = [_range_dials(i, scene.dials) for i in range(RIDGES)]
    pans = [0.13 + 0.37 * i + 0.5 * drift for i, (_, _, drift, _) in enumerate(ranges)]
    rows = [0.21 * i + 0.35 * shape for i, (*_, shape) in enumerate(ranges)]
    roughness = [rough for _, rough, _, _ in ranges]
    rises = 0.45 * np.tanh(_rises(_bodies(pans, rows, roughness, scene), scene) / 0.45)
    np.maximum(rises[:LAKE_AFTER], -0.01, out=rises[:LAKE_AFTER])
    bare = scene.light.level - rises
    outlines, crests = _blurred(bare, scene), bare - _treetops(scene)
    edges = 1.3 * scene.pixel * np.sqrt(1 + _gradients(crests, scene.pixel) ** 2)
    depths = [1 - i / (RIDGES - 1) for i in range(RIDGES)]
    highest, lowest = crests.min(axis=1).tolist(), crests.max(axis=1).tolist()
    lines = (crests[:, None], outlines[:, None], edges[:, None])
    places = (highest, lowest, pans, rows, _STRETCH, roughness)
    return [Ridge(*values) for values in zip(depths, *lines, *places, strict=True)]


def snow_line(dials: Dials) -> float:
    """The height above the horizon from which mountains are white."""
    return mix(0.45, -0.02, step(0.1, 1.0, dials.snow))


def _each(values: Sequence[float]) -> Array:
    """A number for each of some ridges, shaped to broadcast over their lines."""
    return np.array(values, np.float32)[:, None]


def _bodies(pans: list[float], rows: list[float], roughness: list[float], scene: Scene) -> Array:
    """The noise that shapes the ridges: rolling to jagged, each its own."""
    pan, row = _each(pans), _each(rows)
    broad = _each([0.6 * stretch for stretch in _STRETCH])
    rolling = _blurred(sample(soft_table(), broad * scene.x + pan, row), scene)
    jagged = sample(mountain_table(), _each(_STRETCH) * scene.x + pan, row)
    return mix(0.8 * rolling, 1.1 * jagged, _each(roughness))


def _treetops(scene: Scene) -> Array:
    """How far the woods on the ridges stand above them; the farthest ridge has none."""
    scale, pan = [1.9 - 0.1 * i for i in range(RIDGES)], [0.37 * i for i in range(RIDGES)]
    tops = sample(tuft_table(), _each(scale) * scene.x + _each(pan), 0.3)
    wooded = step(0.35, 0.8, scene.dials.vegetation)
    heights = [0.0, *(wooded * (0.001 + 0.0006 * i) for i in range(1, RIDGES))]
    risen: Array = _each(heights) * np.maximum(tops, -0.5)
    return risen


def _range_dials(i: int, dials: Dials) -> tuple[float, float, float, float]:
    """Height, roughness, drift and shape of the range of ridge i."""
    if i < MOUNTAINS:
        return dials.far_height, dials.far_roughness, dials.far_drift, dials.far_shape
    if i < LAKE_AFTER:
        return dials.mid_height, dials.mid_roughness, dials.mid_drift, dials.mid_shape
    return dials.near_height, dials.near_roughness, dials.near_drift, dials.near_shape


def _rises(bodies: Array, scene: Scene) -> Array:
    """How far the crests stand above the horizon."""
    dials, x = scene.dials, scene.x
    sunk = 0.15 * (1 - dials.ridge_count)  # out of sight
    missing = _each([sunk * (i in (1, 2, 3, 6)) for i in range(RIDGES)])
    sides = clamp(1.6 * np.abs(x - mix(0.2, 0.8, dials.valley_across)), 0, 1) ** 1.5
    summit = (x - mix(0.1, 0.9, dials.peak_across)) / mix(0.06, 0.5, dials.peak_width)
    peak = mix(0.0, 1.4, dials.peak_height) / (1 + summit**2)
    size, far, mid, near = mix(0.09, 0.36, dials.far_height), *np.split(bodies, _RANGES)
    sizes = _each([size * share for share in (1.0, 0.72, 0.45)])
    far = sizes * (0.45 + _each((1.0, 0.4, 0.1)) * peak) * (0.85 + 0.42 * far) + 0.015
    size = mix(0.02, 0.12, dials.mid_height)
    mid = _each((size, size * 0.6)) * (0.75 + 0.6 * mid)
    mid += 0.24 * (dials.valley_depth - 0.35) * sides
    height, lake = dials.near_height, step(0.1, 0.85, dials.water)
    drops = [mix(*ends, lake) for ends in ((0.0, 0.29), (0.09, 0.40), (0.21, 0.50))]
    near = mix(0.012, 0.042, height) * near + 0.2 * (height - 0.35) * sides - _each(drops)
    return np.concatenate([far, mid, near]) - missing


def _gradients(lines: Array, pixel: float) -> Array:
    """The slope of each line, as np.gradient computes it."""
    slopes = np.empty_like(lines)
    slopes[:, 1:-1] = (lines[:, 2:] - lines[:, :-2]) / (2 * pixel)
    slopes[:, 0] = (lines[:, 1] - lines[:, 0]) / pixel
    slopes[:, -1] = (lines[:, -1] - lines[:, -2]) / pixel
    return slopes


def _blurred(lines: Array, scene: Scene) -> Array:
    columns, kernel = _blur(scene.size)
    return np.array([np.convolve(line, kernel, "valid") for line in lines[:, columns]])


@cache
def _blur(size: int) -> tuple[Array, Array]:
    """The columns that a blur reads, those at the edges again and again, and its kernel."""
    half = int(0.03 / (1.0 / size)) + 1
    kernel = np.hanning(2 * half + 1).astype(np.float32)
    return np.clip(np.arange(-half, size + half), 0, size - 1), kernel / kernel.sum()
