"""Evaluates the candidates of a slate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from zorank._arrays import refuse_masked
from zorank.errors import InvalidInput, short
from zorank.slates import Slate
from zorank.types import Vector

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from numpy.typing import NDArray

Objective: TypeAlias = Callable[[Vector], Any]
"""Maps a candidate (d,) to a number; if vectorized, (m, d) to m numbers."""


FLOATS = frozenset({float, np.float64})
"""The types of values that need no check."""


def evaluate(
    f: Objective,
    slate: Slate,
    *,
    vectorized: bool = False,
    executor: Executor | None = None,
    deadline: float | None = None,
) -> Vector:
    """Return the value of every candidate, (m,), in the slate's order.

    After the deadline (seconds, requires an executor), the values of unfinished candidates are
    NaN. The values that an answer requires, at least two, are waited for up to ten deadlines.

    Raises:
        InvalidInput: if the objective returns a value that is not a finite number.
    """
    values, known = evaluate_any(
        f, slate, vectorized=vectorized, executor=executor, deadline=deadline
    )
    wrong = known & ~np.isfinite(values)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise InvalidInput(
            f"the objective must return finite numbers, found {values[i]} for candidate {i}; "
            "for an infeasible point, return a large finite number"
        )
    return values


def evaluate_any(
    f: Objective,
    slate: Slate,
    *,
    vectorized: bool = False,
    executor: Executor | None = None,
    deadline: float | None = None,
) -> tuple[Vector, NDArray[np.bool_]]:
    """Return the values, which may be infinite or NaN, and a mask of those that are known."""
    if not callable(f):
        raise InvalidInput(
            f"the objective must be a function that maps a candidate to a number, found {short(f)}"
        )
    m = len(slate)
    known = np.ones(m, dtype=bool)
    if vectorized:
        return _check_values(f(np.asarray(slate)), m, "; each row of its argument is one"), known
    if executor is None:
        # list(map(…)) would swallow a StopIteration of f; "for x in slate" would hold a candidate
        # in memory until the next one is made.
        row = slate.design.row
        return _check_values([f(row(i)) for i in range(m)], m), known
    from zorank.executors.dispatch import dispatch  # slow to import, rarely needed

    found = dispatch(f, slate, executor, deadline)
    values = np.full(m, np.nan)
    values[list(found)] = _check_values(list(found.values()), len(found))
    known[[i for i in range(m) if i not in found]] = False
    return values, known


def _check_values(values: Any, m: int, hint: str = "") -> Vector:
    if type(values) is np.ndarray and values.dtype == np.float64 and values.shape == (m,):
        return values.copy()  # f may use its array again
    if type(values) is list and len(values) == m and FLOATS.issuperset(map(type, values)):
        return np.array(values, dtype=np.float64)
    refuse_masked(values, "the values of the objective")
    several = isinstance(values, Iterable) and getattr(values, "ndim", 1) > 0
    numbers = [_number(v) for v in islice(values, m + 1)] if several else [_number(values)]
    if len(numbers) != m:
        found = len(numbers) if len(numbers) < m else _length(values)
        raise InvalidInput(
            f"the objective must return {m} values for {m} candidates, found {found}{hint}"
        )
    return np.array(numbers)


def _length(values: Any) -> int | str:
    return len(values) if isinstance(values, Sized) else "more"  # a generator may be endless


def _number(value: Any) -> float:
    refuse_masked(value, "the value of the objective")
    try:
        array = np.asarray(value)
    except Exception:  # arrays of other libraries raise errors of their own
        array = np.empty(0)
    if array.size != 1 or array.dtype.kind not in "biuf":
        raise InvalidInput(f"the objective must return a number, found {short(value)}")
    return float(array.reshape(()))
