"""Limit BLAS to one thread, so that results do not depend on the number of cores."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

NEEDLESS = range(100, 1000)
"""Dimensions in which BLAS would use threads for products of a few milliseconds."""


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


def without_needless_threads(d: int) -> AbstractContextManager[Any]:
    """Return a context for products of matrices (d, d) with a few vectors.

    Threads gain little there, and on a busy machine they wait for each other for far longer than
    the products take.
    """
    return one_thread() if d in NEEDLESS else nullcontext()
