"""The private folder that the workers of a studio share, and memory in it.

The first process makes the folder before it starts workers, and removes it when the studio stops.
Every worker has a number; one that replaces a dead worker gets that worker's number and finds what
it left in memory.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from zorank.errors import InvalidInput

FOLDER = "ZORANK_WORKER_FOLDER"
NUMBER = "ZORANK_WORKER_NUMBER"
COUNT = "ZORANK_WORKER_COUNT"


@dataclass(frozen=True)
class SharedPlace:
    """A worker's place among the workers of a studio.

    Attributes:
        folder: the folder that all of them share.
        number: this worker's, from 0.
        count: how many workers there are.
    """

    folder: Path
    number: int
    count: int

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that tell a worker its place."""
        return {FOLDER: str(self.folder), NUMBER: str(self.number), COUNT: str(self.count)}

    @classmethod
    def inherited(cls) -> SharedPlace:
        """Return the place of this process, which is a worker."""
        taken = [os.environ.pop(name) for name in (FOLDER, NUMBER, COUNT)]
        return cls(Path(taken[0]), int(taken[1]), int(taken[2]))

    def existing(self) -> SharedPlace | None:
        """Return this place; None if somebody has removed the folder of temporary files."""
        return self if self.folder.is_dir() else None

    def remove(self) -> None:
        """Remove the folder; memory that processes have mapped stays valid for them."""
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass(frozen=True)
class SharedRows:
    """Rows of numbers that all workers read, of which each worker writes its own.

    Attributes:
        all: the rows by worker.
        own: the rows that this process writes.
    """

    all: NDArray[Any]
    own: NDArray[Any]

    @classmethod
    def of(cls, place: SharedPlace | None, name: str, kind: DTypeLike, rows: int) -> SharedRows:
        """Map the rows with this name; without a place, return rows of this process alone."""
        if place is None:
            table = np.zeros((1, rows), kind)
            return cls(table, table[0])
        shape = (place.count, rows)
        path = place.folder / name
        _reserve(path, int(np.prod(shape)) * np.dtype(kind).itemsize)
        table = np.memmap(path, kind, "r+", shape=shape)
        return cls(table, table[place.number])


@contextlib.contextmanager
def shared_folder() -> Iterator[Path]:
    """Make a folder that only this user can open, and remove it at the end."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="zorank-studio-"))  # its mode is 0700
    except OSError as error:
        raise InvalidInput(
            f"the workers need a temporary folder, which cannot be made: {error}; name one that "
            "can be written to in the environment variable TMPDIR"
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _reserve(path: Path, size: int) -> None:
    """Make a file of zeros unless there is one; a mapped file must not run out of disk space."""
    temporary = path.with_name(f"{path.name}-{os.getpid()}")
    temporary.write_bytes(bytes(size))
    with contextlib.suppress(FileExistsError):
        os.link(temporary, path)  # fails if another worker was first
    temporary.unlink()
