"""A slate's candidates, evaluated by others.

A worker is sent a position and a reference to the slate's design, and makes the candidate itself.
So nothing that is sent grows with m · d, and the values are the same whoever works, in whatever
order they finish.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from time import monotonic
from typing import Any

from zorank.errors import EvaluationError
from zorank.executors.evaluation import Objective
from zorank.executors.sharing import Reference, in_a_file, sendable
from zorank.slates import Slate

SMALL = 1 << 16
"""Candidates of up to so many bytes are sent as they are; of larger ones only the recipe is."""

RENEWALS = 3
"""How often the workers of one slate may be lost before it is given up."""

PATIENCE = 10
"""So many deadlines are waited for what an answer cannot do without."""

Futures = dict[Future[Any], int]


def distribute(
    f: Objective, slate: Slate, executor: Executor, deadline: float | None
) -> dict[int, Any]:
    """The values found, by position, in the slate's order."""
    end = None if deadline is None else monotonic() + deadline
    last = None if deadline is None else monotonic() + PATIENCE * deadline
    found: dict[int, Any] = {}
    lost: BaseException | None = None
    for attempt in range(1 + RENEWALS):
        if attempt:
            renew = getattr(executor, "renew", None)
            if renew is None:
                break
            renew()
        lost = _attempt(f, slate, executor, found, end, last)
        if lost is None:
            return dict(sorted(found.items()))
    left = ", ".join(str(i) for i in range(len(slate)) if i not in found)
    raise EvaluationError(
        f"workers were lost while they evaluated candidates ({left} are left); they may have run "
        "out of memory, or the objective crashes the interpreter. The run is as it was before "
        "this slate and can go on"
    ) from lost


def _attempt(
    f: Objective,
    slate: Slate,
    executor: Executor,
    found: dict[int, Any],
    end: float | None,
    last: float | None,
) -> BaseException | None:
    """Hand out what is missing and add what is found; the loss of a worker, if there was one."""
    try:
        with _sharing(executor, f, slate) as submit:
            futures = {submit(i): i for i in range(len(slate)) if i not in found}
            late = _wait(futures, slate, len(found), end, last)
            lost = _collect(futures, late, found, getattr(executor, "losses", ()))
    except BrokenExecutor as error:  # refused at once: a pool that was lost before
        return error
    leave = getattr(executor, "leave", None)
    if late and leave is not None:
        leave(late)
    return lost


def _wait(
    futures: Futures, slate: Slate, known: int, end: float | None, last: float | None
) -> frozenset[Future[Any]]:
    """Until all are done, or one fails; past the end, only for what an answer cannot do without.

    Returns those that are late and not waited for.
    """
    needs_all = slate.question == "values"
    needs_first = slate.question in ("best", "compare")  # all others are compared with it
    pending = set(futures)
    while pending:
        over = end is not None and monotonic() >= end
        done = known + len(futures) - len(pending)
        first = any(futures[p] == 0 for p in pending)
        if over and not needs_all and not (needs_first and first) and done >= min(2, len(slate)):
            return _given_up(pending)
        if over and last is not None and monotonic() >= last and not needs_all:
            _given_up(pending)
            raise EvaluationError(
                f"only {done} of {len(slate)} candidates were evaluated in {PATIENCE} times the "
                "deadline, too few for an answer; allow more time, or see whether workers hang. "
                "The run is as it was before this slate and can go on"
            )
        until = last if over else end
        rest = None if until is None or needs_all else max(0.0, until - monotonic())
        finished, pending = wait(pending, timeout=rest, return_when=FIRST_COMPLETED)
        if any(future.cancelled() or future.exception() is not None for future in finished):
            return _given_up(pending)
    return frozenset()


def _given_up(pending: set[Future[Any]]) -> frozenset[Future[Any]]:
    for future in pending:
        future.cancel()
    return frozenset(pending)


def _collect(
    futures: Futures,
    late: frozenset[Future[Any]],
    found: dict[int, Any],
    losses: tuple[type[BaseException], ...],
) -> BaseException | None:
    """Add what was found; return a worker's loss, raise what the objective raised."""
    lost: BaseException | None = None
    for future, i in futures.items():
        if future in late and (future.cancelled() or not future.done()):
            continue
        # Whoever cancelled it, it was not us: a cluster does when it loses what a task needs.
        error = CancelledError() if future.cancelled() else future.exception()
        if isinstance(error, (BrokenExecutor, CancelledError, *losses)):
            lost = error
        elif error is not None:
            error.add_note(f"The objective raised this for candidate {i}, in a worker.")
            raise error
        else:
            found[i] = future.result()
    return lost


@contextmanager
def _sharing(
    executor: Executor, f: Objective, slate: Slate
) -> Iterator[Callable[[int], Future[Any]]]:
    """How to hand out a position: the way that sends least, by what the executor is."""
    standard = isinstance(executor, ProcessPoolExecutor)
    if standard:
        sendable(f)
    if isinstance(executor, ThreadPoolExecutor):
        yield lambda i: executor.submit(_value, f, slate.design, i)
        return
    if 8 * slate.dim <= SMALL:
        yield lambda i: executor.submit(_call, f, slate[i])
        return
    share = in_a_file if standard else getattr(executor, "share", None)
    if share is None:
        yield lambda i: executor.submit(_value, f, slate.design, i)
        return
    with share(slate.design) as reference:
        yield lambda i: executor.submit(_value, f, reference, i)


def _value(f: Objective, design: Any, i: int) -> Any:
    """In a worker: make the candidate, and evaluate it."""
    return _call(f, (design.load() if isinstance(design, Reference) else design).row(i))


def _call(f: Objective, x: Any) -> Any:
    """In a worker: what f says; what it raises must survive the way back."""
    try:
        return f(x)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            told = f"the objective raised {type(error).__name__}: {error}"
            raise EvaluationError(told) from None
        raise
