"""A slate, and how its candidates are made.

Candidates are not held as an m × d array: a slate knows the recipe (a cloud of directions around
a centre, or steps along a ray) and makes each row when it is looked at. The recipe is also what an
optimizer needs back when the answer arrives, so `tell` takes the slate and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np

from zorank._directions import SeededDirections
from zorank.errors import InvalidInput
from zorank.types import Answer, Ranking, Values, Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

Question: TypeAlias = Literal["start", "rank", "best", "compare", "values"]


class Space(Protocol):
    """Where candidates may lie."""

    def place(self, x: Vector) -> Vector:
        """Move x to the nearest point of the space, in place, and return it."""
        ...


@dataclass(frozen=True)
class Free:
    """All of R^d."""

    def place(self, x: Vector) -> Vector:
        """Every point may stay where it is."""
        return x


@dataclass(frozen=True)
class Shell:
    """The sphere |x| = √d, where the mass of N(0, I) lies: the home of a sampler's latents.

    From x uniform on the shell, x + μξ put back on the shell is uniform again for every μ: the
    moves keep the law, and no sequence of answers can inflate the norm.
    """

    def place(self, x: Vector) -> Vector:
        """Scale x to norm √d."""
        x /= self.largest(x)  # its square neither overflows nor vanishes
        x *= self.factor(x)
        return x

    @staticmethod
    def largest(x: Vector) -> float:
        """The largest |x_i|; an error if no scaling puts x on the shell."""
        largest = max(float(x.max()), -float(x.min()))
        if largest == 0.0 or not np.isfinite(largest):
            raise InvalidInput(
                f"{'an infinite' if largest else 'the zero'} vector cannot be put on the Gaussian "
                "shell; start from a draw of N(0, I), for instance rng.standard_normal(d)"
            )
        return largest

    @staticmethod
    def factor(x: Vector) -> Any:
        """√d / |x|, for x whose square neither overflows nor vanishes."""
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
    """The same box, for searches that may leave it: what is outside is its mirror image inside.

    Clipping would show a search that leans on a bound the same candidate again and again.
    """

    def place(self, x: Vector) -> Vector:
        """Mirror x at its bounds, as often as it takes."""
        outside = (x < self.lower) | (x > self.upper)
        if not outside.any():
            return x
        lower, upper, beyond = self.lower[outside], self.upper[outside], x[outside]
        with np.errstate(over="ignore"):  # a bound may be the largest float: none, in other words
            width = upper - lower
        nearest = np.where(beyond < lower, lower, upper)
        far = np.mod(np.abs(beyond - nearest), 2.0 * np.minimum(width, 1e300))
        depth = np.minimum(far, np.abs(2.0 * np.minimum(width, 1e300) - far))
        x[outside] = np.where(beyond < lower, lower + depth, upper - depth)
        return super().place(x)


class Design(Protocol):
    """How the candidates of a slate are made: a length, and a fresh vector for each row."""

    @property
    def dim(self) -> int:
        """The number of coordinates of a candidate."""
        ...

    def __len__(self) -> int: ...

    def row(self, i: int) -> Vector:
        """Candidate i as a new array."""
        ...


@dataclass(frozen=True, eq=False)
class Points:
    """Candidates given outright, one row each."""

    rows: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.rows.ndim != 2:
            raise InvalidInput(f"points are an (m, d) array, found shape {self.rows.shape}")

    @property
    def dim(self) -> int:
        """The number of coordinates of a candidate."""
        return int(self.rows.shape[1])

    def __len__(self) -> int:
        return len(self.rows)

    def row(self, i: int) -> Vector:
        """A copy of row i."""
        return np.array(self.rows[i])


@dataclass(frozen=True, eq=False)
class Cloud:
    """x + μξ_i: directions drawn around a centre (line 2 of Algorithm 1)."""

    centre: Vector
    radius: float
    directions: NDArray[np.float64] | SeededDirections  # ξ, (m, d)
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
        """X + μξ_i, put where candidates may lie."""
        if isinstance(self.directions, SeededDirections):
            return self.space.place(self.directions.around(self.centre, self.radius, i))
        x = np.multiply(self.directions[i], self.radius)
        x += self.centre
        return self.space.place(x)

    def combine(self, weights: Vector) -> Vector:
        """Σ w_i ξ_i for zero-sum weights.

        In a box the judge saw the clipped candidates, so their real displacements count:
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
    """x itself, other points to compare it with, then x − step·g for each step (Algorithm 2)."""

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
        """The centre, one of the others, or a point down the ray."""
        if i == 0:
            return self.centre.copy()
        if i <= len(self.others):
            return self.others[i - 1].copy()
        x = np.multiply(self.direction, -self.steps[i - 1 - len(self.others)])
        x += self.centre
        return self.space.place(x)


@dataclass(frozen=True, eq=False)
class Slate:
    """The candidates of one question: a sequence of vectors, made when they are looked at.

    Attributes:
        design: how the candidates are made.
        question: "rank" (the best k in order), "best" (only the best), "start" (one to begin
            with; no difference asks for others), or, for baselines, "compare" (which are better
            than the first) and "values".
        k: how deep a ranking is wished for; None leaves it to the judge. Any depth is accepted.
        looks: what the candidates look like, (m, p), for optimizers that learn from it; rows
            before these are of candidates that were shown earlier and had no looks then.
        promise: what its optimizer expects of it: chance, that one candidate beats the best so
            far, and gain, what it should be better by; empty for optimizers that do not say.
    """

    design: Design
    question: Question = "rank"
    k: int | None = None
    looks: NDArray[np.float64] | None = None
    promise: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.design) == 0:
            raise InvalidInput("a slate needs at least one candidate, found none")

    @property
    def dim(self) -> int:
        """The number of coordinates of a candidate."""
        return self.design.dim

    def depth(self, k: int | None = None) -> int:
        """How many places to name: all, unless the slate or the judge (k) wishes for fewer."""
        return min([len(self), *(d for d in (self.k, k) if d is not None)])

    def answer_from(self, values: Vector, k: int | None = None) -> Answer:
        """What a judge who sees these values says to this slate's question.

        A candidate whose value is missing (NaN) is not spoken of.
        """
        if self.question == "values":
            return Values(tuple(values.tolist()))
        if self.question == "compare":
            values = np.sign(values - values[0])
        seen = np.flatnonzero(~np.isnan(values))
        depth = {"rank": self.depth(k), "compare": len(self)}.get(self.question, 1)
        ranking = Ranking.from_values(values[seen], top=min(depth, seen.size))
        if seen.size == len(self):
            return ranking
        places = seen.tolist()
        named = tuple(tuple(places[p] for p in group) for group in ranking.best)
        return Ranking(named, among=tuple(places))

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
            raise ValueError("a slate's candidates are made on demand; an array of them is a copy")
        first = self.design.row(0)
        rows = np.empty((len(self), self.dim), first.dtype)
        rows[0] = first
        for i in range(1, len(self)):
            rows[i] = self.design.row(i)
        return rows if dtype is None else rows.astype(dtype, copy=False)


def _freeze(*arrays: NDArray[np.float64]) -> None:
    """What a state and a slate share must not change under them."""
    for array in arrays:
        array.setflags(write=False)
