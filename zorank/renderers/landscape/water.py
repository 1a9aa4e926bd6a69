"""The lake: a mirror of everything above the horizon, stirred by waves."""

import numpy as np

from zorank.renderers.landscape.colour import clamp, colour, ink, mix, paint, step
from zorank.renderers.landscape.noise import Array, sample, tuft_table
from zorank.renderers.landscape.scene import Scene

_DARK, _BRIGHT = colour(0.26, 0.06, 258), colour(0.78, 0.10, 190)


def add_lake(picture: Array, scene: Scene) -> None:
    """Mirror all that is painted so far, and paint it over everything below the horizon."""
    light = scene.light
    tint = mix(_DARK, _BRIGHT, scene.dials.water_tint)
    deep = ink(tint * (light.ambient + 0.35 * light.direct))
    # From below: the top strip changes the row at the horizon, which all of them mirror.
    for rows, strip in reversed(list(scene.strips(light.level - scene.pixel, 1))):
        cover = clamp((strip.y - light.level) / scene.pixel + 0.5, 0, 1)
        paint(picture[:, rows], _water(picture, deep, strip), cover)


def _water(picture: Array, deep: Array, scene: Scene) -> Array:
    """Reflections, the colour of the deep, and the glittering path below the disc."""
    dials, light = scene.dials, scene.light
    near = np.maximum(scene.y - light.level, 0) / (1 - light.level)
    reach = 0.15 + near
    waves = sample(tuft_table(), 0.07 * (scene.x - 0.5) / reach, 0.22 * np.log(reach))
    height = mix(0.001, 0.05, dials.swell**1.5)  # waves grow towards the viewer, with reach
    water = _mirrored(picture, 2 * light.level - scene.y + height * waves * reach, scene)
    murk = 0.28 + 0.5 * near**0.7 + mix(0.01, 0.1, dials.swell) * waves
    paint(water, deep, clamp(murk, 0, 0.9))
    path = np.exp(-(((scene.x - light.across) / (light.radius + 0.01 + 0.1 * near)) ** 2))
    water += ink(light.direct) * (mix(0.1, 0.6, dials.swell) * path * step(0.3, 2.0, waves))
    return water


def _mirrored(picture: Array, source: Array, scene: Scene) -> Array:
    """The picture above the horizon at these rows, pixel column by pixel column."""
    row = clamp(source / scene.pixel - 0.5, 0, scene.light.level / scene.pixel - 1.5)
    above = row.astype(np.intp)
    amount = (row - above).astype(np.float32)
    place = above * scene.size + np.arange(scene.size)
    mirror = np.empty((3, *row.shape), np.float32)
    for channel, shown in zip(mirror, picture.reshape(3, -1), strict=True):
        upper = shown.take(place)
        np.multiply(shown[scene.size :].take(place) - upper, amount, out=channel)
        channel += upper
    return mirror
