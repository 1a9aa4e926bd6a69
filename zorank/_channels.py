"""The shell of latents whose channels stay like noise.

A generator was trained on draws of N(0, I). On the shell |x| = √d a search can still leave their
distribution: it may shift the mean of a channel, or move variance from one channel to another.
Here the z-scores of each channel's mean and mean square under N(0, I), those of
`zorank.renderers.latents.drift`, stay within a limit. Points within it are placed as on the shell.
Others are corrected by a shift and a factor for each channel, x_c → a_c x_c + b_c.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from zorank.errors import InvalidInput
from zorank.slates import Shell
from zorank.types import Vector

LIMIT = 3.9
"""The largest z-score. It is a little below 4, at which `zorank.renderers.latents` calls latents
unusual, so that rounding does not make them so."""

LEAST_NUMBERS = 5
"""Of a channel: with fewer, no moments are within both limits."""

FLAT = 1e-12
"""The least share of a channel's mean square that is not due to its mean."""

ROUNDS = 30
"""How often moments are clipped and rescaled: they converge geometrically."""


class Correction(NamedTuple):
    """What is done to each channel: x_c → scales_c · x_c + shifts_c."""

    scales: Vector
    shifts: Vector

    def apply(self, x: Vector) -> Vector:
        """Correct x in place, and return it."""
        rows = x.reshape(len(self.scales), -1)
        rows *= self.scales[:, None]
        rows += self.shifts[:, None]
        return x


@dataclass(frozen=True)
class ChannelShell(Shell):
    """The part of the shell where the moments of channels are within what noise gives.

    Attributes:
        channels: the number of channels; x has the numbers of one after those of the other.
        limit: the largest z-score of a channel's mean and mean square.
    """

    channels: int
    limit: float = LIMIT

    @classmethod
    def of(cls, channels: int, dim: int) -> ChannelShell:
        """Return the space of vectors of this dimension; raise if they cannot be channels."""
        least = LEAST_NUMBERS * channels
        if dim % channels or dim < least:
            raise InvalidInput(
                f"latents of {channels} channels have a multiple of {channels} numbers, at least "
                f"{least}; candidates have {dim}"
            )
        return cls(channels)

    def place(self, x: Vector) -> Vector:
        """Scale x to norm √d, and correct channels whose moments are beyond the limit."""
        x = super().place(x)
        correction = self.correction(x)
        return x if correction is None else correction.apply(x)

    def correction(self, x: Vector) -> Correction | None:
        """Return what brings a point of the shell within the limit; None if it is there."""
        rows = x.reshape(self.channels, -1)
        mean, square = rows.mean(axis=1), np.einsum("ij,ij->i", rows, rows) / rows.shape[1]
        wanted_mean, wanted_square = self._within(mean, square, rows.shape[1])
        if np.array_equal(wanted_mean, mean) and np.array_equal(wanted_square, square):
            return None
        spread = square - mean**2
        if (spread <= FLAT * square).any():  # a channel of one value has no spread to scale
            return None
        scales = np.sqrt((wanted_square - wanted_mean**2) / spread)
        return Correction(scales, wanted_mean - scales * mean)

    def _within(self, mean: Vector, square: Vector, count: int) -> tuple[Vector, Vector]:
        """Return the moments within the limit, on the shell: their mean square is 1."""
        most_mean, most_square = self.limit / math.sqrt(count), self.limit * math.sqrt(2 / count)
        for _ in range(ROUNDS):
            near_mean = np.clip(mean, -most_mean, most_mean)
            near_square = np.clip(square, 1 - most_square, 1 + most_square)
            if np.array_equal(near_mean, mean) and np.array_equal(near_square, square):
                break
            factor = 1 / near_square.mean()
            mean, square = near_mean * math.sqrt(factor), near_square * factor
        return mean, square


@dataclass(frozen=True, eq=False)
class ScaledChannels:
    """The shell for one vector, with the factor and the correction that place it there."""

    factor: float
    correction: Correction

    def place(self, x: Vector) -> Vector:
        """Scale x by the known factor, and correct its channels."""
        x /= Shell.largest(x)
        x *= self.factor
        return self.correction.apply(x)


__all__ = ["LIMIT", "ChannelShell", "Correction", "ScaledChannels"]
