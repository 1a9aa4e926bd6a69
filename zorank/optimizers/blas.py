"""Limit BLAS to one thread, so that results do not depend on the number of cores."""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

NEEDLESS = range(100, 1000)
"""Dimensions in which BLAS would use threads for products of a few milliseconds."""


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController  # inspects every loaded library: do it once

    return ThreadpoolController()


class OneThread:
    """A limit for the whole process: the first to enter sets it, the last to leave lifts it."""

    def __init__(self) -> None:
        self._lock, self._users, self._limit = threading.Lock(), 0, None

    def __enter__(self) -> None:
        with self._lock:
            if self._users == 0:
                self._limit = _controller().limit(limits=1, user_api="blas")
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._lift()

    def begin_child(self) -> None:
        """Start anew in a forked process, which has none of the other threads."""
        self._lock = threading.Lock()
        if self._users:
            self._users = 0
            self._lift()

    def _lift(self) -> None:
        limit: Any = self._limit
        limit.restore_original_limits()


_ONE_THREAD = OneThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ONE_THREAD.begin_child)


def one_thread() -> AbstractContextManager[None]:
    """Return a context in which BLAS uses one thread.

    Products of small matrices gain nothing from threads, and their last bits depend on the number
    of threads.
    """
    return _ONE_THREAD


def without_needless_threads(d: int) -> AbstractContextManager[Any]:
    """Return a context for products of matrices (d, d) with a few vectors.

    Threads gain little there, and on a busy machine they wait for each other for far longer than
    the products take.
    """
    return one_thread() if d in NEEDLESS else nullcontext()
