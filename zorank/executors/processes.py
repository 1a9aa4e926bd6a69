"""A pool of processes that outlives the loss of a worker."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager
from multiprocessing import get_context
from typing import Any

from zorank.errors import InvalidInput
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
        if workers is not None and (isinstance(workers, bool) or workers < 1):
            raise InvalidInput(f"workers must be a whole number from 1, found {workers!r}")
        self.workers = workers or os.cpu_count() or 1
        self._pool = self._make()
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
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = self._make()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the workers go."""
        self._pool.shutdown(wait, cancel_futures=cancel_futures)

    def _make(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.workers, get_context("spawn"), _alone_on_a_core)


def _alone_on_a_core() -> None:
    """Workers share the cores: each keeps its numeric libraries to one thread."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
