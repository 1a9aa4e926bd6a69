"""Records, lines and threads for the tests of stores."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from zorank.protocols import Store
from zorank.types import Ranking, Round, RunRecord

T = TypeVar("T")

SLATE = {"question": "rank", "design": {"kind": "points", "radius": 0.1, "key": str(2**70)}}
"""A slate in the form of the log."""


def example_record() -> RunRecord:
    """Return a run whose numbers are lost by careless conversion."""
    return RunRecord(
        name="a run",
        optimizer="zo-ranksgd",
        options={"m": 4, "bounds": None},
        revision=1,
        x0=np.array([0.1, -1 / 3, 1e-300]),
        seed=2**70,
        version="0.1.0",
        created_at=1234.5,
    )


def answered(index: int, *order: Any, shown_at: float = 0.0, **more: Any) -> Round:
    """Return an answered round of a log."""
    return Round(index, shown_at, Ranking.of(order), answered_at=shown_at + 1, **more)


def newest(store: Store) -> Round:
    """Return the newest line of the run's log."""
    line = store.last("a run")
    assert line is not None
    return line


def at_once(count: int, call: Callable[[int], T]) -> list[T]:
    """Call a function from several threads at the same time."""
    barrier, results = threading.Barrier(count), []

    def work(i: int) -> None:
        barrier.wait()
        results.append(call(i))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
