"""A function as a judge: it has values but tells only what the slate's question asks for."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from zorank.errors import InvalidInput
from zorank.slates import Slate
from zorank.types import Answer, Ranking, Values, Vector

Objective: TypeAlias = Callable[[Vector], Any]


@dataclass(frozen=True)
class FunctionOracle:
    """Ranks candidates by f, smaller is better.

    Attributes:
        f: one candidate → a number; with `vectorized`, all candidates (m, d) → m numbers.
        k: the deepest ranking it will give; None gives what the slate asks for.
        vectorized: whether f takes all candidates at once.
    """

    f: Objective
    k: int | None = None
    vectorized: bool = False

    def answer(self, slate: Slate) -> Answer:
        """The answer to the slate's question."""
        return answer_from_values(slate, evaluate(self.f, slate, self.vectorized), self.k)


def evaluate(f: Objective, slate: Slate, vectorized: bool = False) -> Vector:
    """The value of every candidate: (m,), finite."""
    values = f(np.asarray(slate)) if vectorized else [f(x) for x in slate]
    return check_values(values, len(slate))


def check_values(values: Any, m: int) -> Vector:
    """What an objective returned for m candidates as (m,) finite floats."""
    numbers = [_number(v) for v in values] if isinstance(values, Iterable) else [_number(values)]
    if len(numbers) != m:
        raise InvalidInput(
            f"the objective must return {m} values for {m} candidates, found {len(numbers)}"
        )
    result = np.array(numbers)
    finite = np.isfinite(result)
    if not finite.all():
        i = int(np.argmin(finite))
        raise InvalidInput(
            f"the objective must return finite numbers, found {result[i]} for candidate {i}; "
            "for a point that is not allowed, return a large finite number"
        )
    return result


def answer_from_values(slate: Slate, values: Vector, k: int | None = None) -> Answer:
    """What a judge who sees these values says: the values, the best, or the best k in order."""
    if slate.question == "values":
        return Values(tuple(values.tolist()))
    if slate.question == "best":
        return Ranking.from_values(values, top=1)
    depths = [len(slate), *(d for d in (slate.k, k) if d is not None)]
    return Ranking.from_values(values, top=min(depths))


def _number(value: Any) -> float:
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "biuf":
        raise InvalidInput(f"the objective must return a number, found {value!r:.60}")
    return float(array.reshape(()))
