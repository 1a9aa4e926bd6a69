"""Random directions: a small set is held, a large one is drawn again whenever it is needed.

At large d the m × d numbers of a cloud would be all of a run's memory. So block b of stream s is
always drawn from the generator of (key, s, b): any part of any direction can be made alone, in any
order, by any worker or thread, and is the same number for number. A key of 128 bits is all that
has to be kept or sent.

Which numbers are drawn depends on m and d alone, never on what a machine has room for: a run must
go on exactly where there is less memory than where it began.
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
"""Numbers drawn from one generator: many enough to make its creation cheap, few enough to stay in
a core's cache until they are used."""

AT_ONCE = 1 << 22
"""Up to so many numbers (32 MB) a slate's directions come from a single generator and are held."""

HELD_MEGABYTES = 512.0
"""Beyond AT_ONCE, directions of up to this size are kept from ask to tell; larger ones are drawn
again. The environment variable ZORANK_HELD_MB sets another limit."""


def draw_directions(
    law: Law,
    dim: int,
    dtype: DTypeLike,
    rng: np.random.Generator,
    count: int,
    *,
    itself: bool = False,
    mirrored: bool = False,
) -> NDArray[Any] | Seeded:
    """Directions ξ of this law: an array of them, or their recipe if they are large.

    With `itself` the first of `count` is zero; `mirrored` adds −ξ for each, after all of them.
    """
    drawn = count - itself
    if drawn * dim <= AT_ONCE:
        rows = np.zeros((count, dim), dtype)
        _fill(law, rng, rows[int(itself) :])
        return np.concatenate([rows, -rows]) if mirrored else rows
    streams = (0,) * itself + tuple(range(drawn))
    signs = (0,) * itself + (1,) * drawn
    if mirrored:
        streams, signs = streams * 2, signs + tuple(-sign for sign in signs)
    low, high = rng.integers(2**63, size=2).tolist()
    return Seeded(low + (high << 63), streams, signs, dim, np.dtype(dtype).name, law)


@dataclass(frozen=True, eq=False)
class Seeded:
    """Directions known by a key: direction i is sign_i times the numbers of stream_i.

    Attributes:
        key: what all of them are drawn from.
        streams: the stream of each direction.
        signs: 1, −1 for a mirrored direction, 0 for none: the centre itself.
        dim: their length.
        dtype: "float32" or "float64".
        law: what their numbers are drawn from.
    """

    key: int
    streams: tuple[int, ...]
    signs: tuple[int, ...]
    dim: int
    dtype: str
    law: Law
    _held: dict[int, Vector] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.streams)

    def __reduce__(self) -> tuple[Any, ...]:
        return Seeded, (self.key, self.streams, self.signs, self.dim, self.dtype, self.law)

    def around(self, centre: Vector, radius: float, i: int) -> Vector:
        """The point centre + radius · ξ_i, as a new array."""
        x = np.empty(self.dim, self.dtype)
        sign, stream = self.signs[i], self.streams[i]
        held = self._held_stream(stream) if sign and self._room() else None

        def work(blocks: Iterator[tuple[int, slice]], scratch: Vector) -> None:
            for number, at in blocks:
                if sign:
                    xi = self._block(stream, number, at, scratch, held)
                    np.multiply(xi, sign * radius, out=x[at])
                    x[at] += centre[at]
                else:
                    x[at] = centre[at]

        self._spread(work)
        return x

    def combine(self, weights: Vector) -> Vector:
        """Σ w_i ξ_i. Each block is summed in the same order, whether it is held or drawn."""
        totals: dict[int, float] = {}
        for weight, stream, sign in zip(weights.tolist(), self.streams, self.signs, strict=True):
            totals[stream] = totals.get(stream, 0.0) + sign * weight
        counted = {stream: total for stream, total in totals.items() if total}
        x = np.zeros(self.dim, self.dtype)

        def work(blocks: Iterator[tuple[int, slice]], scratch: Vector) -> None:
            for number, at in blocks:
                for stream, total in counted.items():
                    xi = self._block(stream, number, at, scratch, self._held.get(stream))
                    x[at] += np.multiply(xi, total, out=scratch[: xi.size])

        self._spread(work)
        return x

    def _room(self) -> bool:
        many = 1 + max(self.streams)
        return many * self.dim * np.dtype(self.dtype).itemsize <= 1e6 * held_megabytes()

    def _held_stream(self, stream: int) -> Vector:
        """The numbers of a stream, kept from when they are first looked at."""
        if stream not in self._held:
            xi = np.empty(self.dim, self.dtype)

            def work(blocks: Iterator[tuple[int, slice]], scratch: Vector) -> None:
                for number, at in blocks:
                    self._draw(stream, number, xi[at])

            self._spread(work)
            xi.setflags(write=False)
            self._held[stream] = xi
        return self._held[stream]

    def _block(
        self, stream: int, number: int, at: slice, scratch: Vector, held: Vector | None
    ) -> Vector:
        if held is not None:
            return held[at]
        xi = scratch[: at.stop - at.start]
        self._draw(stream, number, xi)
        return xi

    def _draw(self, stream: int, number: int, out: Vector) -> None:
        sequence = np.random.SeedSequence(self.key, spawn_key=(stream, number))
        _fill(self.law, np.random.Generator(np.random.SFC64(sequence)), out)

    def _spread(self, work: Callable[[Iterator[tuple[int, slice]], Vector], None]) -> None:
        """All blocks, on all cores: NumPy lets go of Python's lock while it draws and adds."""
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
            from concurrent.futures import ThreadPoolExecutor  # large runs only: imports stay fast

            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(share, range(threads)))


def held_megabytes() -> float:
    """How much may be held of a large slate's directions."""
    wish = os.environ.get("ZORANK_HELD_MB")
    if wish is None:
        return HELD_MEGABYTES
    try:
        return float(wish)
    except ValueError:
        raise InvalidInput(
            f"ZORANK_HELD_MB must be a number of megabytes, found {wish!r}"
        ) from None


def _fill(law: Law, rng: np.random.Generator, out: NDArray[Any]) -> None:
    if law == "normal":
        rng.standard_normal(out=out, dtype=out.dtype.type)
        return
    bits = np.frombuffer(rng.bytes(-(-out.size // 8)), np.uint8)
    flat = out.reshape(-1)
    flat[:] = np.unpackbits(bits, count=out.size)
    flat *= 2
    flat -= 1
