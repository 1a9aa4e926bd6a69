"""The worker processes of a sweep, and its progress bar."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from threading import Thread
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

T = TypeVar("T")

THREAD_SETTINGS = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def computed_rows(
    function: Callable[[T], dict[str, Any]], todo: Mapping[str, T], workers: int | None
) -> Generator[tuple[str, dict[str, Any]], None, None]:
    """Run the trials in worker processes, and yield the key and row of each as it finishes."""
    if not todo:
        return
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    count = min(workers or os.cpu_count() or 1, len(todo))
    with (
        _one_thread_each(),
        ProcessPoolExecutor(count, get_context("spawn"), _start_worker) as pool,
    ):
        keys = {pool.submit(function, trial): key for key, trial in todo.items()}
        try:
            for done in as_completed(list(keys)):
                yield keys.pop(done), done.result()
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)  # waits for running jobs, to keep their results
            for future, key in keys.items():
                if future.done() and not future.cancelled() and future.exception() is None:
                    yield key, future.result()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Limit linear algebra to one thread in processes started here: there is one per core.

    The libraries read these variables when NumPy is first imported, which in a worker happens
    before any of our code runs. So they must be set in the environment of the worker.
    """
    before = {name: os.environ.get(name) for name in THREAD_SETTINGS}
    os.environ.update(dict.fromkeys(THREAD_SETTINGS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _start_worker() -> None:
    """Ignore Ctrl-C, which the parent handles, and exit when the parent is killed."""
    from multiprocessing import parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()

    def exit_with_parent() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=exit_with_parent, daemon=True).start()


@contextmanager
def progress_bar(
    console: Console | None, name: str, total: int
) -> Iterator[Callable[[int], None]]:
    """Show a progress bar, if there is a console, and yield a function that advances it."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=console,
        disable=console is None,
        speed_estimate_period=600,  # the cost of trials varies by a factor of a hundred
    )
    with bar:
        task = bar.add_task(name, total=total)
        yield lambda count: bar.advance(task, count)
