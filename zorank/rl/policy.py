"""Policies as functions of a flat parameter vector: observation → network output → action."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
class ActionBounds:
    """The box that actions are clipped to.

    Attributes:
        low: the lower bound of each coordinate.
        high: the upper bound of each coordinate.
        dtype: the type of an action's numbers.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    dtype: str

    def clip(self, outputs: Array) -> NDArray[Any]:
        """Return the nearest values within the bounds, rounded if they are integers."""
        low, high, dtype = self._arrays
        clipped = np.minimum(np.maximum(outputs, low), high)  # np.clip is slower on one row
        return (np.rint(clipped) if dtype.kind in "iu" else clipped).astype(dtype, copy=False)

    @cached_property
    def _arrays(self) -> tuple[Array, Array, np.dtype[Any]]:
        return np.array(self.low), np.array(self.high), np.dtype(self.dtype)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"low": self.low, "high": self.high, "dtype": self.dtype}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], size: int) -> ActionBounds:
        """Restore what `to_json` wrote; a ValueError if they do not bound `size` numbers."""
        low, high = (np.array(data[end], dtype=float) for end in ("low", "high"))
        dtype = np.dtype(data["dtype"])
        fits = low.shape == high.shape == (size,) and (low <= high).all() and dtype.kind in "fiu"
        if not fits:
            raise ValueError("invalid action bounds")
        return cls(tuple(low.tolist()), tuple(high.tolist()), str(dtype))


@dataclass(frozen=True)
class ActionSpace:
    """The actions of an environment: an array of numbers, or one of several discrete actions.

    Attributes:
        shape: the shape of the array; (n,) for n discrete actions.
        first: the number of the first discrete action; None for an array.
        bounds: the bounds of the array; None if actions are passed on unclipped.
    """

    shape: tuple[int, ...]
    first: int | None = None
    bounds: ActionBounds | None = None

    @property
    def outputs(self) -> int:
        """The number of outputs that a policy needs."""
        return prod(self.shape)

    def clip(self, outputs: Array) -> NDArray[Any]:
        """Clip a policy's outputs (…, outputs) to the bounds."""
        return outputs if self.bounds is None else self.bounds.clip(outputs)

    def action(self, output: Vector) -> Any:
        """Return the action for a policy's output (outputs,): clipped, or the argmax."""
        if self.first is not None:
            return int(np.argmax(output)) + self.first
        return self.clip(output).reshape(self.shape)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        bounds = None if self.bounds is None else self.bounds.to_json()
        return {"shape": self.shape, "first": self.first, "limits": bounds}

    @classmethod
    def from_json(cls, data: Any) -> ActionSpace:
        """Restore what `to_json` wrote; a ValueError if it is not an action space."""
        if not isinstance(data, dict) or not isinstance(data.get("limits"), dict | None):
            raise ValueError("no description of the action space")
        shape, first = tuple(data["shape"]), data["first"]
        if not all(type(side) is int and side > 0 for side in shape):
            raise ValueError(f"invalid action shape {shape}")
        if first is not None and type(first) is not int:
            raise ValueError(f"invalid first discrete action {first!r}")
        limits = data.get("limits")
        bounds = None if limits is None else ActionBounds.from_json(limits, prod(shape))
        return cls(shape, first, bounds)


@dataclass(frozen=True)
class Policy:
    """Layers of weights with tanh between them; without hidden layers, a linear map.

    Attributes:
        inputs: numbers in an observation.
        outputs: numbers in an action, or actions to choose from.
        hidden: the width of each hidden layer.
        bias: whether each layer adds a constant, as in the paper. Without it there are fewer
            parameters, and a symmetric task keeps its symmetry.
    """

    inputs: int
    outputs: int
    hidden: tuple[int, ...] = ()
    bias: bool = False

    @property
    def dim(self) -> int:
        """The number of parameters."""
        return sum(rows * columns for rows, columns in self._shapes)

    @property
    def _shapes(self) -> list[tuple[int, int]]:
        sizes = (self.inputs, *self.hidden, self.outputs)
        return [(after, before + self.bias) for before, after in pairwise(sizes)]

    def start(self, seed: int = 0) -> Vector:
        """Return initial parameters: zeros; hidden layers are random, to break their symmetry."""
        if not self.hidden:
            return np.zeros(self.dim)
        rng = np.random.default_rng([seed, self.dim])
        layers = [rng.standard_normal(shape) / np.sqrt(shape[1]) for shape in self._shapes]
        layers[-1][:] = 0.0  # every initial output is 0
        return np.concatenate([layer.ravel() for layer in layers])

    def layers(self, parameters: Sequence[Vector]) -> list[Array]:
        """Return the weights of each layer, (n, outputs, inputs), for n parameter vectors."""
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
        """Return the outputs (n, outputs) of n policies, each for its own observation (n, inputs).

        A row does not depend on the other rows: einsum sums in a fixed order, unlike a matrix
        product.
        """
        x = observations
        for depth, weights in enumerate(layers):
            if depth:
                x = np.tanh(x)
            width = weights.shape[2] - self.bias
            y: Array = np.einsum("nao,no->na", weights[:, :, :width], x)
            x = y + weights[:, :, -1] if self.bias else y
        return x
