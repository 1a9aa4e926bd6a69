"""Candidates of large dimension, known by how they were made.

The log writes down what was shown. At d = 16,384 the numbers of a slate are a megabyte, but how
they were made takes a few hundred: a candidate is one of an earlier slate, or the end of a climb
from some of those, or a random direction around one of these. Making it again repeats elementwise
arithmetic only: sums over coordinates, whose last bits depend on the machine, are kept as results.
A candidate that was made in too many steps to repeat is rounded to half precision before it is
shown, so that its numbers take a quarter of the bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from zorank.slates import Free, Points, Shell, Space
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

FREE = Free()


@dataclass(frozen=True)
class Scaled:
    """The shell, for one vector: the factor that put it there is known."""

    factor: float

    def place(self, x: Vector) -> Vector:
        """Scale x as it was scaled before."""
        x /= Shell.largest(x)
        x *= self.factor
        return x


def put(space: Space, x: Vector) -> tuple[Vector, Space]:
    """Move x into the space, in place; also a space that puts it there again without a sum."""
    if not isinstance(space, Shell):
        return space.place(x), space
    x /= space.largest(x)
    factor = space.factor(x)
    x *= factor
    return x, Scaled(float(factor))


@dataclass(frozen=True)
class Seed:
    """What a generator of `zorank.rng` was made of, before anything was drawn from it."""

    entropy: int
    spawn_key: tuple[int, ...] = ()

    @classmethod
    def of(cls, rng: np.random.Generator) -> Seed | None:
        """The seed of a generator; None if it would not give the same draws again."""
        sequence = getattr(rng.bit_generator, "seed_seq", None)
        entropy = getattr(sequence, "entropy", None)
        if not isinstance(entropy, int):
            return None
        seed = cls(entropy, tuple(int(n) for n in getattr(sequence, "spawn_key", ())))
        return seed if _state(seed.generator()) == _state(rng) else None

    def generator(self) -> np.random.Generator:
        """The generator, as it was before the first draw."""
        sequence = np.random.SeedSequence(self.entropy, spawn_key=self.spawn_key)
        return np.random.Generator(np.random.SFC64(sequence))


def _state(rng: np.random.Generator) -> str:
    return repr(rng.bit_generator.state)


@dataclass(frozen=True, eq=False)
class Again:
    """A vector that the log has already, a candidate or the run's start, put into a space."""

    x: Vector
    space: Space = FREE


@dataclass(frozen=True, eq=False)
class Climb:
    """Up the gradient Σ p_i (y_i − x) of a mean utility, from x, one of the points y.

    Attributes:
        points: y, candidates of earlier slates.
        best: which of them is x.
        pulls: p, one for each point.
        total: Σ p_i.
        share: what is taken off along x, so that the way stays on the shell; None elsewhere.
        slope: the gradient's length, by which it is divided.
        keep: what x counts at the end.
        go: what the gradient counts there.
        space: where the end is put.
    """

    points: tuple[Vector, ...]
    best: int
    pulls: Vector
    total: float
    share: float | None = None
    slope: float = 1.0
    keep: float = 1.0
    go: float = 0.0
    space: Space = FREE

    def gradient(self) -> Vector:
        """The gradient at x, not yet divided by its length."""
        x = self.points[self.best]
        uphill, pulled = np.zeros(x.size), np.empty(x.size)
        for pull, y in zip(self.pulls, self.points, strict=True):
            uphill += np.multiply(pull, y, out=pulled)
        uphill -= self.total * x
        if self.share is not None:
            uphill -= self.share * x
        return uphill

    def end(self, gradient: Vector) -> Vector:
        """Where the climb ends, not yet put into the space."""
        return np.asarray(self.keep * self.points[self.best] + self.go * (gradient / self.slope))


@dataclass(frozen=True, eq=False)
class Fresh:
    """A random direction around a centre.

    Attributes:
        seed: of the generator; None if its draws cannot be made again.
        count: how many directions were drawn from it at once.
        row: which of them this is.
        radius: what the direction is multiplied by.
        centre: what it is added to, if anything.
        space: where the result is put.
    """

    seed: Seed | None
    count: int
    row: int
    radius: float
    centre: Part | None
    space: Space = FREE


@dataclass(frozen=True, eq=False)
class Given:
    """A vector that is kept as its numbers, with as few bytes as hold them."""

    x: Vector
    space: Space = FREE


Part: TypeAlias = Again | Climb | Fresh | Given

LARGE = 1024
"""Candidates on the shell with more numbers than this may be rounded before they are shown."""


def rounded(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Candidates on the shell, in half precision if they are large; rounding again does nothing.

    A coordinate is of the order 1 there and changes by less than a two-thousandth of itself.
    """
    if rows.shape[-1] <= LARGE:
        return rows
    return rows.astype(np.float16).astype(np.float64)


class Made(NamedTuple):
    """A vector, and how it was made."""

    x: Vector
    part: Part


@dataclass(frozen=True, eq=False)
class Derived(Points):
    """Candidates, and how each was made."""

    parts: tuple[Part, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, made: Sequence[Made]) -> Derived:
        """The candidates of a slate in their order."""
        rows = np.array([one.x for one in made])
        rows.setflags(write=False)
        return cls(rows, tuple(one.part for one in made))

    def __reduce__(self) -> tuple[Any, ...]:
        return Points, (self.rows,)  # workers need the candidates only


def around(
    rng: np.random.Generator,
    count: int,
    dim: int,
    radius: float,
    space: Space,
    centre: Made | None = None,
) -> list[Made]:
    """Random directions, radius times N(0, I), around a centre or around zero."""
    seed = Seed.of(rng)
    middle, part = (None, None) if centre is None else centre
    made = []
    for row, xi in enumerate(rng.standard_normal((count, dim))):
        x, placed = put(space, _moved(xi, radius, middle))
        made.append(Made(x, Fresh(seed, count, row, radius, part, placed)))
    return made


def make_again(parts: Sequence[Part], dim: int) -> Derived:
    """The candidates of these parts; the same bits on every machine."""
    maker = _Maker(dim)
    return Derived.of([Made(maker.make(part), part) for part in parts])


class _Maker:
    """Makes parts; what several of them share is made once."""

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._made: dict[int, Vector] = {}
        self._drawn: dict[tuple[Seed, int], Vector] = {}

    def make(self, part: Part) -> Vector:
        if isinstance(part, Fresh):
            return self._fresh(part)
        if id(part) not in self._made:
            x = part.end(part.gradient()) if isinstance(part, Climb) else part.x.copy()
            self._made[id(part)] = part.space.place(x)
        return self._made[id(part)]

    def _fresh(self, part: Fresh) -> Vector:
        if part.seed is None:
            raise ValueError("the generator of a random direction is not known")
        key = part.seed, part.count
        if key not in self._drawn:
            shape = (part.count, self._dim)
            self._drawn[key] = part.seed.generator().standard_normal(shape)
        centre = None if part.centre is None else self.make(part.centre)
        x = _moved(self._drawn[key][part.row].copy(), part.radius, centre)
        return part.space.place(x)


def _moved(xi: Vector, radius: float, centre: Vector | None) -> Vector:
    """Centre + radius·ξ, in place."""
    xi *= radius
    if centre is not None:
        xi += centre
    return xi
