"""One call: minimise a function of which only the order of its values is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank import optimizers
from zorank._progress import progress_bar, stops
from zorank.errors import InvalidInput, ReplayError
from zorank.executors import Objective, evaluate
from zorank.protocols import AnyOptimizer, Store
from zorank.run import Run
from zorank.slates import Points, Slate
from zorank.types import Vector

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from numpy.typing import ArrayLike

Callback = Callable[["Result"], Any]

LONGEST_DEADLINE = 1e6
"""Seconds; a wait beyond some years overflows a clock."""


@dataclass(eq=False)
class Result:
    """What `minimize` found.

    Attributes:
        x: the point the optimizer holds to be best. A candidate of some slate may have had a
            slightly smaller value; under noise that is luck, so x is what to use.
        points: candidates evaluated for ranking.
        rounds: slates answered.
        message: why it stopped.
        success: False if it was stopped before the limit of points.
        history: one row a round: round, points, question, value (the best of this slate), best (of
            all so far), and what the optimizer reports.
        run: the run behind it, to go on with, undo or branch.
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
        x = np.array2string(self.x, threshold=20, edgeitems=3, precision=6)
        return (
            f"{self.message}\n   points  {self.points}\n   rounds  {self.rounds}\n"
            f"      fun  {self.fun:.8g}\n        x  {x}"
        )

    @cached_property
    def fun(self) -> float:
        """f(x): evaluated once, when it is first looked at, and never told to the optimizer."""
        return self._value(self.x)


def minimize(
    f: Objective,
    x0: ArrayLike,
    points: int = 3000,
    method: str | AnyOptimizer = "auto",
    seed: int = 0,
    m: int | None = None,
    k: int | None = None,
    options: Mapping[str, Any] | None = MappingProxyType({}),
    executor: Executor | None = None,
    callback: Callback | None = None,
    progress: bool = False,
    bounds: Any = None,
    maximize: bool = False,
    vectorized: bool = False,
    store: Store | str | None = None,
    name: str | None = None,
    deadline: float | None = None,
) -> Result:
    """Minimise f from the ranks of its values alone.

    Args:
        f: a candidate (d,) → a finite number.
        x0: the start.
        points: how many candidates may be evaluated.
        method: a name in `zorank.optimizers.REGISTRY`, "auto" for the one recommended, or an
            optimizer of your own.
        seed: the same seed gives the same run, bit for bit.
        m: candidates on a slate; None leaves it to the method.
        k: how many of them are ranked; None ranks all.
        options: the optimizer's own settings, by their names.
        executor: a `concurrent.futures.Executor` that evaluates a slate's candidates;
            `zorank.executors` has one of processes and one of a Dask cluster's workers.
        callback: called with the result so far after every round; stops the run by returning True
            or raising StopIteration.
        progress: show a progress bar.
        bounds: a (low, high) pair for each coordinate, or one object with lb and ub, as SciPy's.
        maximize: maximise instead.
        vectorized: f takes all candidates (m, d) at once and returns m numbers.
        store: keep the run here; with a name that exists, go on with that run.
        name: the run's name in the store.
        deadline: seconds an executor has for a slate; candidates that are late are left unranked.
    """
    _check_points(points)
    _check_executor(executor, deadline, vectorized)
    if not isinstance(options, Mapping | None):
        raise InvalidInput(f"options are settings by name, found {options!r:.60}")
    settings = {**(options or {}), **_given(m=m, k=k, bounds=_bounds(bounds))}
    optimizer = _optimizer(method, settings)
    run = Run(optimizer, x0, seed, store, name, meta=_purpose(f, maximize))
    _check_purpose(run, _purpose(f, maximize))
    better = max if maximize else min
    history = _with_best(run.history, better)

    def result(message: str, success: bool) -> Result:
        def value(x: Vector) -> float:
            return float(evaluate(f, Slate(Points(x[None])), vectorized=vectorized)[0])

        return Result(
            run.best(), run.points, len(history), message, success, list(history), run, value
        )

    with progress_bar(progress, points, "points", "best") as show:
        while run.points + len(slate := run.ask()) <= points:
            values = evaluate(
                f, slate, vectorized=vectorized, executor=executor, deadline=deadline
            )
            answer = slate.answer_from(-values if maximize else values)
            run.tell(answer, note={"value": float(better(values[~np.isnan(values)]))})
            history += _with_best(run.history[-1:], better, history)
            show(run.points, history[-1]["best"])
            if callback is not None and stops(callback, result("running", False)):
                return result("the callback stopped it", False)
    if run.points == 0:
        return result(f"a slate has {len(slate)} candidates; {points} points allow none", False)
    return result(f"stopped at the limit of {points} points", True)


def _with_best(
    rows: Sequence[Mapping[str, Any]],
    better: Callable[..., float],
    before: Sequence[Mapping[str, Any]] = (),
) -> list[dict[str, Any]]:
    """The rows with the best value up to each; `before` are the rows that precede them."""
    best = [row["best"] for row in before[-1:] if row["best"] is not None]
    complete = []
    for row in rows:
        if "value" in row:  # a round that a person answered has none
            best = [better([*best, row["value"]])]
        complete.append({**row, "best": best[0] if best else None})
    return complete


def _optimizer(method: str | AnyOptimizer, settings: Mapping[str, Any]) -> AnyOptimizer:
    if isinstance(method, str):
        return optimizers.make(method, settings)
    if settings:
        raise InvalidInput(
            f"{', '.join(settings)} cannot be set on an optimizer that is given ready-made; "
            "set them when you make it"
        )
    return method


def _purpose(f: Objective, maximize: bool) -> dict[str, Any]:
    return {
        "objective": f"{getattr(f, '__module__', '')}:{getattr(f, '__qualname__', '')}",
        "maximize": maximize,
    }


def _check_purpose(run: Run, wanted: Mapping[str, Any]) -> None:
    """Raise if the run was begun for another purpose; functions of a script may change names."""
    kept = run.record.meta
    if kept.get("maximize", wanted["maximize"]) != wanted["maximize"]:
        raise ReplayError(
            f"run {run.name!r} was begun with maximize={kept['maximize']}; "
            "continue it in the same sense, or use another name"
        )
    old, new = str(kept.get("objective", "")), str(wanted["objective"])
    nameless = ("__main__", "<lambda>", "<locals>")
    if old and old != new and not any(part in old + new for part in nameless):
        raise ReplayError(
            f"run {run.name!r} was begun for {old}, not for {new}; "
            "continue it with the same function, or use another name"
        )


def _given(**settings: Any) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}


def _check_points(points: object) -> None:
    if isinstance(points, bool) or not isinstance(points, (int, np.integer)) or points < 1:
        raise InvalidInput(f"points must be a whole number from 1, found {points!r}")


def _check_executor(executor: Any, deadline: Any, vectorized: bool) -> None:
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise InvalidInput(
            f"executor must be a concurrent.futures.Executor, found {executor!r:.60}; for "
            "processes: zorank.executors.Processes(4)"
        )
    if executor is not None and vectorized:
        raise InvalidInput("a vectorized objective takes all candidates at once: no executor")
    if deadline is None:
        return
    number = isinstance(deadline, (int, float)) and not isinstance(deadline, bool)
    if not (number and 0 < deadline < LONGEST_DEADLINE):
        raise InvalidInput(f"deadline must be a number of seconds above 0, found {deadline!r:.60}")
    if executor is None:
        raise InvalidInput("a deadline is for an executor: nobody else can be late")


def _bounds(bounds: Any) -> tuple[Any, Any] | None:
    """SciPy's bounds, pairs or an object with lb and ub, as (lower, upper)."""
    if bounds is None:
        return None
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        return _plain(bounds.lb), _plain(bounds.ub)
    try:
        pairs = np.array(
            [(-np.inf if lo is None else lo, np.inf if hi is None else hi) for lo, hi in bounds],
            dtype=np.float64,
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(
            f"bounds must be a (low, high) pair for each coordinate, found {bounds!r:.60}"
        ) from error
    if pairs.ndim != 2:
        raise InvalidInput("bounds must be a (low, high) pair for each coordinate, found none")
    return pairs[:, 0].tolist(), pairs[:, 1].tolist()


def _plain(bound: ArrayLike) -> Any:
    try:
        array = np.asarray(bound, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"a bound must be numbers, found {bound!r:.60}") from error
    return array.item() if array.size == 1 else array.tolist()
