"""The sky behind the clouds: its gradient, the glow around the disc, sun, moon, stars, aurora.

Every painter here is given a strip of the picture and the scene of that strip.
"""

from functools import cache
from math import pi
from typing import NamedTuple

import numpy as np

from zorank.renderers.landscape.colour import (
    clamp,
    colour,
    from_lab,
    ink,
    mix,
    paint,
    step,
    to_lab,
)
from zorank.renderers.landscape.noise import Array, grain_table, sample, soft_table
from zorank.renderers.landscape.scene import Scene

_STARS = 700
_VIOLET = colour(0.55, 0.17, 310)


def gradient(scene: Scene) -> Array:
    """The colours of the sky from the horizon to the zenith, as a (3, rows, 1) column."""
    light, level = scene.light, scene.light.level
    up = clamp((level - scene.y) / level, 0, 1) ** mix(0.55, 1.15, scene.dials.gradient_reach)
    horizon, middle, zenith = to_lab(np.stack([light.horizon, light.middle, light.zenith]))
    lower = mix(horizon, middle, step(0.0, 0.55, up))
    column = from_lab(mix(lower, zenith, step(0.35, 1.05, up)))
    return column.T[:, :, None].astype(np.float32)


def glow(scene: Scene) -> Array:
    """Light scattered around the disc, wider along the horizon when the sun is low."""
    light, reach = scene.light, scene.light.radius + mix(0.05, 0.2, scene.dials.glow)
    across = ((scene.x - light.across) / mix(1.0, 1.8, light.golden)) ** 2
    total: Array = np.zeros((scene.y.size, scene.x.size), np.float32)
    by_sun, by_moon = (1 - light.night) * mix(0.6, 1.0, light.golden), 0.6 * light.night
    for row, power in ((light.sun, by_sun), (light.moon, by_moon)):
        if power > 0:
            far = (across + (scene.y - row) ** 2) / reach**2
            total += power * (0.75 * np.exp(-far) + 0.35 / (1 + 2.8 * far))
    total *= mix(0.25, 0.7, scene.dials.glow)
    return total


def stars(scene: Scene) -> Array:
    """The brightness of stars all over the picture: soft dots splashed over the nearest pixels."""
    size, places = scene.size, _star_places(scene.size)
    shown = step(0.0, 0.25, mix(0.05, 1.2, scene.dials.sparkle) - places.rank)
    seen = shown > 0
    columns, along, y, spread, _, share, kept = (values[seen] for values in places)
    bright = shown[seen] * share * scene.light.night * kept
    rows, down = _dots(y * scene.light.level, spread, size)
    place = rows[:, :, None] * size + columns[:, None, :]
    dots = (bright[:, None] * down)[:, :, None] * along[:, None, :]
    layer = np.bincount(place.ravel(), dots.ravel(), size * size).astype(np.float32)
    return layer.reshape(size, size)


class _StarPlaces(NamedTuple):
    """Star data that all pictures of one size share; every array has one entry per star."""

    columns: Array
    along: Array  # how bright it is in each of its columns
    y: Array  # in parts of the sky
    spread: Array
    rank: Array  # in the order of appearance
    share: Array  # of the light
    kept: Array  # dims stars that are enlarged to the size of a pixel


@cache
def _star_places(size: int) -> _StarPlaces:
    star = np.arange(_STARS)
    x = (star * 0.754878 + 0.1 * grain_table()[0, star]) % 1
    y = np.abs(star * 0.569840 % 1 + 0.1 * grain_table()[1, star])
    rank = star * 0.618034 % 1
    natural = 0.0009 * (1 + rank**8)
    spread = np.maximum(natural, 0.5 * (1.0 / size))
    dots = _dots(x, spread, size)
    return _StarPlaces(*dots, y, spread, rank, 0.07 + 1.1 * rank**8, natural / spread)


def _dots(centre: Array, spread: Array, size: int) -> tuple[Array, Array]:
    """The pixels near each centre along one axis, and how bright a dot is there."""
    around = np.arange(-int(0.005 * size) - 2, int(0.005 * size) + 3)
    pixels = (centre * size).astype(np.int64)[:, None] + around
    far = ((pixels + 0.5) / size - centre[:, None]) / spread[:, None]
    bright = np.exp(-(far**2) / 2) * (pixels >= 0) * (pixels < size)
    return np.clip(pixels, 0, size - 1), bright


def add_aurora(picture: Array, scene: Scene) -> None:
    """Curtains of green and violet light, on nights with many streaks."""
    dials = scene.dials
    power = 1.1 * scene.light.night**3 * step(0.5, 1.0, dials.streaks)
    if power == 0:
        return
    hem = 0.33 + 0.1 * sample(soft_table(), 0.35 * scene.x + 0.5 * dials.streak_shape, 0.1)
    rise = hem + mix(-0.25, 0.25, dials.streak_slant) * (scene.x - 0.5) - scene.y
    rays = sample(
        soft_table(), 2.2 * scene.x + 0.05 * rise, 0.12 * scene.y + 0.3 * dials.streak_shape
    )
    reach = 0.12 + 0.05 * np.clip(rays, -1.5, 2)
    curtain = step(-0.035, 0.02, rise) * np.exp(-np.maximum(rise, 0) / reach)
    green = colour(0.80, 0.16, mix(135, 190, dials.sky_hue))
    tint = mix(ink(green), ink(_VIOLET), step(0.0, 0.28, rise))
    picture += tint * (power * (0.65 + 0.35 * np.tanh(rays)) * curtain)


def add_sun(picture: Array, clear: Array | float, scene: Scene) -> None:
    """The sun's disc, where the sky is clear, and its beams."""
    light = scene.light
    if light.night == 1:
        return
    power = 0.5 * (1 - light.night) * step(0.3, 1.0, scene.dials.sparkle)
    near = scene.touches(light.sun, light.radius)
    if power == 0 and not near:
        return
    right, down = scene.x - light.across, scene.y - light.sun
    far = np.sqrt(right**2 + down**2)
    if near:
        cover = clamp((light.radius - far) / (1.5 * scene.pixel) + 0.5, 0, 1)
        disc = mix(light.direct, 1.0, 0.45 * (1 - light.golden)) * 1.8
        paint(picture, ink(disc), cover * clear)
    if power > 0:
        angle = np.arctan2(down, right) * (
            0.5 / pi
        )  # in whole periods, so that the beams close up
        beams = sample(soft_table(), angle + 0.2, 0.45)
        beams += 0.4 * sample(soft_table(), 2 * angle, 0.7)
        fade = np.exp(far / -0.35) * step(0, 0.12, far)
        picture += ink(light.direct) * (power * step(-1.0, 2.4, beams) * fade)


def add_moon(picture: Array, clear: Array | float, scene: Scene) -> None:
    """The moon, where the sky is clear, in its phase, with its seas, on a tilted axis."""
    light = scene.light
    if light.night == 0 or not scene.touches(light.moon, light.radius):
        return
    right, down = (scene.x - light.across) / light.radius, (scene.y - light.moon) / light.radius
    right, down = 0.8 * right - 0.6 * down, 0.6 * right + 0.8 * down
    far = np.sqrt(right**2 + down**2)
    cover = clamp((1 - far) * light.radius / (1.5 * scene.pixel) + 0.5, 0, 1)
    terminator = mix(0.75, -1.15, scene.dials.glow) * np.sqrt(np.maximum(1 - down**2, 0))
    lit = clamp((right - terminator) / 0.16 + 0.5, 0, 1)
    dark = step(0.1, 0.9, sample(soft_table(), 0.055 * right + 0.3, 0.055 * down + 0.6))
    disc = ink(mix(light.direct, 1.0, 0.6)) * (1 - 0.16 * dark)
    paint(picture, disc, cover * clear * (0.05 * light.night + (1 - 0.05 * light.night) * lit))
