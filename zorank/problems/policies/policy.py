"""Policies: from what a body feels to what it does, as functions of one flat vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from zorank.errors import InvalidInput
from zorank.types import Vector

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Limits:
    """The numbers that an action may hold.

    Attributes:
        low: the least of each.
        high: the largest of each.
        dtype: of what kind they are.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    dtype: str

    def nearest(self, wish: Array) -> NDArray[Any]:
        """The closest numbers within."""
        low, high, kind = self._ends
        within = np.minimum(np.maximum(wish, low), high)  # np.clip is slower on a row
        return (np.rint(within) if kind.kind in "iu" else within).astype(kind, copy=False)

    @cached_property
    def _ends(self) -> tuple[Array, Array, np.dtype[Any]]:
        return np.array(self.low), np.array(self.high), np.dtype(self.dtype)


@dataclass(frozen=True)
class Action:
    """What an environment takes: numbers of some shape, or one of several choices.

    Attributes:
        shape: of the numbers; for a choice, how many there are.
        first: the number of the first choice; None if it is no choice.
        limits: of the numbers; None where the environment deals with all itself.
    """

    shape: tuple[int, ...]
    first: int | None = None
    limits: Limits | None = None

    @property
    def outputs(self) -> int:
        """How many numbers a policy has to give for it."""
        return prod(self.shape)

    def within(self, wishes: Array) -> NDArray[Any]:
        """The closest that may be done, for wishes (…, outputs)."""
        return wishes if self.limits is None else self.limits.nearest(wishes)

    def of(self, wish: Vector) -> Any:
        """The action that a policy wishes for: what it says, or its strongest wish."""
        if self.first is not None:
            return int(np.argmax(wish)) + self.first
        return self.within(wish).reshape(self.shape)


@dataclass(frozen=True)
class Policy:
    """Layers of weights with tanh between them; without hidden layers, a linear map.

    Attributes:
        inputs: numbers in an observation.
        outputs: numbers in an action, or actions to choose from.
        hidden: the width of each hidden layer.
        bias: whether a constant is added in each layer, as in the paper; without, fewer numbers
            are to be found, and what is symmetric stays so.
    """

    inputs: int
    outputs: int
    hidden: tuple[int, ...] = ()
    bias: bool = False

    @property
    def dim(self) -> int:
        """The length of its vector of parameters."""
        return sum(rows * columns for rows, columns in self._shapes)

    @property
    def _shapes(self) -> list[tuple[int, int]]:
        sizes = (self.inputs, *self.hidden, self.outputs)
        return [(after, before + self.bias) for before, after in pairwise(sizes)]

    def start(self, seed: int = 0) -> Vector:
        """Where to begin: at nothing, but hidden layers must differ from unit to unit."""
        if not self.hidden:
            return np.zeros(self.dim)
        rng = np.random.default_rng([seed, self.dim])
        layers = [rng.standard_normal(shape) / np.sqrt(shape[1]) for shape in self._shapes]
        layers[-1][:] = 0.0  # no opinion at first
        return np.concatenate([layer.ravel() for layer in layers])

    def layers(self, parameters: Sequence[Vector]) -> list[Array]:
        """The weights of every layer, (n, outputs, inputs) for n vectors of parameters."""
        rows = np.asarray(parameters, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != self.dim:
            found = rows.shape[-1] if rows.ndim else 0
            raise InvalidInput(f"this policy has {self.dim} parameters, found {found}")
        ends = np.cumsum([0, *(a * b for a, b in self._shapes)])
        return [
            rows[:, start:end].reshape(len(rows), *shape)
            for (start, end), shape in zip(pairwise(ends), self._shapes, strict=True)
        ]

    def act(self, layers: Sequence[Array], observations: Array) -> Array:
        """What n policies do, (n, outputs), each with its own observation (n, inputs).

        Each row is the same whatever the others are: einsum adds in one order, a matrix product
        would not.
        """
        x = observations
        for depth, weights in enumerate(layers):
            if depth:
                x = np.tanh(x)
            width = weights.shape[2] - self.bias
            y: Array = np.einsum("nao,no->na", weights[:, :, :width], x)
            x = y + weights[:, :, -1] if self.bias else y
        return x
