"""The light of the hour: what colours the sky, the air and everything the sun or moon falls on."""

from functools import cache
from math import tanh
from typing import NamedTuple

import numpy as np

from zorank.renderers.landscape.colour import blend, from_lab, mix, step, to_lab, turn
from zorank.renderers.landscape.dials import Dials
from zorank.renderers.landscape.noise import Array

# Four moods of sky, each at night, dusk, sunset, golden hour and day; for each hour the colours of
# zenith, middle, horizon and direct light.
_HOURS = (0.10, 0.25, 0.40, 0.56, 0.76)
_MOODS = (
    (
        "0d1640 1f3468 4a6c9c b4c8f0",
        "1d2557 5a4a86 e08f7d c58fa0",
        "34437f b8708c ffb26b ff9c58",
        "4f86bd a5c4d6 ffe2b4 ffd59a",
        "2b74c0 77b3e2 d8eef6 fff3dc",
    ),
    (
        "1c1442 4a2f6c 8a5a8c e0c0e6",
        "2c2158 8a4a86 f08a8c e08aa0",
        "55407f d8708c ffa98c ff8f6e",
        "8f8cc0 e6b4c0 ffe0cc ffcaa8",
        "6f9bd0 b4c8e6 fbe6e4 fff0e0",
    ),
    (
        "061f30 125058 4a8c84 b4e8e0",
        "0c2f48 2f6878 f0b080 e0a888",
        "1d5568 7fa08c ffc06a ffae58",
        "3f93a0 9fcabc fff0c0 ffe0a0",
        "1f86a8 6cc4cc e0f6ea fff6da",
    ),
    (
        "160f2c 3a2448 80505c e8c4b4",
        "2a1838 74304c f06a4c e87a58",
        "5a2848 d0504a ffa03c ff8a3c",
        "9a7a7c e8b080 ffe6a0 ffcf88",
        "5a8fb0 a8c8cc f6ecd0 ffeecb",
    ),
)


class Light(NamedTuple):
    """The light of the hour, in linear colours; places are in picture widths, y downwards."""

    night: float
    golden: float
    zenith: Array
    middle: Array
    horizon: Array
    direct: Array
    ambient: Array
    haze: Array
    level: float  # row of the horizon
    across: float  # column of sun and moon
    sun: float  # row of its centre
    moon: float
    radius: float  # of sun and moon

    @property
    def side(self) -> float:
        """The side the light comes from: −1 is left, 1 is right."""
        return tanh(3 * (self.across - 0.5))


def light_of(dials: Dials) -> Light:
    """The light of a scene."""
    night = step(0.34, 0.14, dials.time)
    golden = step(0.2, 0.4, dials.time) * step(0.8, 0.5, dials.time)
    labs = sky_labs(dials)
    zenith, middle, horizon, direct = from_lab(labs)
    level = mix(0.74, 0.62, dials.horizon)
    risen = step(0.36, 0.85, dials.time) * mix(0.12, 0.36, dials.disc_height)
    height = risen + mix(0.03, 0.2, dials.disc_height) - 0.45 * step(0.36, 0.18, dials.time)
    # The moon rises at nightfall; if it faded in, it would be half transparent at dusk.
    set_below = 0.75 * step(0.17, 0.31, dials.time)
    return Light(
        night=night,
        golden=golden,
        zenith=zenith,
        middle=middle,
        horizon=horizon,
        direct=direct,
        ambient=_ambient(zenith, middle, night, golden),
        haze=_haze(dials, labs, night, golden),
        level=level,
        across=mix(0.12, 0.88, dials.disc_across),
        sun=level - height,
        moon=level - mix(0.22, 0.56, dials.disc_height) + set_below,
        radius=0.018 * 5.0**dials.disc_size,
    )


def sky_labs(dials: Dials) -> Array:
    """Oklab colours of zenith, middle, horizon and direct light."""
    rose, teal = step(0.34, 0.76, dials.palette_rose), step(0.3, 0.72, dials.palette_teal)
    weights = [(1 - rose) * (1 - teal), rose * (1 - teal), (1 - rose) * teal, rose * teal]
    hours = blend(np.array(weights), _mood_labs())
    hour = float(np.interp(dials.time, _HOURS, range(len(_HOURS))))
    before = min(int(hour), len(_HOURS) - 2)
    zenith, middle, horizon, direct = mix(hours[before], hours[before + 1], hour - before)
    hue, warmth = mix(-24, 24, dials.sky_hue), dials.horizon_warmth
    horizon = turn(horizon, 0.4 * hue + mix(16, -20, warmth), mix(0.6, 1.2, warmth))
    return np.stack([turn(zenith, hue), turn(middle, hue), horizon, turn(direct, 0.4 * hue)])


def _haze(dials: Dials, labs: Array, night: float, golden: float) -> Array:
    """The colour of haze; when the sun is low, that of the sky above the bright horizon."""
    by_day, low_sun = mix(labs[1], labs[2], 0.45), mix(labs[0], labs[2], 0.4)
    degrees = mix(-1, 1, dials.haze_hue) * mix(mix(60, 30, golden), 30, night)
    # Thick haze in a coloured light would leave a picture of one colour.
    chroma = mix(1.0, mix(0.75, 0.35, dials.haze), max(golden, night))
    return from_lab(turn(mix(by_day, low_sun, golden), degrees, chroma))


def _ambient(zenith: Array, middle: Array, night: float, golden: float) -> Array:
    """Light from the whole sky, made greyer at night, as eyes see fewer colours then."""
    light = mix(zenith, middle, mix(0.6, 0.35, golden)) * mix(0.85, 1.35, golden)
    grey: Array = light.mean(keepdims=True)
    return mix(light, grey, 0.3 * max(night, golden))


@cache
def _mood_labs() -> Array:
    def channels(words: str) -> list[list[float]]:
        return [
            [(int(word[i : i + 2], 16) / 255) ** 2 for i in (0, 2, 4)] for word in words.split()
        ]

    return to_lab(np.array([[channels(hour) for hour in mood] for mood in _MOODS]))
