"""Random directions: a small set is an array; a large set is drawn again whenever it is needed.

At large d, the m × d numbers of a cloud would dominate a run's memory. Therefore block b of stream
s is always drawn from the generator of (key, s, b). Any part of any direction can be drawn alone,
in any order, by any worker or thread, with the same result. Only a key of 128 bits is stored or
sent to workers.

The numbers depend on m and d only, never on the available memory: a run must continue exactly on a
machine with less memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from zorank import _machine
from zorank.errors import InvalidInput
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

Law: TypeAlias = Literal["normal", "rademacher"]

BLOCK = 1 << 17
"""The size of a block: large enough to make creating a generator cheap, small enough to stay in a
core's cache until the numbers are used."""

ARRAY_LIMIT = 1 << 22
"""Directions of up to this many numbers (32 MB) are drawn as an array from a single generator."""

CACHE_MEGABYTES = 512.0
"""Larger directions of up to this size are cached from ask to tell; beyond it they are drawn
again. The environment variable ZORANK_HELD_MB sets another limit."""


def draw_directions(
    law: Law,
    dim: int,
    dtype: DTypeLike,
    rng: np.random.Generator,
    count: int,
    *,
    with_zero: bool = False,
    mirrored: bool = False,
) -> NDArray[Any] | SeededDirections:
    """Draw directions ξ: an array, (count, dim), or `SeededDirections` if they are large.

    Args:
        law: the distribution of their coordinates.
        dim: the number of coordinates.
        dtype: float32 or float64.
        rng: the generator of the round.
        count: the number of directions.
        with_zero: make the first of them zero.
        mirrored: append −ξ for every ξ.
    """
    drawn = count - with_zero
    if drawn * dim <= ARRAY_LIMIT:
        rows = np.zeros((count, dim), dtype)
        _fill(law, rng, rows[int(with_zero) :])
        return np.concatenate([rows, -rows]) if mirrored else rows
    streams = (0,) * with_zero + tuple(range(drawn))
    signs = (0,) * with_zero + (1,) * drawn
    if mirrored:
        streams, signs = streams * 2, signs + tuple(-sign for sign in signs)
    low, high = rng.integers(2**63, size=2).tolist()
    return SeededDirections(low + (high << 63), streams, signs, dim, np.dtype(dtype).name, law)


@dataclass(frozen=True, eq=False)
class SeededDirections:
    """Directions that are drawn on demand: direction i is sign_i times the numbers of stream_i.

    Attributes:
        key: the seed of all streams.
        streams: the stream of each direction.
        signs: 1, −1 for a mirrored direction, or 0 for the zero direction.
        dim: the number of coordinates.
        dtype: "float32" or "float64".
        law: the distribution of the coordinates.
    """

    key: int
    streams: tuple[int, ...]
    signs: tuple[int, ...]
    dim: int
    dtype: str
    law: Law
    _cache: dict[int, Vector] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.streams)

    def __reduce__(self) -> tuple[Any, ...]:
        return SeededDirections, (
            self.key,
            self.streams,
            self.signs,
            self.dim,
            self.dtype,
            self.law,
        )

    def around(self, centre: Vector, radius: float, i: int) -> Vector:
        """Return centre + radius · ξ_i as a new array."""
        x = np.empty(self.dim, self.dtype)
        sign, stream = self.signs[i], self.streams[i]
        cached = self._cached_stream(stream) if sign and self._fits_cache() else None

        def work(blocks: Iterator[tuple[int, slice]], scratch: Vector) -> None:
            for number, at in blocks:
                if sign:
                    xi = self._block(stream, number, at, scratch, cached)
                    np.multiply(xi, sign * radius, out=x[at])
                    x[at] += centre[at]
                else:
                    x[at] = centre[at]

        self._spread(work)
        return x

    def combine(self, weights: Vector) -> Vector:
        """Return Σ w_i ξ_i. Blocks are summed in the same order, whether cached or drawn."""
        totals: dict[int, float] = {}
        for weight, stream, sign in zip(weights.tolist(), self.streams, self.signs, strict=True):
            totals[stream] = totals.get(stream, 0.0) + sign * weight
        nonzero = {stream: total for stream, total in totals.items() if total}
        x = np.zeros(self.dim, self.dtype)

        def work(blocks: Iterator[tuple[int, slice]], scratch: Vector) -> None:
            for number, at in blocks:
                for stream, total in nonzero.items():
                    xi = self._block(stream, number, at, scratch, self._cache.get(stream))
                    x[at] += np.multiply(xi, total, out=scratch[: xi.size])

        self._spread(work)
        return x

    def _fits_cache(self) -> bool:
        streams = 1 + max(self.streams)
        return streams * self.dim * np.dtype(self.dtype).itemsize <= 1e6 * cache_megabytes()

    def _cached_stream(self, stream: int) -> Vector:
        """Return the numbers of a stream; they stay in the cache."""
        if stream not in self._cache:
            xi = np.empty(self.dim, self.dtype)

            def work(blocks: Iterator[tuple[int, slice]], scratch: Vector) -> None:
                for number, at in blocks:
                    self._draw(stream, number, xi[at])

            self._spread(work)
            xi.setflags(write=False)
            self._cache[stream] = xi
        return self._cache[stream]

    def _block(
        self, stream: int, number: int, at: slice, scratch: Vector, cached: Vector | None
    ) -> Vector:
        """Return a block of a stream, from the cache or drawn into `scratch`."""
        if cached is not None:
            return cached[at]
        xi = scratch[: at.stop - at.start]
        self._draw(stream, number, xi)
        return xi

    def _draw(self, stream: int, number: int, out: Vector) -> None:
        sequence = np.random.SeedSequence(self.key, spawn_key=(stream, number))
        _fill(self.law, np.random.Generator(np.random.SFC64(sequence)), out)

    def _spread(self, work: Callable[[Iterator[tuple[int, slice]], Vector], None]) -> None:
        """Run `work` on all blocks, in threads: NumPy releases the GIL while it draws and adds."""
        starts = range(0, self.dim, BLOCK)
        threads = min(_machine.threads(), len(starts))

        def share(first: int) -> None:
            blocks = (
                (number, slice(starts[number], min(starts[number] + BLOCK, self.dim)))
                for number in range(first, len(starts), threads)
            )
            work(blocks, np.empty(min(BLOCK, self.dim), self.dtype))

        if threads == 1:
            share(0)
        else:
            from concurrent.futures import ThreadPoolExecutor  # imported here to keep imports fast

            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(share, range(threads)))


def cache_megabytes() -> float:
    """Return the memory limit for cached directions."""
    setting = os.environ.get("ZORANK_HELD_MB")
    if setting is None:
        return CACHE_MEGABYTES
    try:
        return float(setting)
    except ValueError:
        raise InvalidInput(
            f"ZORANK_HELD_MB must be a number of megabytes, found {setting!r}"
        ) from None


def _fill(law: Law, rng: np.random.Generator, out: NDArray[Any]) -> None:
    """Draw numbers of this distribution into `out`; ±1 for "rademacher"."""
    if law == "normal":
        rng.standard_normal(out=out, dtype=out.dtype.type)
        return
    bits = np.frombuffer(rng.bytes(-(-out.size // 8)), np.uint8)
    flat = out.reshape(-1)
    flat[:] = np.unpackbits(bits, count=out.size)
    flat *= 2
    flat -= 1
