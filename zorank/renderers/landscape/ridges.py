"""The shapes of the land: ridges one behind the other, each a line across the picture."""

from typing import NamedTuple

import numpy as np

from zorank.renderers.landscape.colour import mix, step
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

_STRETCH = (0.42, 0.50, 0.50, 0.45, 0.40, 0.36, 0.32, 0.28)  # noise periods across the picture


class Ridge(NamedTuple):
    """A ridge: its lines are (1, size) rows, the rest says where its noise is read."""

    depth: float  # from 1, the farthest, to 0
    crest: Array
    outline: Array  # the crest without its small detail
    pan: float
    row: float
    stretch: float
    roughness: float


def ridges_of(scene: Scene) -> list[Ridge]:
    """All ridges of a scene, from far to near."""
    return [_ridge(i, scene) for i in range(RIDGES)]


def snow_line(dials: Dials) -> float:
    """The height above the horizon from which mountains are white."""
    return mix(0.45, -0.02, step(0.1, 1.0, dials.snow))


def _ridge(i: int, scene: Scene) -> Ridge:
    dials, x, level = scene.dials, scene.x, scene.light.level
    height, roughness, drift, shape = _range_dials(i, dials)
    pan, row, stretch = 0.13 + 0.37 * i + 0.5 * drift, 0.21 * i + 0.35 * shape, _STRETCH[i]
    rolling = _blurred(sample(soft_table(), 0.6 * stretch * x + pan, row), scene)
    jagged = sample(mountain_table(), stretch * x + pan, row)
    body = mix(0.8 * rolling, 1.1 * jagged, roughness)
    rise = 0.45 * np.tanh(_rise(i, height, body, scene) / 0.45)
    crest = level - (np.maximum(rise, -0.01) if i < LAKE_AFTER else rise)
    outline = _blurred(crest, scene)
    if i > 0:
        treetops = sample(tuft_table(), (1.9 - 0.1 * i) * x + 0.37 * i, 0.3)
        wooded = step(0.35, 0.8, dials.vegetation) * (0.001 + 0.0006 * i)
        crest = crest - wooded * np.maximum(treetops, -0.5)
    return Ridge(1 - i / (RIDGES - 1), crest, outline, pan, row, stretch, roughness)


def _range_dials(i: int, dials: Dials) -> tuple[float, float, float, float]:
    """Height, roughness, drift and shape of the range of ridge i."""
    if i < MOUNTAINS:
        return dials.far_height, dials.far_roughness, dials.far_drift, dials.far_shape
    if i < LAKE_AFTER:
        return dials.mid_height, dials.mid_roughness, dials.mid_drift, dials.mid_shape
    return dials.near_height, dials.near_roughness, dials.near_drift, dials.near_shape


def _rise(i: int, height: float, body: Array, scene: Scene) -> Array:
    """How far the crest of ridge i stands above the horizon."""
    dials, x = scene.dials, scene.x
    missing = 0.15 * (1 - dials.ridge_count) * (i in (1, 2, 3, 6))  # sinks it out of sight
    sides = np.clip(1.6 * np.abs(x - mix(0.2, 0.8, dials.valley_across)), 0, 1) ** 1.5
    if i < MOUNTAINS:
        summit = (x - mix(0.1, 0.9, dials.peak_across)) / mix(0.06, 0.5, dials.peak_width)
        peak = mix(0.0, 1.4, dials.peak_height) / (1 + summit**2)
        size = mix(0.09, 0.36, height) * (1.0, 0.72, 0.45)[i]
        return size * (0.45 + (1.0, 0.4, 0.1)[i] * peak) * (0.85 + 0.42 * body) + 0.015 - missing
    if i < LAKE_AFTER:
        size = mix(0.02, 0.12, height) * (1.0, 0.6)[i - MOUNTAINS]
        return size * (0.75 + 0.6 * body) + 0.24 * (dials.valley_depth - 0.35) * sides - missing
    k, lake = i - LAKE_AFTER, step(0.1, 0.85, dials.water)
    drop = mix((0.0, 0.09, 0.21)[k], (0.29, 0.40, 0.50)[k], lake)
    return mix(0.012, 0.042, height) * body + 0.2 * (height - 0.35) * sides - drop - missing


def _blurred(line: Array, scene: Scene) -> Array:
    half = int(0.03 / scene.pixel) + 1
    kernel = np.hanning(2 * half + 1).astype(np.float32)
    return np.convolve(np.pad(line[0], half, mode="edge"), kernel / kernel.sum(), "valid")[None]
