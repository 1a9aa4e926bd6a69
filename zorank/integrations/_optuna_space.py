"""Optuna's distributions as coordinates from 0 to 1.

A number has one coordinate, on a logarithmic axis if the distribution is; whole numbers and steps
are intervals of equal width. A categorical parameter has one coordinate for each choice, and the
largest coordinate chooses.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    distribution_to_json,
)

from zorank.types import Vector

Numerical = FloatDistribution | IntDistribution


@dataclass(frozen=True)
class Coordinates:
    """The parameters of a search space as a vector."""

    space: Mapping[str, BaseDistribution]

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return sum(_width(d) for d in self.space.values())

    @property
    def digest(self) -> str:
        """A short text that identifies the search space."""
        described = {name: distribution_to_json(d) for name, d in self.space.items()}
        text = json.dumps(described, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def decode(self, x: Vector) -> dict[str, Any]:
        """Return the parameters at x."""
        params: dict[str, Any] = {}
        at = 0
        for name, distribution in self.space.items():
            part = x[at : at + _width(distribution)]
            at += part.size
            if isinstance(distribution, CategoricalDistribution):
                params[name] = distribution.choices[int(np.argmax(part))]
            else:
                params[name] = _number(distribution, float(part[0]))
        return params

    def encode(self, params: Mapping[str, Any]) -> Vector:
        """Return a point whose parameters are these; those that are missing are in the middle."""
        x = np.full(self.dim, 0.5)
        at = 0
        for name, distribution in self.space.items():
            width = _width(distribution)
            if name in params and isinstance(distribution, CategoricalDistribution):
                x[at : at + width] = 0.25
                x[at + int(distribution.to_internal_repr(params[name]))] = 0.75
            elif name in params:
                x[at] = _coordinate(distribution, float(params[name]))
            at += width
        return x

    def is_at(self, x: Vector, params: Mapping[str, Any]) -> bool:
        """Return whether these are parameters at x; a failed trial may have only some of them."""
        for name, wanted in self.decode(x).items():
            if name not in params:
                continue
            there, here = (self.space[name].to_internal_repr(p) for p in (wanted, params[name]))
            if not math.isclose(there, here, rel_tol=1e-9, abs_tol=1e-300):
                return False
        return True


def _width(distribution: BaseDistribution) -> int:
    return len(distribution.choices) if isinstance(distribution, CategoricalDistribution) else 1


def _ends(distribution: Any) -> tuple[float, float]:
    """Return the ends of the axis: half a step beyond the bounds."""
    step = distribution.step or 0.0
    low, high = distribution.low - step / 2, distribution.high + step / 2
    return (math.log(low), math.log(high)) if distribution.log else (low, high)


def _number(distribution: Any, u: float) -> float | int:
    low, high = _ends(distribution)
    value = low + min(max(u, 0.0), 1.0) * (high - low)
    value = math.exp(value) if distribution.log else value
    if distribution.step:
        steps = round((value - distribution.low) / distribution.step)
        value = distribution.low + steps * distribution.step
    value = min(max(value, distribution.low), distribution.high)
    return int(value) if isinstance(distribution, IntDistribution) else float(value)


def _coordinate(distribution: Any, value: float) -> float:
    low, high = _ends(distribution)
    there = math.log(value) if distribution.log else value
    return float(np.clip((there - low) / (high - low), 0.0, 1.0))
