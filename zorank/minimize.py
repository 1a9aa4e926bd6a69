"""Minimise a function from the order of its values alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank import optimizers
from zorank._arrays import as_numbers, is_real, is_whole, refuse_masked
from zorank._objectives import Judge, read_constraints, wrapped
from zorank._privacy import values_meta
from zorank._progress import as_scipy, check_callback
from zorank._records import check_flags
from zorank._results import Result
from zorank._search import Search, check_starts, pool
from zorank._setup import KEY, space_settings
from zorank._stopping import Stopping
from zorank.errors import InvalidInput, short
from zorank.executors import Objective
from zorank.protocols import AnyOptimizer, Store
from zorank.spaces import Parameter, SearchSpace
from zorank.stores import as_store

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from numpy.typing import ArrayLike

__all__ = ["Callback", "Result", "minimize"]

Callback = Callable[[Result], Any]

LONGEST_DEADLINE = 1e6
"""Seconds. Much longer timeouts overflow the system clock."""


def minimize(
    f: Objective | Callable[..., Any],
    x0: ArrayLike | None = None,
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
    *,
    space: SearchSpace | Mapping[str, Parameter] | None = None,
    args: Sequence[Any] = (),
    constraints: Any = None,
    workers: int | None = None,
    starts: int = 1,
    patience: int | None = None,
    xtol: float | None = None,
) -> Result:
    """Minimise f from the ranks of its values alone.

    Args:
        f: maps a candidate (d,), or a dict of parameters, to a number. Infinite values are ranked
            after all others, and NaN after them.
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
            or raising StopIteration. A parameter named `xk` gets x instead, as in SciPy.
        progress: show a progress bar.
        bounds: a (low, high) pair for each coordinate, or SciPy's `Bounds`. Where both are
            finite, auto's sigma0 is .3 of the range.
        maximize: maximise instead.
        vectorized: f takes all candidates at once, an array (m, d) with a candidate in each row,
            or a list of m dicts if there is a space, and returns m numbers. m varies. (SciPy's
            `differential_evolution` passes the transpose.)
        store: store the run here; if it has a run of this name, resume that run.
        name: the run's name in the store.
        deadline: seconds for a slate; late candidates are left unranked. Requires `executor` or
            `workers`.
        record_values: whether the store keeps the best value of each slate. Without them it keeps
            candidates and rankings only; a resumed run has no values of earlier rounds.
        space: named parameters instead of x0, such as {"lr": zorank.Log(1e-5, 1e-1)}; f and the
            constraints then get a dict, and the result has `params`.
        args: more arguments of f and the constraints, after the first.
        constraints: functions whose numbers are at least 0, or which return True, where a
            candidate is feasible; also SciPy's. f is not called for infeasible candidates, which
            are ranked last, by the sum of their violations. They get one candidate at a time.
        workers: the number of processes that evaluate candidates.
        starts: the number of starts, each with its share of the points; returns the best
            result. The first start is x0.
        patience: stop after this many rounds without a better value. With constraints, rounds
            count from the first feasible candidate on.
        xtol: stop when at least half of a slate's candidates differ from x by at most this in
            every coordinate.
    """
    _check_function(f)
    check_callback(callback)
    _check_points(points)
    check_flags(
        progress=progress, maximize=maximize, vectorized=vectorized, record_values=record_values
    )
    _check_executor(executor, deadline, vectorized, workers)
    if not isinstance(options, Mapping | None):
        raise InvalidInput(f"options must map names to settings, found {short(options)}")
    # Without constraints and with a record of values, a missing value was not finite.
    stopping = Stopping(patience, xtol, counts_missing=not constraints and record_values)
    given, start, declared = _read_space(space, x0, bounds)
    target = wrapped(f, args, declared, vectorized)
    settings = {**(options or {}), **_given(m=m, k=k, bounds=_bounds(bounds, start))}
    optimizer, store = _optimizer_for(method, settings, declared, store, name)
    meta = _objective_meta(f, bool(maximize)) | values_meta(record_values, optimizer, start)
    limits = read_constraints(constraints, tuple(args))
    with pool(workers) as opened:
        judge = Judge(target, maximize, vectorized, opened or executor, deadline, limits, declared)
        search = Search(
            judge, optimizer, stopping, seed, as_scipy(callback), progress, meta | given
        )
        return search.from_starts(check_starts(starts), start, points, store, name)


def _read_space(
    space: Any, x0: ArrayLike | None, bounds: Any
) -> tuple[dict[str, Any], Any, SearchSpace | None]:
    """Return the entry of the metadata for the space, the start, and the space."""
    if space is None:
        if x0 is None:
            raise InvalidInput("minimize needs a start: give x0, or a space of named parameters")
        return {}, x0, None
    for name, value in (("x0", x0), ("bounds", bounds)):
        if value is not None:
            raise InvalidInput(
                f"space and {name} exclude each other, because a space has its own ranges; "
                "leave one of them out"
            )
    found = SearchSpace.of(space)
    return {KEY: found.to_json()}, found.start(), found


def _optimizer_for(
    method: str | AnyOptimizer,
    settings: Mapping[str, Any],
    space: SearchSpace | None,
    store: Any,
    name: str | None,
) -> tuple[AnyOptimizer, Any]:
    """Return the optimizer, and the store, which is opened to find the run of this name.

    A run that was stored before sigma0 followed from bounds continues with its own sigma0.
    """
    if space is not None:
        settings = {**space_settings(method, space), **settings}
    elif store is not None and name is not None and method == "auto" and "sigma0" not in settings:
        store = as_store(store)
        stored = next((run for run in store.runs() if run.name == name), None)
        if stored is not None and stored.optimizer == method and "sigma0" in stored.options:
            settings = {**settings, "sigma0": stored.options["sigma0"]}
    return _optimizer(method, settings), store


def _optimizer(method: str | AnyOptimizer, settings: Mapping[str, Any]) -> AnyOptimizer:
    if isinstance(method, str):
        return optimizers.make(method, settings)
    if settings:
        raise InvalidInput(
            f"{', '.join(settings)} cannot be set on an optimizer object; "
            "pass them to its constructor"
        )
    return method


def _objective_meta(f: Any, maximize: bool) -> dict[str, Any]:
    return {
        "objective": f"{getattr(f, '__module__', '')}:{getattr(f, '__qualname__', '')}",
        "maximize": maximize,
    }


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


def _check_executor(executor: Any, deadline: Any, vectorized: bool, workers: Any) -> None:
    is_object = executor is not None and not isinstance(executor, type)
    if executor is not None and not (is_object and callable(getattr(executor, "submit", None))):
        raise InvalidInput(
            f"executor must be a concurrent.futures.Executor, found {short(executor)}; for "
            "processes: zorank.executors.Processes(4)"
        )
    if workers is not None and executor is not None:
        raise InvalidInput("workers and executor exclude each other; leave one of them out")
    if (executor is not None or workers is not None) and vectorized:
        given = "an executor" if workers is None else "workers"
        raise InvalidInput(
            f"a vectorized objective cannot use {given}, because it takes all candidates at once; "
            "leave one of them out"
        )
    if deadline is None:
        return
    if not (is_real(deadline) and 0 < deadline < LONGEST_DEADLINE):
        raise InvalidInput(
            f"deadline must be a number of seconds above 0 and below {LONGEST_DEADLINE:g}, "
            f"found {short(deadline)}"
        )
    if executor is None and workers is None:
        raise InvalidInput("`deadline` requires `executor` or `workers`")


def _bounds(bounds: Any, x0: ArrayLike) -> tuple[Any, Any] | None:
    """Convert pairs, or an object with lb and ub such as SciPy's, to (lower, upper)."""
    if bounds is None:
        return None
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        return _plain(bounds.lb), _plain(bounds.ub)
    refuse_masked(bounds, "bounds")
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
