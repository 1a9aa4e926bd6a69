"""Parallel rendering, for renderers that release the GIL."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from zorank.types import Exhibit, Vector


def on_all_cores(show: Callable[[Vector], Exhibit], candidates: Iterable[Vector]) -> list[Exhibit]:
    """Render each candidate in a thread; return the exhibits in their order."""
    several = list(candidates)
    if len(several) < 2:
        return [show(candidate) for candidate in several]
    with ThreadPoolExecutor(min(len(several), os.cpu_count() or 1)) as threads:
        return list(threads.map(show, several))
