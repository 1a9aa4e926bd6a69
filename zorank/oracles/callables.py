"""An oracle that is any function of exhibits, such as a language model that compares texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from zorank.answers import Ranking
from zorank.errors import InvalidInput, short
from zorank.protocols import Renderer
from zorank.slates import Slate
from zorank.types import Answer, Exhibit, Poll, Values, Vector

Shown: TypeAlias = "Exhibit | str | Vector"
"""The argument for each candidate: a text as a str, else the exhibit or the vector."""


@dataclass(frozen=True)
class CallableOracle:
    """Answers a slate with a function of what is shown.

    Attributes:
        judge: takes a list of what is shown. It returns positions in the list, best first, or,
            if it `returns` scores, a number for each; higher is better.
        renderer: turns candidates into exhibits; None passes the vectors themselves.
        returns: "order" or "scores".
        k: the maximal depth of a ranking from scores; None ranks as deep as the slate asks for.
    """

    judge: Callable[[list[Any]], Any]
    renderer: Renderer | None = None
    returns: Literal["order", "scores"] = "order"
    k: int | None = None

    def __post_init__(self) -> None:
        if not callable(self.judge):
            raise InvalidInput(
                "a judge must be a function that takes a list of exhibits and returns their "
                f"order, found {short(self.judge)}"
            )
        if self.returns not in ("order", "scores"):
            raise InvalidInput(f"returns must be 'order' or 'scores', found {short(self.returns)}")

    def answer(self, slate: Slate) -> Answer:
        """Return the answer to the slate's question."""
        said = self.judge(self._shown(list(slate)))
        if self.returns == "scores":
            return slate.answer_from(-_scores(said, len(slate)), self.k)
        if slate.question == "values":
            raise InvalidInput(
                "this slate asks for values, but the judge returns an order; let it return "
                "scores, with returns='scores'"
            )
        ranking = said if isinstance(said, Ranking | Poll | Values) else _order(said)
        ranking.check(len(slate))
        return ranking

    def _shown(self, candidates: list[Vector]) -> list[Shown]:
        if self.renderer is None:
            return list(candidates)
        exhibits: Sequence[Exhibit] = self.renderer.render(candidates)
        return [as_text(exhibit) for exhibit in exhibits]


def from_callable(
    judge: Callable[[list[Any]], Any],
    renderer: Renderer | None = None,
    *,
    returns: Literal["order", "scores"] = "order",
    k: int | None = None,
) -> CallableOracle:
    """Make an oracle of a function of exhibits; `CallableOracle` explains the arguments."""
    return CallableOracle(judge, renderer, returns, k)


def as_text(exhibit: Exhibit) -> Exhibit | str:
    """Return the content of a text exhibit; return any other exhibit as it is."""
    if not exhibit.media_type.startswith("text/"):
        return exhibit
    return exhibit.data.decode("utf-8", errors="replace")


def _order(said: Any) -> Ranking:
    try:
        return Ranking.of(said)
    except TypeError as error:
        raise InvalidInput(
            f"a judge must return a list of positions, best first, found {short(said)}"
        ) from error


def _scores(said: Any, count: int) -> Vector:
    try:
        numbers = np.asarray(said, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"a judge must return numbers, found {short(said)}") from error
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise InvalidInput(
            f"a judge must return {count} finite numbers, one for each exhibit, found "
            f"{short(said)}"
        )
    return numbers
