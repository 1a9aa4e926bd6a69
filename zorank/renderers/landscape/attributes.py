"""Attributes of a landscape: a score from 0 to 1 for each word, smooth in the candidate; tags."""

from math import cos, radians, sin, sqrt

import numpy as np

from zorank.renderers.landscape import clouds
from zorank.renderers.landscape.colour import step
from zorank.renderers.landscape.light import sky_labs
from zorank.renderers.landscape.noise import Array
from zorank.renderers.landscape.ridges import LAKE_AFTER, Ridge, ridges_of, snow_line
from zorank.renderers.landscape.scene import Scene, scene_of
from zorank.types import Vector

_SKY_HUES = {
    "pink": 0,
    "orange": 55,
    "yellow": 95,
    "green": 150,
    "teal": 200,
    "blue": 255,
    "purple": 310,
}
_COLUMNS = 64  # enough for the outlines


def scores(candidate: Vector) -> dict[str, float]:
    """Return a score for each word."""
    scene = scene_of(candidate, _COLUMNS)
    ridges = ridges_of(scene)
    skyline: Array = np.min([ridge.outline[0] for ridge in ridges], axis=0)
    return {
        **_hour(scene),
        **_disc(scene, skyline),
        **_weather(scene),
        **_land(scene, ridges, skyline),
        **_tone(scene),
        **_sky_colour(scene),
    }


def tags(candidate: Vector) -> set[str]:
    """Return the words with a score above ½, and the sky's main colour."""
    found = scores(candidate)
    colours = [word for word in found if word.endswith(" sky")]
    seen = {word for word, score in found.items() if score > 0.5 and word not in colours}
    return seen | {max(colours, key=found.__getitem__)}


def _hour(scene: Scene) -> dict[str, float]:
    time = scene.dials.time
    return {
        "night": scene.light.night,
        "day": step(0.48, 0.66, time),
        "sunset": step(0.2, 0.32, time) * step(0.62, 0.5, time),
    }


def _disc(scene: Scene, skyline: Array) -> dict[str, float]:
    dials, light = scene.dials, scene.light
    behind, softness = float(np.interp(light.across, scene.x[0], skyline)), light.radius + 0.04
    sun = step(-1, 1, (behind - light.sun) / softness) * _unclouded(light.sun, scene)
    moon = step(-1, 1, (behind - light.moon) / softness) * _unclouded(light.moon, scene)
    disc, height = max(sun, moon), light.level - light.sun
    return {
        "sun": sun,
        "moon": moon,
        "large disc": disc * step(0.5, 0.8, dials.disc_size),
        "small disc": disc * step(0.5, 0.2, dials.disc_size),
        "high sun": sun * step(0.2, 0.38, height),
        "low sun": sun * step(0.25, 0.12, height),
        "rays": sun * step(0.5, 0.9, dials.sparkle),
    }


def _unclouded(row: float, scene: Scene) -> float:
    """Return how visible a disc with its centre in this row is through the clouds, 0 to 1."""
    light, around = scene.light, 0.7 * scene.light.radius * np.linspace(-1, 1, 7, dtype=np.float32)
    rows = np.minimum(row + around, light.level)[:, None]
    disc = scene._replace(x=light.across + around[None, :], y=rows)
    clear = clouds.clear_sky(clouds.layers(clouds.cloud_colours(disc), disc))
    return step(0.0, 0.4, float(np.mean(clear)))


def _weather(scene: Scene) -> dict[str, float]:
    dials, night = scene.dials, scene.light.night
    no_sheet = 1 - step(0.4, 0.9, dials.cloud_cover)
    no_bank = 1 - 0.6 * step(0.5, 0.9, dials.bank_height)
    no_cirrus = 1 - 0.5 * step(0.6, 1.0, dials.streaks) * (1 - night)
    clear = no_sheet * no_bank * no_cirrus
    return {
        "cloudy": 1 - clear,
        "clear": clear,
        "stars": night * step(0.15, 0.5, dials.sparkle),
        "aurora": night**3 * step(0.6, 0.85, dials.streaks),
        "fog": step(0.45, 0.8, dials.mist),
    }


def _land(scene: Scene, ridges: list[Ridge], skyline: Array) -> dict[str, float]:
    dials, level = scene.dials, scene.light.level
    tallest = level - float(np.mean(np.sort(skyline)[:8]))
    shore = float(np.mean(ridges[LAKE_AFTER].crest)) - level
    white, growth = step(0.76, 0.94, dials.snow), step(0.15, 0.5, dials.vegetation)
    return {
        "snow": max(white, step(-0.02, 0.08, tallest - snow_line(dials))),
        "forest": step(0.45, 0.7, dials.vegetation) * (1 - white),
        "desert": (1 - growth) * (1 - white),
        "autumn": growth * (1 - white) * step(0.7, 0.9, dials.vegetation_hue),
        "flowers": (1 - white) * step(0.6, 0.9, dials.bloom),
        "trees": step(0.25, 0.65, dials.tree_amount) * step(0.1, 0.5, dials.tree_height),
        "lake": step(0.02, 0.12, shore),
        "high mountains": step(0.16, 0.3, tallest),
        "low hills": step(0.2, 0.1, tallest),
    }


def _tone(scene: Scene) -> dict[str, float]:
    dials = scene.dials
    return {
        "bright": step(0.45, 0.8, dials.brightness),
        "vivid": step(0.5, 0.8, dials.saturation),
        "muted": step(0.5, 0.2, dials.saturation),
    }


def _sky_colour(scene: Scene) -> dict[str, float]:
    _, a, b = sky_labs(scene.dials)[:3].mean(axis=0).tolist()
    scores = {}
    for word, hue in _SKY_HUES.items():
        towards = a * cos(radians(hue)) + b * sin(radians(hue))
        scores[f"{word} sky"] = step(0.2, 1.0, towards / (sqrt(a * a + b * b) + 0.02))
    return scores
