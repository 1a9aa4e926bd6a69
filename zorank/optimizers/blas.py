"""Limit BLAS to one thread, so that results do not depend on the number of cores."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController  # inspects every loaded library: do it once

    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread.

    Products of small matrices gain nothing from threads, and their last bits depend on the number
    of threads.
    """
    return _controller().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]  # untyped
