"""Recipes: how candidates of large dimension were computed, so that the log need not store them.

At d = 16,384 the numbers of a slate take a megabyte, its recipes a few hundred bytes. A candidate
is a vector that the log already has, or the end of a gradient step from some of those, or a random
direction around one of these. Rebuilding repeats elementwise arithmetic only. The results of sums
over coordinates are part of the recipe, because their last bits depend on the machine. A candidate
that took too many steps to repeat is rounded to half precision before it is shown, so that its
numbers take a quarter of the bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from zorank._channels import ChannelShell, ScaledChannels
from zorank.slates import Free, Points, Shell, Space
from zorank.types import Matrix, Vector

FREE = Free()


@dataclass(frozen=True)
class ScaledShell:
    """The shell for one vector, with the factor √d/|x| that places it there."""

    factor: float

    def place(self, x: Vector) -> Vector:
        """Scale x by the known factor."""
        x /= Shell.largest(x)
        x *= self.factor
        return x


def place_repeatably(space: Space, x: Vector) -> tuple[Vector, Space]:
    """Move x into the space, in place; also return a space that repeats it without a sum."""
    if not isinstance(space, Shell):
        return space.place(x), space
    x /= space.largest(x)
    factor = space.factor(x)
    x *= factor
    correction = space.correction(x) if isinstance(space, ChannelShell) else None
    if correction is not None:
        return correction.apply(x), ScaledChannels(float(factor), correction)
    return x, ScaledShell(float(factor))


@dataclass(frozen=True)
class GeneratorSeed:
    """The seed of a generator of `zorank.rng` that nothing was drawn from yet."""

    entropy: int
    spawn_key: tuple[int, ...] = ()

    @classmethod
    def of(cls, rng: np.random.Generator) -> GeneratorSeed | None:
        """Return the seed of a generator, or None if it would not repeat the same draws."""
        sequence = getattr(rng.bit_generator, "seed_seq", None)
        entropy = getattr(sequence, "entropy", None)
        if not isinstance(entropy, int):
            return None
        seed = cls(entropy, tuple(int(n) for n in getattr(sequence, "spawn_key", ())))
        return seed if _state(seed.generator()) == _state(rng) else None

    def generator(self) -> np.random.Generator:
        """Return the generator in its initial state."""
        sequence = np.random.SeedSequence(self.entropy, spawn_key=self.spawn_key)
        return np.random.Generator(np.random.SFC64(sequence))


def _state(rng: np.random.Generator) -> str:
    return repr(rng.bit_generator.state)


@dataclass(frozen=True, eq=False)
class LoggedVector:
    """A vector that the log already has (a candidate or the run's start), placed in a space."""

    x: Vector
    space: Space = FREE


@dataclass(frozen=True, eq=False)
class GradientStep:
    """A step keep·x + go·g/slope along the gradient g = Σ p_i (y_i − x) of a posterior mean.

    x is one of the points y. On the shell, share·x is subtracted from g to make it tangential.

    Attributes:
        points: y, candidates of earlier slates.
        best: the index of x among them.
        pulls: p, the coefficient of each point.
        total: Σ p_i.
        share: the radial coefficient; None outside the shell.
        slope: the length by which g is divided.
        keep: the coefficient of x.
        go: the coefficient of the normalised gradient.
        space: where the end is placed.
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
        """Return the gradient g at x, not yet divided by its length."""
        x = self.points[self.best]
        gradient, scratch = np.zeros(x.size), np.empty(x.size)
        for pull, y in zip(self.pulls, self.points, strict=True):
            gradient += np.multiply(pull, y, out=scratch)
        gradient -= self.total * x
        if self.share is not None:
            gradient -= self.share * x
        return gradient

    def end(self, gradient: Vector) -> Vector:
        """Return the end of the step, not yet placed in the space."""
        return np.asarray(self.keep * self.points[self.best] + self.go * (gradient / self.slope))


@dataclass(frozen=True, eq=False)
class RandomPoint:
    """The point centre + radius·ξ with ξ ~ N(0, I).

    Attributes:
        seed: the seed of the generator; None if its draws cannot be repeated.
        count: the number of directions that were drawn together.
        row: the index of ξ among them.
        radius: the factor of ξ.
        centre: the recipe of the centre; None is the origin.
        space: where the point is placed.
    """

    seed: GeneratorSeed | None
    count: int
    row: int
    radius: float
    centre: Recipe | None
    space: Space = FREE


@dataclass(frozen=True, eq=False)
class StoredVector:
    """A vector whose numbers are stored, in half precision if that is exact."""

    x: Vector
    space: Space = FREE


Recipe: TypeAlias = LoggedVector | GradientStep | RandomPoint | StoredVector

ROUNDED_DIM = 1024
"""Candidates on the shell with more coordinates than this are rounded before they are shown."""


def round_large(rows: Matrix) -> Matrix:
    """Round candidates on the shell to half precision if they are large; idempotent.

    Coordinates on the shell are of order 1, and change by less than 1/2000 of themselves.
    """
    if rows.shape[-1] <= ROUNDED_DIM:
        return rows
    return rows.astype(np.float16).astype(np.float64)


class DerivedVector(NamedTuple):
    """A vector and its recipe."""

    x: Vector
    recipe: Recipe


@dataclass(frozen=True, eq=False)
class DerivedPoints(Points):
    """Candidates and their recipes."""

    recipes: tuple[Recipe, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, vectors: Sequence[DerivedVector]) -> DerivedPoints:
        """Return the design of a slate of these vectors."""
        rows = np.array([vector.x for vector in vectors])
        rows.setflags(write=False)
        return cls(rows, tuple(vector.recipe for vector in vectors))

    def __reduce__(self) -> tuple[Any, ...]:
        return Points, (self.rows,)  # workers need the candidates only


def random_points(
    rng: np.random.Generator,
    count: int,
    dim: int,
    radius: float,
    space: Space,
    centre: DerivedVector | None = None,
) -> list[DerivedVector]:
    """Draw points ~ N(centre, radius² I), placed in the space; the default centre is zero."""
    seed = GeneratorSeed.of(rng)
    middle, recipe = (None, None) if centre is None else centre
    points = []
    for row, xi in enumerate(rng.standard_normal((count, dim))):
        x, placed = place_repeatably(space, _displaced(xi, radius, middle))
        points.append(DerivedVector(x, RandomPoint(seed, count, row, radius, recipe, placed)))
    return points


def rebuild(recipes: Sequence[Recipe], dim: int) -> DerivedPoints:
    """Compute the candidates of these recipes; the same bits on every machine."""
    builder = _Builder(dim)
    return DerivedPoints.of([DerivedVector(builder.build(r), r) for r in recipes])


class _Builder:
    """Computes vectors from recipes; shared intermediate results are computed once."""

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._built: dict[int, Vector] = {}
        self._drawn: dict[tuple[GeneratorSeed, int], Matrix] = {}

    def build(self, recipe: Recipe) -> Vector:
        if isinstance(recipe, RandomPoint):
            return self._random_point(recipe)
        if id(recipe) not in self._built:
            if isinstance(recipe, GradientStep):
                x = recipe.end(recipe.gradient())
            else:
                x = recipe.x.copy()
            self._built[id(recipe)] = recipe.space.place(x)
        return self._built[id(recipe)]

    def _random_point(self, recipe: RandomPoint) -> Vector:
        if recipe.seed is None:
            raise ValueError("the generator of a random direction is not known")
        key = recipe.seed, recipe.count
        if key not in self._drawn:
            shape = (recipe.count, self._dim)
            self._drawn[key] = recipe.seed.generator().standard_normal(shape)
        centre = None if recipe.centre is None else self.build(recipe.centre)
        x = _displaced(self._drawn[key][recipe.row].copy(), recipe.radius, centre)
        return recipe.space.place(x)


def _displaced(xi: Vector, radius: float, centre: Vector | None) -> Vector:
    """Return centre + radius·ξ, computed in place."""
    xi *= radius
    if centre is not None:
        xi += centre
    return xi
