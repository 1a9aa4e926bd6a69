"""A pool of processes that outlives the loss of a worker."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager
from multiprocessing import get_context, parent_process
from typing import Any

from zorank.errors import EvaluationError, InvalidInput
from zorank.executors.sharing import Reference, in_a_file, sendable
from zorank.slates import Design


class Processes(Executor):
    """Worker processes on this machine.

    They are spawned, not forked: a fork of a process whose libraries run threads can hang. So a
    script that uses them needs the usual `if __name__ == "__main__":`.

    Args:
        workers: how many; None is one for each core.
    """

    def __init__(self, workers: int | None = None) -> None:
        whole = isinstance(workers, int) and not isinstance(workers, bool)
        if workers is not None and not (whole and workers >= 1):
            raise InvalidInput(f"workers must be a whole number from 1, found {workers!r}")
        self.workers = workers or os.cpu_count() or 1
        self._context = get_context("spawn")
        self._started = self._context.Event()
        self._pool = self._make()
        self._late: list[Future[Any]] = []
        self._checked: Any = None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have a worker call it."""
        objective = args[0] if args and callable(args[0]) else fn
        if objective is not self._checked:
            sendable(objective)
            self._checked = objective
        return self._pool.submit(fn, *args, **kwargs)

    def share(self, design: Design) -> AbstractContextManager[Reference]:
        """The design where all workers can read it."""
        return in_a_file(design)

    def renew(self) -> None:
        """New workers instead of a pool that lost one."""
        if not self._started.is_set():
            raise EvaluationError(
                "worker processes could not start; a script that uses them runs its own code "
                'under `if __name__ == "__main__":`, and its objective is in a file, not typed '
                "in or given by -c"
            )
        self._end(self._pool)
        self._pool = self._make()

    def leave(self, late: Iterable[Future[Any]]) -> None:
        """Let late ones go on; when they keep all workers busy, start anew without them."""
        self._late = [future for future in [*self._late, *late] if not future.done()]
        if len(self._late) >= self.workers:
            self._late = []
            self.renew()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the workers go; those that are late are not waited for."""
        if any(not future.done() for future in self._late):
            self._end(self._pool)
        else:
            self._pool.shutdown(wait, cancel_futures=cancel_futures)

    def _make(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self.workers, self._context, _begin_work, initargs=(self._started,)
        )

    @staticmethod
    def _end(pool: ProcessPoolExecutor) -> None:
        workers = list((getattr(pool, "_processes", None) or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in workers:
            process.kill()


def _begin_work(started: Any) -> None:
    """In a worker: say that it runs, keep to one core, and do not outlive who sent it."""
    from threadpoolctl import threadpool_limits

    started.set()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    threadpool_limits(1)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)
