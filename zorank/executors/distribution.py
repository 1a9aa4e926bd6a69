"""A slate's candidates, evaluated by others.

A worker is sent a position and a reference to the slate's design, and makes the candidate itself.
So nothing that is sent grows with m · d, and the values are the same whoever works, in whatever
order they finish.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
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


def distribute(
    f: Objective, slate: Slate, executor: Executor, deadline: float | None
) -> dict[int, Any]:
    """The values found, by position, in the slate's order."""
    end = None if deadline is None else monotonic() + deadline
    found: dict[int, Any] = {}
    with _sharing(executor, f, slate) as submit:
        for _ in range(1 + RENEWALS):
            missing = [i for i in range(len(slate)) if i not in found]
            try:
                futures = {submit(i): i for i in missing}
                _wait(futures, slate, len(found), end)
                lost = _collect(futures, found)
            except BrokenExecutor as error:  # refused at once: a pool that was lost before
                lost = error
            if lost is None:
                return dict(sorted(found.items()))
            renew = getattr(executor, "renew", None)
            if renew is None:
                break
            renew()
    left = ", ".join(str(i) for i in range(len(slate)) if i not in found)
    raise EvaluationError(
        f"a worker process died while it evaluated candidates ({left} are left); it may have run "
        "out of memory, or the objective crashes the interpreter. The run is as it was before "
        "this slate and can go on"
    ) from lost


def _wait(futures: dict[Future[Any], int], slate: Slate, known: int, end: float | None) -> None:
    """Until all are done; or past the end, once those are that an answer cannot do without."""
    needs_all = slate.question == "values"
    needs_first = slate.question in ("best", "compare")  # all others are compared with it
    pending = set(futures)
    while pending:
        late = end is not None and monotonic() >= end
        done = known + len(futures) - len(pending)
        first = any(futures[p] == 0 for p in pending)
        if late and not needs_all and not (needs_first and first) and done >= min(2, len(slate)):
            for future in pending:
                future.cancel()
            return
        rest = None if end is None or late else end - monotonic()
        finished, pending = wait(pending, timeout=rest, return_when=FIRST_COMPLETED)
        if any(not f.cancelled() and f.exception() is not None for f in finished):
            for future in pending:
                future.cancel()
            return


def _collect(futures: dict[Future[Any], int], found: dict[int, Any]) -> BrokenExecutor | None:
    """Add what was found; return a worker's loss, raise what the objective raised."""
    lost = None
    for future, i in futures.items():
        if future.cancelled() or not future.done():
            continue
        error = future.exception()
        if isinstance(error, BrokenExecutor):
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
    if slate[0].nbytes <= SMALL and not isinstance(executor, ThreadPoolExecutor):
        if isinstance(executor, ProcessPoolExecutor):
            sendable(f)
        yield lambda i: executor.submit(f, slate[i])
        return
    share = getattr(executor, "share", None)
    if share is None and isinstance(executor, ProcessPoolExecutor):
        sendable(f)
        share = in_a_file
    if share is None:  # the design itself: threads see it, others are sent it
        yield lambda i: executor.submit(_value, f, slate.design, i)
        return
    with share(slate.design) as reference:
        yield lambda i: executor.submit(_value, f, reference, i)


def _value(f: Objective, design: Any, i: int) -> Any:
    """In a worker: make the candidate, and evaluate it."""
    return f((design.load() if isinstance(design, Reference) else design).row(i))
