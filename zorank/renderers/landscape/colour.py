"""Colours in linear light and in Oklab, and the few operations that every painter uses.

A picture is a (3, rows, columns) array of float32 in linear light, 1.0 being paper white.
"""

from math import cos, radians, sin
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from zorank.renderers.landscape.noise import Array

_CONES = np.array([[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]])
_LAB = np.array([[0.2105, 0.7936, -0.0041], [1.9780, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]])
_FROM_CONES, _FROM_LAB = np.linalg.inv(_CONES), np.linalg.inv(_LAB)


def to_lab(linear: Array) -> Array:
    """Convert linear colours to Oklab, in which mixtures look natural."""
    lab: Array = np.cbrt(linear @ _CONES.T) @ _LAB.T
    return lab


def from_lab(lab: Array) -> Array:
    """Convert Oklab to linear colours; negative values, which no screen can show, become 0."""
    linear: Array = (lab @ _FROM_LAB.T) ** 3 @ _FROM_CONES.T
    return np.maximum(linear, 0.0)


def colour(lightness: float, chroma: float, hue: float) -> Array:
    """The linear colour of this lightness, chroma and hue (in degrees) of Oklab."""
    return from_lab(np.array([lightness, chroma * cos(radians(hue)), chroma * sin(radians(hue))]))


def turn(lab: Array, degrees: float, gain: float = 1.0) -> Array:
    """Rotate the hue and scale the chroma."""
    c, s = gain * cos(radians(degrees)), gain * sin(radians(degrees))
    turned: Array = lab @ np.array([[1, 0, 0], [0, c, s], [0, -s, c]])
    return turned


def blend(weights: Array, labs: Array) -> Array:
    """Weighted mean that keeps most of the chroma: opposite hues would otherwise meet in grey."""
    mean = np.tensordot(weights, labs, 1)
    wanted = np.tensordot(weights, np.hypot(labs[..., 1], labs[..., 2]), 1)
    gain = ((wanted + 0.02) / (np.hypot(mean[..., 1], mean[..., 2]) + 0.02)) ** 0.7
    blended: Array = mean * np.stack([np.ones_like(gain), gain, gain], -1)
    return blended


@overload
def mix(a: float, b: float, amount: float) -> float: ...
@overload
def mix(a: Array, b: Array | float, amount: Array | float) -> Array: ...
@overload
def mix(a: float, b: Array, amount: Array | float) -> Array: ...
@overload
def mix(a: float, b: float, amount: Array) -> Array: ...
def mix(a: Array | float, b: Array | float, amount: Array | float) -> Array | float:
    """From a at 0 to b at 1, in a straight line."""
    return a + (b - a) * amount


@overload
def step(start: float, end: float, value: float) -> float: ...
@overload
def step(start: float, end: float, value: Array) -> Array: ...
def step(start: float, end: float, value: Array | float) -> Array | float:
    """Smooth step from 0 at start to 1 at end, whichever of them is greater."""
    if not isinstance(value, np.ndarray):
        t = min(max((float(value) - start) / (end - start), 0.0), 1.0)
        return t * t * (3.0 - 2.0 * t)
    ramp = value - start
    ramp /= end - start
    clamp(ramp, 0.0, 1.0)
    bend = -2.0 * ramp
    bend += 3.0
    ramp *= ramp
    ramp *= bend
    return ramp


def clamp(values: Array, lowest: float, highest: float) -> Array:
    """The values, changed in place to lie in a range; on small arrays far quicker than np.clip."""
    np.maximum(values, lowest, out=values)
    return np.minimum(values, highest, out=values)


def ink(linear: ArrayLike) -> Array:
    """A colour shaped to broadcast over a picture."""
    return np.asarray(linear, np.float32).reshape(3, 1, 1)


def grey(picture: Array) -> Array:
    """The mean of the channels of a picture."""
    red, green, blue = picture
    mean: Array = red + green
    mean += blue
    mean /= 3
    return mean


def paint(picture: Array, layer: Array, cover: Array | float) -> None:
    """Blend a colour or a picture over another in place, with opacity `cover`."""
    if isinstance(cover, float) and cover == 0:
        return
    change = layer - picture
    change *= cover
    picture += change
