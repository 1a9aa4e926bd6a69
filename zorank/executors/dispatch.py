"""Evaluates a slate's candidates on the workers of an executor.

A worker receives a position and a reference to the slate's design, and makes the candidate itself.
So no message grows with m · d, and the values do not depend on the workers or their order.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
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

from zorank.errors import EvaluationError, InvalidInput, ZorankError, short
from zorank.executors.evaluation import Objective
from zorank.executors.shared_memory import SharedDesign, check_picklable, shared_design
from zorank.executors.workers import WorkerExecutor
from zorank.slates import Slate

SMALL_CANDIDATE = 1 << 16
"""Bytes. Larger candidates are not sent; workers make them from the design."""

RENEWALS = 3
"""How often workers are replaced for one slate before it fails."""

GRACE_FACTOR = 10
"""The values that an answer requires are waited for at most this many deadlines."""

Futures = dict[Future[Any], int]


def dispatch(
    f: Objective, slate: Slate, executor: Executor, deadline: float | None
) -> dict[int, Any]:
    """Return the values by position, in the slate's order."""
    end = None if deadline is None else monotonic() + deadline
    last = None if deadline is None else monotonic() + GRACE_FACTOR * deadline
    found: dict[int, Any] = {}
    loss: BaseException | None = None
    for attempt in range(1 + RENEWALS):
        if attempt:
            if not isinstance(executor, WorkerExecutor):
                break
            executor.renew()
        loss = _attempt(f, slate, executor, found, end, last)
        if loss is None:
            return dict(sorted(found.items()))
    missing = ", ".join(str(i) for i in range(len(slate)) if i not in found)
    raise EvaluationError(
        f"workers were lost while they evaluated candidates ({missing} are not evaluated); they "
        "may have run out of memory, or the objective crashes the interpreter. The run is as "
        "before this slate and can be resumed"
    ) from loss


def _attempt(
    f: Objective,
    slate: Slate,
    executor: Executor,
    found: dict[int, Any],
    end: float | None,
    last: float | None,
) -> BaseException | None:
    """Submit the missing candidates and add their values; return the loss of a worker, if any."""
    workers = executor if isinstance(executor, WorkerExecutor) else None
    try:
        with _shared(executor, f, slate) as submit:
            futures = _submit(submit, [i for i in range(len(slate)) if i not in found])
            late = _wait(futures, slate, len(found), end, last)
            loss = _collect(futures, late, found, workers.loss_errors if workers else ())
    except BrokenExecutor as error:  # the pool was broken before
        return error
    if late and workers:
        workers.abandon(late)
    return loss


def _submit(submit: Callable[[int], Future[Any]], positions: Sequence[int]) -> Futures:
    """Submit candidates; raise unless the executor takes them and returns a future for each."""
    futures: Futures = {}
    for i in positions:
        try:
            future: Any = submit(i)
        except (BrokenExecutor, ZorankError):
            raise
        except RuntimeError as error:  # it was shut down
            raise EvaluationError(
                f"the executor takes no tasks ({error}); pass one that is open. The run is as "
                "before this slate and can be resumed"
            ) from error
        if not isinstance(future, Future) or future in futures:
            raise InvalidInput(
                "submit of an executor must return a new concurrent.futures.Future for each "
                f"task, found {short(future)}"
            )
        futures[future] = i
    return futures


def _wait(
    futures: Futures, slate: Slate, known: int, end: float | None, last: float | None
) -> frozenset[Future[Any]]:
    """Wait until all are done or one fails; after the end, only for the values required.

    Returns the futures that are late.
    """
    needs_all = slate.question == "values"
    needs_first = slate.question in ("best", "compare")  # the others are compared with the first
    pending = set(futures)
    while pending:
        over = end is not None and monotonic() >= end
        done = known + len(futures) - len(pending)
        first = any(futures[p] == 0 for p in pending)
        if over and not needs_all and not (needs_first and first) and done >= min(2, len(slate)):
            return _cancel(pending)
        if over and last is not None and monotonic() >= last and not needs_all:
            _cancel(pending)
            raise EvaluationError(
                f"only {done} of {len(slate)} candidates were evaluated in {GRACE_FACTOR} times "
                "the deadline, too few for an answer; increase the deadline, or check whether "
                "workers hang. The run is as before this slate and can be resumed"
            )
        until = last if over else end
        rest = None if until is None or needs_all else max(0.0, until - monotonic())
        finished, pending = wait(pending, timeout=rest, return_when=FIRST_COMPLETED)
        if any(future.cancelled() or future.exception() is not None for future in finished):
            return _cancel(pending)
    return frozenset()


def _cancel(pending: set[Future[Any]]) -> frozenset[Future[Any]]:
    for future in pending:
        future.cancel()
    return frozenset(pending)


def _collect(
    futures: Futures,
    late: frozenset[Future[Any]],
    found: dict[int, Any],
    loss_errors: tuple[type[BaseException], ...],
) -> BaseException | None:
    """Add the values to `found`; return a worker's loss, and raise an error of the objective."""
    loss: BaseException | None = None
    for future, i in futures.items():
        if future in late and (future.cancelled() or not future.done()):
            continue
        # Cancelled by the executor: a cluster does so when it loses the data of a task.
        error = CancelledError() if future.cancelled() else future.exception()
        if isinstance(error, (BrokenExecutor, CancelledError, *loss_errors)):
            loss = error
        elif error is not None:
            error.add_note(f"The objective raised this for candidate {i}, in a worker.")
            raise error
        else:
            found[i] = future.result()
    return loss


@contextmanager
def _shared(
    executor: Executor, f: Objective, slate: Slate
) -> Iterator[Callable[[int], Future[Any]]]:
    """Yield a function that submits a position, and sends as little as this executor allows."""
    processes = isinstance(executor, ProcessPoolExecutor)
    if processes:
        check_picklable(f)
    if isinstance(executor, ThreadPoolExecutor):
        yield lambda i: executor.submit(_value, f, slate.design, i)
    elif 8 * slate.dim <= SMALL_CANDIDATE:
        yield lambda i: executor.submit(_call, f, slate[i])
    elif processes or isinstance(executor, WorkerExecutor):
        share = executor.share if isinstance(executor, WorkerExecutor) else shared_design
        with share(slate.design) as reference:
            yield lambda i: executor.submit(_value, f, reference, i)
    else:
        yield lambda i: executor.submit(_value, f, slate.design, i)


def _value(f: Objective, design: Any, i: int) -> Any:
    """Make candidate i and evaluate it; runs in a worker."""
    return _call(f, (design.load() if isinstance(design, SharedDesign) else design).row(i))


def _call(f: Objective, x: Any) -> Any:
    """Call f; replace an exception that cannot be pickled. Runs in a worker."""
    try:
        return f(x)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            message = f"the objective raised {type(error).__name__}: {error}"
            raise EvaluationError(message) from None
        raise
