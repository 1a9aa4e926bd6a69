"""Pick a start, then optimize: the first slate shows draws of N(0, I).

People do better from a picture they picked than from one they were given. The favourite of the
first slate becomes x0 of another method. "No difference" shows other draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from zorank.errors import InvalidInput, short, unknown_name
from zorank.estimators import comparisons, favourites
from zorank.optimizers.settings import MAX_CANDIDATES, check_count, space_of
from zorank.optimizers.starts import random_starts
from zorank.optimizers.zo_ranksgd import ZORankSGD
from zorank.optimizers.zo_ranksgd_memory import ZORankSGDMemory
from zorank.protocols import AnyOptimizer
from zorank.slates import Points, Slate
from zorank.types import Answer, Vector

METHODS: dict[str, type[AnyOptimizer]] = {cls.name: cls for cls in (ZORankSGD, ZORankSGDMemory)}


@dataclass(frozen=True, eq=False)
class PickState:
    """The state of pick-start.

    Attributes:
        x0: the start of the run, placed in the method's space.
        inner: the state of the method; None before a start is picked.
    """

    x0: Vector
    inner: Any = None


@dataclass(frozen=True, kw_only=True)
class PickStart:
    """Another method, from a start that the judge picks.

    Attributes:
        m: number of candidates on the first slate.
        method: name of the optimizer that continues from the start.
        options: settings of that optimizer.
    """

    name: ClassVar[str] = "pick-start"
    revision: ClassVar[int] = 1

    m: int = 6
    method: str = "zo-ranksgd-memory"
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_count(self, "m", 2, MAX_CANDIDATES)
        if not isinstance(self.options, Mapping):
            raise InvalidInput(
                f"options must map names of settings to values, found {short(self.options)}"
            )
        object.__setattr__(self, "options", dict(self.options))
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise unknown_name("optimizer", self.method, METHODS)
        try:
            self._inner()
        except TypeError as error:
            raise InvalidInput(f"{self.method} has no such setting: {error}") from error

    def init(self, x0: Vector) -> PickState:
        """Return the state before a start is picked."""
        inner = self._inner()
        return PickState(inner.best(inner.init(x0)))

    def ask(self, state: PickState, rng: np.random.Generator) -> Slate:
        """Show random starts, or the slate of the method."""
        if state.inner is not None:
            return self._inner().ask(state.inner, rng)
        space = space_of(self._inner(), state.x0)
        starts = random_starts(rng, self.m, state.x0.size, space)
        return Slate(Points(starts.rows), question="start")

    def tell(self, state: PickState, slate: Slate, answer: Answer) -> PickState:
        """Start at the favourite if there is one, or pass the answer to the method."""
        inner = self._inner()
        if state.inner is not None:
            return replace(state, inner=inner.tell(state.inner, slate, answer))
        if not comparisons(answer, len(slate))[1]:
            return state
        return replace(state, inner=inner.init(slate[favourites(answer, len(slate))[0]]))

    def best(self, state: PickState) -> Vector:
        """Return the best point of the method, or x0 before it starts."""
        return state.x0 if state.inner is None else self._inner().best(state.inner)

    def report(self, state: PickState) -> dict[str, float]:
        """Return the report of the method, once it has started."""
        return {} if state.inner is None else self._inner().report(state.inner)

    def _inner(self) -> AnyOptimizer:
        return METHODS[self.method](**self.options)
