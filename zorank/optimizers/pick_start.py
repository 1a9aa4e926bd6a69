"""Pick a start, then optimise: the first question is a choice among draws of N(0, I).

People begin better from a picture they picked than from one they were given. The first slate asks
"start"; its favourite becomes x0 of the method that goes on. "No difference" asks for others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from zorank.errors import InvalidInput, unknown_name
from zorank.estimators import comparisons, favourites
from zorank.optimizers.settings import check_count
from zorank.optimizers.zo_ranksgd import ZORankSGD
from zorank.optimizers.zo_ranksgd_memory import ZORankSGDMemory
from zorank.protocols import AnyOptimizer
from zorank.slates import Points, Slate
from zorank.types import Answer, Vector

METHODS: dict[str, type[AnyOptimizer]] = {cls.name: cls for cls in (ZORankSGD, ZORankSGDMemory)}


@dataclass(frozen=True, eq=False)
class PickState:
    """Before the choice, the point to fall back on; after it, the state of the method."""

    x0: Vector
    inner: Any = None


@dataclass(frozen=True, kw_only=True)
class PickStart:
    """A method that starts where the judge likes it.

    Attributes:
        m: candidates to choose the start from.
        method: the optimizer that goes on from there.
        options: its settings.
    """

    name: ClassVar[str] = "pick-start"
    revision: ClassVar[int] = 1

    m: int = 6
    method: str = "zo-ranksgd-memory"
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_count(self, "m", 2)
        if not isinstance(self.options, Mapping):
            raise InvalidInput(f"options are settings by name, found {self.options!r}")
        object.__setattr__(self, "options", dict(self.options))
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise unknown_name("optimizer", self.method, METHODS)
        try:
            self._inner()
        except TypeError as error:
            raise InvalidInput(f"{self.method} has no such setting: {error}") from error

    def init(self, x0: Vector) -> PickState:
        """Nothing is chosen yet."""
        inner = self._inner()
        return PickState(inner.best(inner.init(x0)))

    def ask(self, state: PickState, rng: np.random.Generator) -> Slate:
        """Random candidates, or the method's question."""
        if state.inner is not None:
            return self._inner().ask(state.inner, rng)
        draws = rng.standard_normal((self.m, state.x0.size))
        starts = np.array([self._start(x) for x in draws])
        return Slate(Points(starts), question="start")

    def tell(self, state: PickState, slate: Slate, answer: Answer) -> PickState:
        """Start at the favourite, show others, or pass the answer on."""
        inner = self._inner()
        if state.inner is not None:
            return replace(state, inner=inner.tell(state.inner, slate, answer))
        if not comparisons(answer, len(slate))[1]:
            return state
        return replace(state, inner=inner.init(slate[favourites(answer, len(slate))[0]]))

    def best(self, state: PickState) -> Vector:
        """The method's best, once it has one."""
        return state.x0 if state.inner is None else self._inner().best(state.inner)

    def report(self, state: PickState) -> dict[str, float]:
        """The method's report, once it runs."""
        return {} if state.inner is None else self._inner().report(state.inner)

    def _inner(self) -> AnyOptimizer:
        return METHODS[self.method](**self.options)

    def _start(self, x: Vector) -> Vector:
        inner = self._inner()
        return inner.best(inner.init(x))
