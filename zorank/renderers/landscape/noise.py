"""Seamless noise tables, built once from a fixed seed, and smooth sampling from them."""

from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

SIDE = 1024
"""Texels along one period; a power of two, so that wrapping is a bit mask."""

SEED = 20240607


@cache
def soft_table() -> Array:
    """Plain fractal noise: mist, cirrus, shores."""
    frequency = _frequency()
    power = np.maximum(frequency, 2.0) ** -1.85 * (frequency > 1.5)
    return _seamless(_normalised(np.fft.irfft2(_spectrum(1) * power, s=(SIDE, SIDE))))


@cache
def mountain_table() -> Array:
    """Ridged noise: sharp crests that branch, with more detail high up than in the valleys."""
    frequency, spectrum = _frequency(), _spectrum(2)
    total: Array = np.zeros((SIDE, SIDE), np.float32)
    weight: Array | float = 1.0
    for octave in range(7):
        ridge = 1.0 - np.sqrt(_octave(spectrum, frequency, 3.0 * 2**octave) ** 2 + 0.002)
        total += weight * 0.44**octave * ridge
        weight = np.clip(0.55 + 0.45 * ridge, 0.15, 1.0)
    return _seamless(_normalised(total))


@cache
def mountain_slope_table() -> Array:
    """Slope of the mountain table: across in the real part, down in the imaginary part."""
    return _seamless(_slope(mountain_table()[:SIDE, :SIDE]))


@cache
def dune_slope_table() -> Array:
    """Slope of smooth swells with a few soft crests: dunes, snowfields, meadows."""
    frequency, spectrum = _frequency(), _spectrum(5)
    height: Array = np.zeros((SIDE, SIDE), np.float32)
    for octave in range(3):
        band = _octave(spectrum, frequency, 4.0 * 2**octave)
        height += 0.4**octave * (0.6 * band - np.sqrt(band**2 + 0.15))
    return _seamless(_slope(height))


@cache
def billow_table() -> Array:
    """Puffy noise: round heaps with sharp creases between them, for clouds and tree crowns."""
    frequency, spectrum = _frequency(), _spectrum(3)
    total = 0.9 * _octave(spectrum, frequency, 3.0)
    for octave in range(6):
        total += 0.55**octave * np.abs(_octave(spectrum, frequency, 5.0 * 2**octave))
    return _seamless(_normalised(total))


@cache
def highest_billow() -> np.float32:
    """The greatest value of the billow table."""
    highest: np.float32 = billow_table().max()
    return highest


@cache
def tuft_table() -> Array:
    """Small bumps lit from above: tree crowns, shrubs, tussocks, ripples."""
    frequency, spectrum = _frequency(), _spectrum(4)
    bumps: Array = np.zeros((SIDE, SIDE), np.float32)
    for octave in range(3):
        bumps += 0.45**octave * _octave(spectrum, frequency, 26.0 * 2**octave)
    return _seamless(_normalised(np.roll(bumps, -1, 0) - np.roll(bumps, 1, 0)))


@cache
def grain_table() -> Array:
    """White noise from −0.5 to 0.5, read texel by texel; its edges are not repeated."""
    return np.random.default_rng(SEED).random((SIDE, SIDE), dtype=np.float32) - np.float32(0.5)


def sample(table: Array, across: Array | float, down: Array | float) -> Array:
    """Bilinear value of a table at coordinates counted in periods; wraps without a seam."""
    x, y = np.float32(SIDE) * across, np.float32(SIDE) * down
    left, top = np.floor(x), np.floor(y)
    x, y = x - left, y - top
    row = (top.astype(np.int32) & (SIDE - 1)) * table.shape[1]
    corner = (row + (left.astype(np.int32) & (SIDE - 1))).astype(np.intp)
    # The same index reads all four corners, each from where the table is shifted by one texel.
    texels, width = table.reshape(-1), table.shape[1]
    upper = _between(texels.take(corner), texels[1:].take(corner), x)
    lower = _between(texels[width:].take(corner), texels[width + 1 :].take(corner), x)
    return _between(upper, lower, y)


def _between(start: Array, end: Array, amount: Array | float) -> Array:
    """Linear interpolation that uses the memory of `end` for its result."""
    end -= start
    end *= amount
    end += start
    return end


def _spectrum(stream: int) -> Array:
    white = np.random.default_rng(SEED + stream).standard_normal((SIDE, SIDE), dtype=np.float32)
    return np.fft.rfft2(white)


def _frequency() -> Array:
    across, down = np.fft.rfftfreq(SIDE)[None, :], np.fft.fftfreq(SIDE)[:, None]
    cycles: Array = np.hypot(down, across) * SIDE
    return cycles


def _octave(spectrum: Array, frequency: Array, centre: float) -> Array:
    """Noise of about `centre` cycles per period (periodic because the Fourier basis is)."""
    band = np.exp(-2.5 * np.log2(np.maximum(frequency, 1e-3) / centre) ** 2)
    return _normalised(np.fft.irfft2(spectrum * band, s=(SIDE, SIDE)))


def _normalised(values: Array) -> Array:
    centred: Array = (values - values.mean()) / values.std()
    return centred.astype(np.float32)


def _slope(height: Array) -> Array:
    across = np.roll(height, -1, 1) - np.roll(height, 1, 1)
    down = np.roll(height, -1, 0) - np.roll(height, 1, 0)
    slope = across + 1j * down
    unit: Array = slope / np.abs(slope).std()
    return unit.astype(np.complex64)


def _seamless(table: Array) -> Array:
    """The table with its first row and column repeated at its far edges, safe to share."""
    padded = np.pad(table, ((0, 1), (0, 1)), mode="wrap")
    padded.flags.writeable = False
    return padded
