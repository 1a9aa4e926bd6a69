"""Minimise a function from the order of its values alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank import _figures, _mimebundle, optimizers
from zorank._arrays import as_numbers, is_real, is_whole
from zorank._privacy import check_same_values, values_meta
from zorank._progress import check_callback, progress_bar, stops
from zorank._records import check_flags
from zorank.errors import InvalidInput, ReplayError, short
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
"""Seconds. Much longer timeouts overflow the system clock."""


@dataclass(eq=False)
class Result:
    """The result of `minimize`.

    Attributes:
        x: the optimizer's estimate of the best point. A candidate may have had a slightly smaller
            value; under noise such a value is unreliable, so use x.
        points: the number of candidates evaluated for ranking.
        rounds: the number of slates answered.
        message: the reason for stopping.
        success: False if the run stopped before the limit of points.
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
        x = np.array2string(self.x, threshold=20, edgeitems=3, precision=6)
        return (
            f"{self.message}\n   points  {self.points}\n   rounds  {self.rounds}\n"
            f"      fun  {self.fun:.8g}\n        x  {x}"
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return _mimebundle.of_result(self)

    def plot(self) -> Any:
        """Return a Matplotlib figure of the values and the best so far."""
        return _figures.history_figure(self.history, self.run.name)

    @cached_property
    def fun(self) -> float:
        """f(x): evaluated on first access only; the optimizer never uses it."""
        return self._value(self.x)

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON values: x, fun, message, points, rounds, history."""
        plain = {"x": self.x.tolist(), "fun": self.fun, "message": self.message}
        return plain | {"points": self.points, "rounds": self.rounds, "history": self.history}


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
    record_values: bool = True,
) -> Result:
    """Minimise f from the ranks of its values alone.

    Args:
        f: maps a candidate (d,) to a finite number.
        x0: the start.
        points: the largest number of candidates to evaluate.
        method: a name in `zorank.optimizers.REGISTRY`, "auto" for the recommended method, or an
            optimizer object.
        seed: the same seed gives the same run, bit for bit.
        m: the number of candidates on a slate; None uses the method's default.
        k: how many of them are ranked; None ranks all.
        options: settings of the optimizer, by name.
        executor: a `concurrent.futures.Executor` that evaluates the candidates;
            `zorank.executors` has `Processes` and, for Dask, `Cluster`.
        callback: called with the result so far after every round; stops the run by returning True
            or raising StopIteration.
        progress: show a progress bar.
        bounds: a (low, high) pair for each coordinate, or SciPy's `Bounds`.
        maximize: maximise instead.
        vectorized: f takes all candidates (m, d) at once and returns m numbers.
        store: store the run here; if it has a run of this name, resume that run.
        name: the run's name in the store.
        deadline: seconds for a slate; late candidates are left unranked. Requires `executor`.
        record_values: whether the store keeps the best value of each slate. Without them it keeps
            candidates and rankings only; a resumed run has no values of earlier rounds.
    """
    _check_function(f)
    check_callback(callback)
    _check_points(points)
    check_flags(
        progress=progress, maximize=maximize, vectorized=vectorized, record_values=record_values
    )
    _check_executor(executor, deadline, vectorized)
    if not isinstance(options, Mapping | None):
        raise InvalidInput(f"options must map names to settings, found {short(options)}")
    settings = {**(options or {}), **_given(m=m, k=k, bounds=_bounds(bounds, x0))}
    optimizer = _optimizer(method, settings)
    meta = _objective_meta(f, bool(maximize)) | values_meta(record_values, optimizer, x0)
    run = Run(optimizer, x0, seed, store, name, meta=meta)
    _check_objective(run, meta)
    check_same_values(run, record_values)
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
            note = {"value": float(better(values[~np.isnan(values)]))}
            run.tell(answer, note=note if record_values else None)
            history += _with_best([{**run.history[-1], **note}], better, history)
            show(run.points, history[-1]["best"])
            if callback is not None and stops(callback, result("running", False)):
                return result("stopped by the callback", False)
    if run.points == 0:
        return result(f"{points} points are fewer than the {len(slate)} of one slate", False)
    return result(f"stopped at the limit of {points} points", True)


def _with_best(
    rows: Sequence[Mapping[str, Any]],
    better: Callable[..., float],
    before: Sequence[Mapping[str, Any]] = (),
) -> list[dict[str, Any]]:
    """Add the best value so far to each row; `before` are the preceding rows."""
    best = [row["best"] for row in before[-1:] if row["best"] is not None]
    complete = []
    for row in rows:
        if "value" in row:  # absent where a person answered
            best = [better([*best, row["value"]])]
        complete.append({**row, "best": best[0] if best else None})
    return complete


def _optimizer(method: str | AnyOptimizer, settings: Mapping[str, Any]) -> AnyOptimizer:
    if isinstance(method, str):
        return optimizers.make(method, settings)
    if settings:
        raise InvalidInput(
            f"{', '.join(settings)} cannot be set on an optimizer object; "
            "pass them to its constructor"
        )
    return method


def _objective_meta(f: Objective, maximize: bool) -> dict[str, Any]:
    return {
        "objective": f"{getattr(f, '__module__', '')}:{getattr(f, '__qualname__', '')}",
        "maximize": maximize,
    }


def _check_objective(run: Run, wanted: Mapping[str, Any]) -> None:
    """Raise if a resumed run has another objective; functions of a script may be renamed."""
    stored = run.record.meta
    if stored.get("maximize", wanted["maximize"]) != wanted["maximize"]:
        raise ReplayError(
            f"run {run.name!r} was started with maximize={stored['maximize']}; "
            "resume it with the same setting, or use another name"
        )
    old, new = str(stored.get("objective", "")), str(wanted["objective"])
    nameless = ("__main__", "<lambda>", "<locals>")
    if old and old != new and not any(part in old + new for part in nameless):
        raise ReplayError(
            f"run {run.name!r} was started with the function {old}, not {new}; "
            "resume it with the same function, or use another name"
        )


def _given(**settings: Any) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}


def _check_function(f: object) -> None:
    if not callable(f):
        raise InvalidInput(
            f"f must be a function that maps a candidate to a number, found {short(f)}"
        )


def _check_points(points: Any) -> None:
    if not is_whole(points) or points < 1:
        raise InvalidInput(f"points must be a whole number from 1, found {short(points)}")


def _check_executor(executor: Any, deadline: Any, vectorized: bool) -> None:
    is_object = executor is not None and not isinstance(executor, type)
    if executor is not None and not (is_object and callable(getattr(executor, "submit", None))):
        raise InvalidInput(
            f"executor must be a concurrent.futures.Executor, found {short(executor)}; for "
            "processes: zorank.executors.Processes(4)"
        )
    if executor is not None and vectorized:
        raise InvalidInput("a vectorized objective cannot use an executor; leave one of them out")
    if deadline is None:
        return
    if not (is_real(deadline) and 0 < deadline < LONGEST_DEADLINE):
        raise InvalidInput(
            f"deadline must be a number of seconds above 0 and below {LONGEST_DEADLINE:g}, "
            f"found {short(deadline)}"
        )
    if executor is None:
        raise InvalidInput("`deadline` requires `executor`")


def _bounds(bounds: Any, x0: ArrayLike) -> tuple[Any, Any] | None:
    """Convert pairs, or an object with lb and ub such as SciPy's, to (lower, upper)."""
    if bounds is None:
        return None
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        return _plain(bounds.lb), _plain(bounds.ub)
    try:
        # An iterator may be endless.
        listed: Any = bounds if isinstance(bounds, Sized) else islice(bounds, _size(x0) + 1)
        pairs = as_numbers(
            [(-np.inf if lo is None else lo, np.inf if hi is None else hi) for lo, hi in listed],
            "bounds",
        )
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"bounds must be a (low, high) pair for each coordinate, found {short(bounds)}"
        ) from error
    if pairs.ndim != 2:
        raise InvalidInput("bounds must be a (low, high) pair for each coordinate, found none")
    return pairs[:, 0].tolist(), pairs[:, 1].tolist()


def _size(x0: ArrayLike) -> int:
    try:
        return int(np.size(x0))
    except Exception:  # `Run` says what is wrong with x0
        return 1


def _plain(bound: ArrayLike) -> Any:
    array = as_numbers(bound, "a bound")
    return array.item() if array.size == 1 else array.tolist()
