"""The argument of `Run.tell`: an answer, an order as a list, or values of the candidates.

A list of scores is easily given where an order of positions is expected. It is refused, and the
error says how values are told. A list of ints that is a valid order is always taken as an order.
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank._arrays import as_numbers
from zorank.errors import InvalidInput
from zorank.estimators import as_answer
from zorank.slates import Slate
from zorank.types import Answer, Order, Vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def read_told(answer: Answer | Order | None, values: ArrayLike | None, slate: Slate) -> Answer:
    """Return the answer that was told to this slate, as an order or as values."""
    if (answer is None) == (values is None):
        found = "neither" if answer is None else "both"
        raise InvalidInput(
            "tell either an order, as in run.tell([2, 0]), or values, as in "
            f"run.tell(values=[…]); found {found}"
        )
    if answer is None:
        return answer_from_values(slate, values)
    try:
        told = as_answer(answer)
        told.check(len(slate))
    except InvalidInput as error:
        if not _look_like_values(answer, len(slate)):
            raise
        raise InvalidInput(
            f"{error}; an order is a list of ints, and values of the candidates, lower is better, "
            "are told with run.tell(values=[…])"
        ) from error
    return told


def answer_from_values(slate: Slate, values: Any) -> Answer:
    """Return the answer of a judge who knows these values; lower is better.

    NaN and infinity tie on the last place. A slate that asks for values needs finite ones.
    """
    v = as_numbers(values, "values")
    if v.ndim != 1 or v.size != len(slate):
        found = v.size if v.ndim == 1 else f"shape {v.shape}"
        raise InvalidInput(f"a slate of {len(slate)} needs {len(slate)} values, found {found}")
    if slate.question == "values":
        return slate.answer_from(v)
    return slate.answer_from(value_ranks(v))


def value_ranks(values: Vector) -> Vector:
    """Return the ranks of values from 0, lower is better; NaN and infinity tie on the last."""
    distinct = np.unique(np.where(np.isnan(values), np.inf, values), return_inverse=True)[1]
    return distinct.astype(np.float64)


def _look_like_values(order: Any, m: int) -> bool:
    """Return whether a refused order may be values: m numbers, or numbers that are not ints."""
    flat = isinstance(order, (list, tuple)) or (isinstance(order, np.ndarray) and order.ndim == 1)
    if not flat or not 0 < len(order) <= m:
        return False
    items = [x.item() if isinstance(x, np.generic) else x for x in order]
    if not all(isinstance(x, Real) for x in items):
        return False
    return len(items) == m or any(isinstance(x, float) for x in items)
