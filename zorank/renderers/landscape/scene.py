"""A scene: its dials, its light, its colours, and where its pixels are.

Places are in picture widths (y downwards), so any size shows the same scene. Painters work in
strips of rows whose arrays fit in a processor's cache, and which keep large pictures small in
memory: a strip is a scene with fewer rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from zorank.renderers.landscape.colour import colour, mix, step
from zorank.renderers.landscape.dials import Dials, dials_of
from zorank.renderers.landscape.light import Light, light_of
from zorank.renderers.landscape.noise import Array
from zorank.types import Vector

_PIXELS_IN_A_STRIP = 32_768

_SLATE, _OCHRE, _RED = colour(0.48, 0.04, 265), colour(0.66, 0.07, 78), colour(0.52, 0.11, 38)


class Ground(NamedTuple):
    """Linear colours of what the land is made of."""

    rock: Array
    growth: Array
    flowers: Array
    leaf_hue: float


class Scene(NamedTuple):
    """The data from which a picture, or a strip of it, is painted."""

    dials: Dials
    light: Light
    ground: Ground
    size: int
    x: Array  # (1, columns)
    y: Array  # (rows, 1)

    @property
    def pixel(self) -> float:
        """The width of a pixel."""
        return 1.0 / self.size

    def span(self, start: float, end: float) -> slice:
        """The pixel rows or columns of the whole picture that cover a range."""
        first, last = int(start * self.size), int(end * self.size) + 1
        return slice(min(max(first, 0), self.size), min(max(last, 0), self.size))

    def strips(self, start: float, end: float) -> Iterator[tuple[slice, Scene]]:
        """The strips that cover a range of rows from above, each with its rows."""
        span, height = self.span(start, end), max(1, _PIXELS_IN_A_STRIP // self.size)
        for first in range(span.start, span.stop, height):
            rows = slice(first, min(first + height, span.stop))
            yield rows, Scene(self.dials, self.light, self.ground, self.size, self.x, self.y[rows])

    def touches(self, row: float, radius: float) -> bool:
        """Whether an object of this radius around a row is visible in this strip."""
        reach = radius + 2 * self.pixel
        return bool(self.y[0, 0] - reach < row < self.y[-1, 0] + reach)


def scene_of(candidate: Vector, size: int) -> Scene:
    """The scene that a candidate describes, in a square of this many pixels a side."""
    dials = dials_of(candidate)
    line = centres(np.arange(size), size)
    return Scene(dials, light_of(dials), _ground_of(dials), size, line[None, :], line[:, None])


def centres(pixels: Array, size: int) -> Array:
    """Where the centres of these rows or columns of pixels are, in picture widths."""
    places: Array = (pixels.astype(np.float32) + np.float32(0.5)) / np.float32(size)
    return places


def _ground_of(dials: Dials) -> Ground:
    rock = mix(_SLATE, _OCHRE, step(0.25, 0.6, dials.rock_hue))
    rock = mix(rock, _RED, step(0.6, 0.95, dials.rock_hue))
    # Firs, meadows, heath, autumn.
    leaf_hue = mix(mix(155, 118, dials.vegetation_hue), 60, step(0.65, 1.0, dials.vegetation_hue))
    sand = colour(mix(0.74, 0.62, dials.rock_hue), 0.07, mix(88, 45, dials.rock_hue))
    growth = mix(sand, colour(0.54, 0.11, leaf_hue), step(0.15, 0.5, dials.vegetation))
    return Ground(rock, growth, colour(0.72, 0.10, mix(290, 460, dials.vegetation_hue)), leaf_hue)
