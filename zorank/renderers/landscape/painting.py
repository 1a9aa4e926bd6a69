"""The order in which a scene is painted, from the sky to the nearest tree, and its development."""

import numpy as np

from zorank.renderers.landscape import clouds, sky
from zorank.renderers.landscape.colour import clamp, grey, ink, mix, paint
from zorank.renderers.landscape.land import add_mist, draw_ridge
from zorank.renderers.landscape.noise import Array, grain_table
from zorank.renderers.landscape.ridges import LAKE_AFTER, RIDGES, ridges_of
from zorank.renderers.landscape.scene import Scene, scene_of
from zorank.renderers.landscape.trees import add_trees
from zorank.renderers.landscape.water import add_lake
from zorank.types import Vector


def draw(candidate: Vector, size: int) -> Array:
    """The picture of a candidate: (size, size, 3) bytes."""
    scene = scene_of(candidate, size)
    picture: Array = np.zeros((3, size, size), np.float32)
    _paint_sky(picture, scene)
    _paint_land(picture, scene)
    return _developed(picture, scene)


def _paint_sky(picture: Array, scene: Scene) -> None:
    """Everything above the horizon; below it, the land and the lake hide the sky."""
    colours, direct = clouds.cloud_colours(scene), ink(scene.light.direct)
    starlight = sky.stars(scene) if scene.light.night > 0 else None
    for rows, strip in scene.strips(0, scene.light.level):
        part, glow = picture[:, rows], direct * sky.glow(strip)
        part[:] = sky.gradient(strip) + 0.75 * glow
        if starlight is not None:
            part += ink([0.9, 0.95, 1.0]) * starlight[rows]
        clouds.add_cirrus(part, colours, strip)
        sky.add_aurora(part, strip)
        hiding = clouds.layers(colours, strip)
        clear = clouds.clear_sky(hiding)
        sky.add_sun(part, clear, strip)
        sky.add_moon(part, clear, strip)
        for body, cover in hiding:
            paint(part, body, cover)
        part += 0.35 * glow  # what comes through the clouds


def _paint_land(picture: Array, scene: Scene) -> None:
    level, air, ridges = scene.light.level, _air(scene), ridges_of(scene)
    for i, ridge in enumerate(ridges):
        hidden = ridges[i + 1].lowest if i + 1 < RIDGES else 1.0
        draw_ridge(picture, ridge, min(hidden, level) if i < LAKE_AFTER else hidden, air, scene)
        if i < LAKE_AFTER:
            add_mist(picture, ridge, air, scene)
        if i == LAKE_AFTER - 1:
            add_lake(picture, scene)
        if i >= RIDGES - 2:
            add_trees(picture, ridge, (0.45, 1.0)[i - RIDGES + 2], air, scene)


def _air(scene: Scene) -> Array:
    """The colour of the air before distant things: haze, brighter below the disc."""
    light, row = scene.light, int(scene.light.level * scene.size) - 1
    low = scene._replace(y=scene.y[row : row + 1])
    horizon = sky.gradient(low) + 0.75 * (ink(light.direct) * sky.glow(low))
    return mix(horizon, ink(light.haze), mix(0.7, 0.85, max(light.golden, light.night)))


def _developed(picture: Array, scene: Scene) -> Array:
    """Exposure, tone, a faint vignette, a soft shoulder for highlights, grain against banding."""
    dials, night, size = scene.dials, scene.light.night, scene.size
    warm = mix(-0.08, 0.08, dials.split_tone)
    exposure = 2 ** mix(-0.35, 0.35, dials.brightness) * mix(1.0, 1.2, night)
    tone = ink(exposure * np.array([1 + warm, 1.0, 1 - warm]))
    greyness = 1 - mix(0.85, 1.4, dials.saturation) * mix(1.0, 1.1, night)
    grain, columns = grain_table(), np.arange(size) % len(grain_table())
    shown = np.empty((size, size, 3), np.uint8)
    for rows, strip in scene.strips(0, 1):
        part = picture[:, rows]
        part *= tone
        part *= 1.04 - 0.45 * ((strip.x - 0.5) ** 2 + (strip.y - 0.5) ** 2)
        paint(part, grey(part), greyness)
        np.maximum(part, 0, out=part)
        squared = part * part
        part /= np.sqrt(np.sqrt(1 + squared * squared))
        speckles = grain[np.arange(rows.start, rows.stop)[:, None] % len(grain), columns]
        part = 255 * np.sqrt(part) + (2.2 * speckles + 0.5)
        shown[rows] = clamp(part, 0, 255).astype(np.uint8).transpose(1, 2, 0)
    return shown
