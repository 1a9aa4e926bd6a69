"""Slates, their designs, and the spaces that candidates lie in.

A slate does not hold an m × d array. It has a design (directions around a centre, or steps along a
ray) that computes each candidate on access. An optimizer needs the design again when the answer
arrives, so `tell` takes the slate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np

from zorank import _mimebundle
from zorank._directions import SeededDirections
from zorank.answers import ranking_by_value
from zorank.errors import InvalidInput
from zorank.types import Answer, Matrix, Ranking, Values, Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

Question: TypeAlias = Literal["start", "rank", "best", "compare", "values"]


class Space(Protocol):
    """The set that candidates lie in."""

    def place(self, x: Vector) -> Vector:
        """Move x to the nearest point of the space, in place, and return it."""
        ...


@dataclass(frozen=True)
class Free:
    """All of R^d."""

    def place(self, x: Vector) -> Vector:
        """Return x unchanged."""
        return x


@dataclass(frozen=True)
class Shell:
    """The sphere |x| = √d, where N(0, I) concentrates, for the latents of a generative model.

    If x is uniform on the shell, so is x + μξ scaled back to the shell, for every μ. Steps
    therefore preserve the distribution, and no sequence of answers can inflate the norm.
    """

    def place(self, x: Vector) -> Vector:
        """Scale x to norm √d."""
        x /= self.largest(x)  # so that its square neither overflows nor underflows
        x *= self.factor(x)
        return x

    @staticmethod
    def largest(x: Vector) -> float:
        """Return max |x_i|; raise InvalidInput if it is 0 or infinite."""
        largest = max(float(x.max()), -float(x.min()))
        if largest == 0.0 or not np.isfinite(largest):
            raise InvalidInput(
                f"{'an infinite' if largest else 'the zero'} vector cannot be scaled to the "
                "Gaussian shell; start from a draw of N(0, I), for instance rng.standard_normal(d)"
            )
        return largest

    @staticmethod
    def factor(x: Vector) -> Any:
        """Return √d / |x|, for x whose square neither overflows nor underflows."""
        return np.sqrt(x.size) / np.linalg.norm(x)


@dataclass(frozen=True, eq=False)
class Box:
    """lower ≤ x ≤ upper, coordinate by coordinate."""

    lower: Vector
    upper: Vector

    def place(self, x: Vector) -> Vector:
        """Clip x to the box."""
        np.clip(x, self.lower, self.upper, out=x)
        return x


@dataclass(frozen=True, eq=False)
class Mirror(Box):
    """A box that reflects points outside of it at its bounds.

    Clipping would give a search near a bound the same candidate again and again.
    """

    def place(self, x: Vector) -> Vector:
        """Reflect x at the bounds, repeatedly if necessary."""
        outside = (x < self.lower) | (x > self.upper)
        if not outside.any():
            return x
        lower, upper, beyond = self.lower[outside], self.upper[outside], x[outside]
        with np.errstate(over="ignore"):  # a missing bound is the largest float
            width = upper - lower
        nearest = np.where(beyond < lower, lower, upper)
        far = np.mod(np.abs(beyond - nearest), 2.0 * np.minimum(width, 1e300))
        depth = np.minimum(far, np.abs(2.0 * np.minimum(width, 1e300) - far))
        x[outside] = np.where(beyond < lower, lower + depth, upper - depth)
        return super().place(x)


class Design(Protocol):
    """Computes the candidates of a slate: it has a length, and a new vector for each row."""

    @property
    def dim(self) -> int:
        """The number of coordinates of a candidate."""
        ...

    def __len__(self) -> int: ...

    def row(self, i: int) -> Vector:
        """Return candidate i as a new array."""
        ...


@dataclass(frozen=True, eq=False)
class Points:
    """Explicit candidates, one row each."""

    rows: Matrix

    def __post_init__(self) -> None:
        if self.rows.ndim != 2:
            raise InvalidInput(f"points must be an (m, d) array, found shape {self.rows.shape}")

    @property
    def dim(self) -> int:
        """The number of coordinates of a candidate."""
        return int(self.rows.shape[1])

    def __len__(self) -> int:
        return len(self.rows)

    def row(self, i: int) -> Vector:
        """Return a copy of row i."""
        return np.array(self.rows[i])


@dataclass(frozen=True, eq=False)
class Cloud:
    """x + μξ_i: directions drawn around a centre (line 2 of Algorithm 1)."""

    centre: Vector
    radius: float
    directions: Matrix | SeededDirections  # ξ, (m, d)
    space: Space = Free()

    def __post_init__(self) -> None:
        _freeze(self.centre)
        if not isinstance(self.directions, SeededDirections):
            _freeze(self.directions)

    @property
    def dim(self) -> int:
        """The number of coordinates of a candidate."""
        return self.centre.size

    def __len__(self) -> int:
        return len(self.directions)

    def row(self, i: int) -> Vector:
        """Return x + μξ_i, placed in the space."""
        if isinstance(self.directions, SeededDirections):
            return self.space.place(self.directions.around(self.centre, self.radius, i))
        x = np.multiply(self.directions[i], self.radius)
        x += self.centre
        return self.space.place(x)

    def combine(self, weights: Vector) -> Vector:
        """Return Σ w_i ξ_i for zero-sum weights.

        In a box the judge saw the clipped candidates, so their actual displacements are used:
        Σ w_i (x_i − x)/μ (the first form of equation 5).
        """
        if not isinstance(self.space, Box):
            if isinstance(self.directions, SeededDirections):
                return self.directions.combine(weights)
            return np.asarray(weights.astype(self.directions.dtype) @ self.directions)
        total = np.zeros_like(self.centre)
        for i, w in enumerate(weights.tolist()):
            moved = self.row(i)
            moved -= self.centre
            moved *= w
            total += moved
        total /= self.radius
        return total


@dataclass(frozen=True, eq=False)
class Ray:
    """A line search: x, other points to compare, and x − step·g for each step (Algorithm 2)."""

    centre: Vector
    direction: Vector  # uphill
    steps: tuple[float, ...]
    others: tuple[Vector, ...] = ()
    space: Space = Free()

    def __post_init__(self) -> None:
        _freeze(self.centre, self.direction, *self.others)

    @property
    def dim(self) -> int:
        """The number of coordinates of a candidate."""
        return self.centre.size

    def __len__(self) -> int:
        return 1 + len(self.others) + len(self.steps)

    def row(self, i: int) -> Vector:
        """Return the centre, one of the others, or a point of the line search."""
        if i == 0:
            return self.centre.copy()
        if i <= len(self.others):
            return self.others[i - 1].copy()
        x = np.multiply(self.direction, -self.steps[i - 1 - len(self.others)])
        x += self.centre
        return self.space.place(x)


@dataclass(frozen=True, eq=False)
class Slate:
    """The candidates of one round and the question about them: a sequence of vectors.

    Attributes:
        design: computes the candidates.
        question: "rank" (the best k in order), "best" (only the best), "start" (a start; "no
            difference" asks for other candidates), or, for baselines, "compare" (which ones are
            better than the first) and "values".
        k: the wanted depth of the ranking; None leaves it to the judge. Any depth is accepted.
        looks: the looks of the candidates, (m, p), for optimizers that use them. Additional rows
            at the beginning belong to candidates that were shown earlier without looks.
        promise: the optimizer's expectations: `chance`, the probability that a candidate beats
            the incumbent, and `gain`, the expected improvement. May be empty.
    """

    design: Design
    question: Question = "rank"
    k: int | None = None
    looks: Matrix | None = None
    promise: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.design) == 0:
            raise InvalidInput("a slate needs at least one candidate, found none")

    @property
    def dim(self) -> int:
        """The number of coordinates of a candidate."""
        return self.design.dim

    def depth(self, k: int | None = None) -> int:
        """Return the number of places to rank: m, or fewer if the slate or the judge wants so."""
        m = len(self)
        return min(m, m if self.k is None else self.k, m if k is None else k)

    def answer_from(self, values: Vector, k: int | None = None) -> Answer:
        """Return the answer of a judge who knows these values; smaller is better.

        Candidates whose value is missing (NaN) are not compared.
        """
        if self.question == "values":
            return Values(tuple(values.tolist()))
        if self.question == "compare":
            values = np.sign(values - values[0])
        depth = {"rank": self.depth(k), "compare": len(self)}.get(self.question, 1)
        if values.shape == (len(self),) and all(map(math.isfinite, numbers := values.tolist())):
            return ranking_by_value(numbers, depth)
        known = np.flatnonzero(~np.isnan(values))
        ranking = Ranking.from_values(values[known], top=min(depth, known.size))
        if known.size == len(self):
            return ranking
        places = known.tolist()
        named = tuple(tuple(places[p] for p in group) for group in ranking.best)
        return Ranking(named, among=tuple(places))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return _mimebundle.of_slate(self)

    def __len__(self) -> int:
        return len(self.design)

    def __getitem__(self, i: int) -> Vector:
        m = len(self)
        if not -m <= i < m:
            raise IndexError(f"position {i} is not on a slate of {m}")
        return self.design.row(i % m)

    def __iter__(self) -> Iterator[Vector]:
        return (self.design.row(i) for i in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError(
                "candidates are computed on access; an array of them is always a copy"
            )
        first = self.design.row(0)
        rows = np.empty((len(self), self.dim), first.dtype)
        rows[0] = first
        for i in range(1, len(self)):
            rows[i] = self.design.row(i)
        return rows if dtype is None else rows.astype(dtype, copy=False)


def _freeze(*arrays: Vector | Matrix) -> None:
    """Make arrays read-only, because states and slates share them."""
    for array in arrays:
        array.setflags(write=False)
