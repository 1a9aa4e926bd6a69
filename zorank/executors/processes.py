"""A pool of processes that replaces lost workers."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import AbstractContextManager
from multiprocessing import get_context, parent_process
from typing import Any

from zorank.errors import EvaluationError, InvalidInput, short
from zorank.executors.shared_memory import SharedDesign, check_picklable, shared_design
from zorank.executors.workers import WorkerExecutor
from zorank.slates import Design

MAX_WORKERS = 1000
"""A machine cannot start many more processes."""


class Processes(WorkerExecutor):
    """Worker processes on this machine.

    They are spawned, because a forked process may hang if its parent runs threads. A script that
    uses them needs `if __name__ == "__main__":`.

    Args:
        workers: the number of processes; None uses one for each core.
    """

    def __init__(self, workers: int | None = None) -> None:
        whole = isinstance(workers, int) and not isinstance(workers, bool)
        if workers is not None and not (whole and 1 <= workers <= MAX_WORKERS):
            raise InvalidInput(
                f"workers must be a whole number from 1 to {MAX_WORKERS}, found {short(workers)}"
            )
        self.workers = workers or os.cpu_count() or 1
        self._context = get_context("spawn")
        self._started = self._context.Event()
        self._pool = self._make()
        self._late: list[Future[Any]] = []
        self._checked: Any = None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a call to a worker."""
        objective = args[0] if args and callable(args[0]) else fn
        if objective is not self._checked:
            check_picklable(objective)
            self._checked = objective
        return self._pool.submit(fn, *args, **kwargs)

    def share(self, design: Design) -> AbstractContextManager[SharedDesign]:
        """Write the design to a file that all workers can read."""
        return shared_design(design)

    def renew(self) -> None:
        """Replace the pool."""
        if not self._started.is_set():
            raise EvaluationError(
                "worker processes could not start; a script that uses them must run under "
                '`if __name__ == "__main__":`, and the objective must be in a file, not typed in '
                "or given by -c"
            )
        self._kill(self._pool)
        self._pool = self._make()

    def abandon(self, late: Iterable[Future[Any]]) -> None:
        """Let late tasks run; when they occupy all workers, replace the pool."""
        self._late = [future for future in [*self._late, *late] if not future.done()]
        if len(self._late) >= self.workers:
            self._late = []
            self.renew()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop the workers, without waiting for late tasks."""
        if any(not future.done() for future in self._late):
            self._kill(self._pool)
        else:
            self._pool.shutdown(wait, cancel_futures=cancel_futures)

    def _make(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self.workers, self._context, _initialize, initargs=(self._started,)
        )

    @staticmethod
    def _kill(pool: ProcessPoolExecutor) -> None:
        # ProcessPoolExecutor has no public way to kill its workers.
        workers = list((getattr(pool, "_processes", None) or {}).values())
        manager = getattr(pool, "_executor_manager_thread", None)
        pool.shutdown(wait=False, cancel_futures=True)
        # The pool's thread must drop cancelled futures before it sees dead workers; else it
        # fails when it sets an exception on them (CPython 3.11, terminate_broken).
        while manager is not None and manager.is_alive() and pool._cancel_pending_futures:
            time.sleep(0.001)
        for process in workers:
            process.kill()


def _initialize(started: Any) -> None:
    """Set up a worker: signal its start, use one core, and exit with the parent process."""
    from threadpoolctl import threadpool_limits

    started.set()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    threadpool_limits(1)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_exit_with, args=(parent,), daemon=True).start()


def _exit_with(parent: Any) -> None:
    parent.join()
    os._exit(1)
