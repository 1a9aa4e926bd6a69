"""The dials of a scene: one for each number of a candidate, in its order.

Each number passes through the normal distribution function, so that any real vector gives a
picture and standard normal vectors use every dial evenly, from 0 to 1. Some dials control
two things that do not appear together, so that every number has an effect.
"""

from math import erf, sqrt
from typing import NamedTuple

from zorank.types import Vector


class Dials(NamedTuple):
    """Every dial of a scene, from 0 to 1."""

    time: float  # from deep night through dusk, sunset and golden hour to day
    disc_height: float
    disc_across: float
    disc_size: float
    glow: float  # around the sun; also the phase of the moon
    sparkle: float  # sunbeams by day, stars by night
    palette_rose: float
    palette_teal: float
    sky_hue: float
    horizon_warmth: float
    gradient_reach: float  # how far up the colours of the horizon go
    saturation: float
    brightness: float
    split_tone: float  # from cool to warm
    horizon: float
    cloud_cover: float
    cloud_scale: float
    cloud_softness: float
    cloud_drift: float
    cloud_shape: float
    cloud_tint: float
    streaks: float  # cirrus by day, aurora by night
    streak_slant: float
    streak_shape: float
    bank_height: float  # of the heaped clouds on the horizon
    bank_shape: float
    far_height: float
    far_roughness: float
    far_drift: float
    far_shape: float
    peak_height: float
    peak_across: float
    peak_width: float
    mid_height: float
    mid_roughness: float
    mid_drift: float
    mid_shape: float
    near_height: float
    near_roughness: float
    near_drift: float
    near_shape: float
    ridge_count: float
    valley_depth: float
    valley_across: float
    relief: float  # contrast of light and shade on the land
    snow: float
    rock_hue: float
    vegetation: float
    vegetation_hue: float
    bloom: float
    haze: float
    haze_hue: float
    mist: float
    mist_height: float
    water: float
    water_tint: float
    swell: float  # waves on the water, undulation of the ground
    tree_amount: float
    tree_height: float
    tree_slimness: float
    tree_crown: float  # from firs to round crowns
    tree_drift: float


DIM = len(Dials._fields)


def dials_of(candidate: Vector) -> Dials:
    """The dials that a candidate sets."""
    return Dials(*(0.5 + 0.5 * erf(z / sqrt(2)) for z in candidate.tolist()))
