"""An experiment is many cells: a frozen configuration each, and one function to a row of results.

Cells know nothing of each other, so they run on all cores, in any order. Each finished one is a
line in a file, under a key made of its configuration and the experiment's version: a run that was
stopped, by Ctrl-C or by a power cut, goes on where it was, and a larger experiment computes only
what is new. A torn last line is a cell that was not finished.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from threading import Thread
from typing import IO, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from zorank.errors import InvalidInput

C = TypeVar("C")
L = TypeVar("L")
Row: TypeAlias = dict[str, Any]
"""The result of a cell: plain JSON values by name."""

THREAD_SETTINGS = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def run(
    function: Callable[[C], Row],
    cells: Sequence[C],
    file: Path,
    *,
    version: str,
    workers: int | None = None,
    console: Console | None = None,
) -> list[Row]:
    """The row of every cell, in their order; what `file` holds already is not computed again.

    Args:
        function: from a cell to its row; at the top level of a module, so that workers find it.
        cells: frozen dataclasses of plain JSON values.
        file: where finished cells are kept, one JSON line each.
        version: raise it when the same cell would give another row.
        workers: processes; None takes one for each core.
        console: where progress is shown; None shows none.
    """
    keys = [key_of(cell, version) for cell in cells]
    rows = finished(file)
    todo = {key: cell for key, cell in zip(keys, cells, strict=True) if key not in rows}
    with (
        _opened_to_append(file) as log,
        _progress(console) as progress,
        closing(_computed(function, todo, workers)) as computed,
    ):
        task = progress.add_task(file.name.partition(".")[0], total=len(set(keys)))
        progress.advance(task, len(set(keys)) - len(todo))
        for key, row in computed:
            line = {"key": key, "cell": asdict(todo[key]), "row": row}  # type: ignore[call-overload]
            log.write(json.dumps(line) + "\n")
            log.flush()
            rows[key] = row
            progress.advance(task)
    return [rows[key] for key in keys]


def grouped(labels: Sequence[L], rows: Sequence[Row]) -> dict[L, list[Row]]:
    """Rows by label, both in their order."""
    found: dict[L, list[Row]] = {}
    for label, row in zip(labels, rows, strict=True):
        found.setdefault(label, []).append(row)
    return found


def columns(rows: Sequence[Row], names: Sequence[str]) -> list[NDArray[np.float64]]:
    """The results of these names, an array each over the rows; None becomes NaN."""
    return [np.array([row[name] for row in rows], dtype=np.float64) for name in names]


def key_of(cell: Any, version: str) -> str:
    """What tells this cell from every other, of this version of the experiment or of another."""
    text = json.dumps([version, type(cell).__name__, asdict(cell)], sort_keys=True)
    return blake2b(text.encode(), digest_size=12).hexdigest()


def finished(file: Path) -> dict[str, Row]:
    """The rows that a file holds, by key; a line that was torn by a kill counts as not there."""
    try:
        lines = file.read_text(errors="replace").splitlines() if file.exists() else []
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from error
    entries = (entry for entry in map(_parsed, lines) if entry is not None)
    return {entry["key"]: entry["row"] for entry in entries}


def _parsed(line: str) -> Mapping[str, Any] | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    if not isinstance(entry, dict):
        return None
    whole = isinstance(entry.get("key"), str) and isinstance(entry.get("row"), dict)
    return entry if whole else None


def _opened_to_append(file: Path) -> IO[str]:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        log = file.open("a+b")
        size = log.seek(0, os.SEEK_END)
        log.seek(max(size - 1, 0))
        torn = log.read(1) not in (b"", b"\n")
        log.close()
        text = file.open("a", encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}") from error
    if torn:
        text.write("\n")
    return text


def _computed(
    function: Callable[[C], Row], todo: Mapping[str, C], workers: int | None
) -> Generator[tuple[str, Row], None, None]:
    """Key and row of each cell as it is finished, by processes of their own."""
    if not todo:
        return
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    count = min(workers or os.cpu_count() or 1, len(todo))
    with (
        _one_thread_each(),
        ProcessPoolExecutor(count, get_context("spawn"), _become_worker) as pool,
    ):
        keys = {pool.submit(function, cell): key for key, cell in todo.items()}
        try:
            for done in as_completed(list(keys)):
                yield keys.pop(done), done.result()
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)  # what a worker is at is waited for: so keep it
            for future, key in keys.items():
                if future.done() and not future.cancelled() and future.exception() is None:
                    yield key, future.result()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes started here use one thread for linear algebra: there is one process per core.

    The libraries read this when NumPy is first imported, which in a worker is before any code of
    ours; so it has to be in the environment that the worker is born with.
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


def _become_worker() -> None:
    """Ctrl-C is the parent's to handle; a worker whose parent was killed must not stay behind."""
    from multiprocessing import parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()

    def leave_with_parent() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=leave_with_parent, daemon=True).start()


def _progress(console: Console | None) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=console,
        disable=console is None,
        speed_estimate_period=600,  # cells differ in cost by a hundred times
    )
