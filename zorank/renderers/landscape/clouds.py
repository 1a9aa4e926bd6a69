"""Clouds: high wisps, a sheet seen from below, and heaps that stand on the horizon.

Every painter here is given a strip of the sky and the scene of that strip.
"""

from typing import NamedTuple, TypeAlias

import numpy as np

from zorank.renderers.landscape.colour import clamp, ink, mix, paint, step
from zorank.renderers.landscape.noise import (
    Array,
    billow_table,
    highest_billow,
    sample,
    soft_table,
)
from zorank.renderers.landscape.scene import Scene

Layer: TypeAlias = tuple[Array, Array]
"""A picture and its opacity."""


class CloudColours(NamedTuple):
    """Linear colours of the lit and the shaded side of clouds."""

    bright: Array
    dark: Array

    def shaded(self, lit: Array) -> Array:
        """Clouds lit this much, from 0 to 1."""
        shown: Array = ink(self.dark) + ink(self.bright - self.dark) * lit
        return shown


def cloud_colours(scene: Scene) -> CloudColours:
    """The colours of clouds in the light of a scene."""
    tint, light = scene.dials.cloud_tint, scene.light
    sunlit = mix(light.direct, 1.0, mix(1.0, 0.1, tint) * mix(1.0, 0.5, light.golden))
    moonlit = mix(light.middle, light.direct, mix(0.2, 0.6, tint)) * mix(0.4, 0.65, tint)
    dark = mix(mix(light.ambient, light.horizon, 0.3), light.direct, 0.75 * tint)
    shade = mix(mix(0.8, 0.55, light.golden), 0.4, light.night)
    return CloudColours(mix(sunlit, moonlit, light.night), dark * shade)


def add_cirrus(picture: Array, colours: CloudColours, scene: Scene) -> None:
    """High wisps that fade out towards the horizon and into the night."""
    dials, slant = scene.dials, mix(-0.5, 0.5, scene.dials.streak_slant)
    if scene.light.night == 1:
        return
    along, above = scene.x + slant * scene.y, scene.y - 0.6 * slant * scene.x
    bend = sample(soft_table(), 0.25 * along + 0.4 * dials.streak_shape, 0.3 * above)
    wisps = sample(
        soft_table(),
        0.28 * along + 0.02 * bend,
        1.5 * above + 0.06 * bend + 0.5 * dials.streak_shape,
    )
    cover = step(-0.3, 2.2, wisps + 3.0 * dials.streaks - 2.2)
    cover *= step(scene.light.level, 0.25, scene.y)
    if cover.any():
        tint = ink(mix(colours.bright, scene.light.horizon, 0.3))
        paint(picture, tint, 0.75 * (1 - scene.light.night) * cover)


def layers(colours: CloudColours, scene: Scene) -> list[Layer]:
    """The clouds that can hide a disc, from the farthest to the nearest."""
    found = (_sheet(colours, scene), _bank(colours, scene))
    return [layer for layer in found if layer is not None]


def clear_sky(hiding: list[Layer]) -> Array | float:
    """How visible a disc is through these clouds, which dim it before they hide the sky."""
    clear: Array | float = 1.0
    for _, cover in hiding:
        clear = clear * (1 - cover) ** 2
    return clear


def _sheet(colours: CloudColours, scene: Scene) -> Layer | None:
    """Clouds seen from below in perspective, lit from the side of the disc."""
    dials, light = scene.dials, scene.light
    scale = mix(0.95, 0.32, dials.cloud_scale)
    distance = 0.22 / (light.level + 0.06 - scene.y)
    across = (scene.x - 0.5) * (0.35 + distance) * scale + 0.3 * dials.cloud_drift
    down = 1.3 * distance * scale + 0.4 * dials.cloud_shape
    puffs = sample(billow_table(), across, down)
    bar = mix(2.6, -0.5, dials.cloud_cover)
    cover = step(bar, bar + mix(0.5, 2.4, dials.cloud_softness), puffs)
    cover *= step(0.0, 0.12, light.level - scene.y)
    if not cover.any():
        return None
    sunward = sample(billow_table(), across + 0.03 * scale * light.side, down + 0.035 * scale)
    thick = np.maximum(puffs - bar, 0)
    lit = np.exp(-mix(0.35, 0.9, light.golden) * thick) + 0.4 * np.tanh(puffs - sunward)
    return colours.shaded(lit), mix(0.92, 0.75, light.night) * cover


def _bank(colours: CloudColours, scene: Scene) -> Layer | None:
    """Heaped clouds that stand on the horizon."""
    dials, light, y = scene.dials, scene.light, scene.y
    across = 0.45 * scene.x + 0.4 * dials.bank_shape
    outline = sample(soft_table(), 0.9 * across, 0.37)
    below = (y - light.level + mix(-0.18, 0.40, dials.bank_height)) / 0.09
    if below[-1, 0] + outline.max() + 0.8 * highest_billow() <= 0:
        return None
    heap = sample(billow_table(), across, 0.6 * y)
    sunward = sample(billow_table(), across + 0.012 * light.side, 0.6 * y - 0.014)
    depth = below + outline + 0.8 * heap
    lit = mix(0.8, 0.6, light.golden) + 0.5 * (heap - sunward) - 0.05 * depth
    body = colours.shaded(clamp(lit, 0, 1.1))
    paint(body, ink(light.haze), 0.2 + 0.5 * step(light.level - 0.3, light.level, y))
    return body, mix(0.9, 0.75, light.night) * step(0.0, 0.6, depth)
