"""The result of `minimize`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from zorank import _figures, _mimebundle
from zorank.errors import InvalidInput
from zorank.run import Run
from zorank.types import Vector


@dataclass(eq=False)
class Result:
    """The result of `minimize`.

    It can be pickled: `fun` is then computed first, and the copy has no `run`.

    Attributes:
        x: the optimizer's estimate of the best point. A candidate may have had a slightly smaller
            value; under noise such a value is unreliable, so use x.
        points: the number of candidates evaluated for ranking.
        rounds: the number of slates answered.
        message: the reason for stopping.
        success: False if the run stopped before the limit of points by a callback, or if x is
            infeasible or no value was finite.
        history: one row for each round: round, points, question, value (the best of this slate),
            best (the best value so far) and the optimizer's report.
        run: the underlying `Run`, to continue, undo or branch.
    """

    x: Vector
    points: int
    rounds: int
    message: str
    success: bool
    history: list[dict[str, Any]] = field(repr=False)
    run: Run = field(repr=False)
    _value: Callable[[Vector], float] = field(repr=False)

    def __str__(self) -> str:
        found = np.array2string(self.x, threshold=20, edgeitems=3, precision=6)
        name = "     x"
        if self._space is not None:
            name, found = "params", ", ".join(f"{k}={v!r}" for k, v in self.params.items())
        return (
            f"{self.message}\n   points  {self.points}\n   rounds  {self.rounds}\n"
            f"      fun  {self.fun:.8g}\n   {name}  {found}"
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return _mimebundle.of_result(self)

    def plot(self) -> Any:
        """Return a Matplotlib figure of the values and the best so far."""
        return _figures.history_figure(self.history, self.run.name if self.run else "")

    @cached_property
    def fun(self) -> float:
        """f(x): evaluated on first access only; the optimizer never uses it."""
        return self._value(self.x)

    @cached_property
    def _space(self) -> Any:
        return self.run.space

    @property
    def params(self) -> dict[str, Any]:
        """The named parameters of x, if `minimize` was given a space."""
        if self._space is None:
            raise InvalidInput(
                "this result has no params, because minimize was given no space; use x"
            )
        return dict(self._space.decode(self.x))

    @property
    def nfev(self) -> int:
        """SciPy's name of `points`."""
        return self.points

    @property
    def nit(self) -> int:
        """SciPy's name of `rounds`."""
        return self.rounds

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON values: x, fun, message, points, rounds, history."""
        plain = {"x": self.x.tolist(), "fun": self.fun, "message": self.message}
        if self._space is not None:
            plain["params"] = self.params
        return plain | {"points": self.points, "rounds": self.rounds, "history": self.history}

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__, "fun": self.fun, "_space": self._space}
        return {**state, "run": None, "_value": None}
