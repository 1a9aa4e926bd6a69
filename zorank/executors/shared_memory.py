"""Shares a slate's design with other processes of this machine, by one file in shared memory."""

from __future__ import annotations

import mmap
import os
import pickle
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from zorank._machine import is_running
from zorank.errors import InvalidInput
from zorank.slates import Design

SHARED_MEMORY = Path("/dev/shm")


@dataclass(frozen=True)
class SharedDesign:
    """A reference to a design whose arrays are in a file.

    Attributes:
        path: the file with the concatenated arrays.
        recipe: the design, pickled, without the arrays.
        sizes: the arrays' sizes in bytes.
    """

    path: str
    recipe: bytes
    sizes: tuple[int, ...]

    def load(self) -> Design:
        """Load the design; its arrays are memory-mapped, so that workers share their pages."""
        return _load(self)


@lru_cache(maxsize=1)  # a worker evaluates several candidates of a slate
def _load(reference: SharedDesign) -> Design:
    with Path(reference.path).open("rb") as file:
        pages = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    buffers, at = [], 0
    for size in reference.sizes:
        buffers.append(pages[at : at + size])
        at += size
    design: Design = pickle.loads(reference.recipe, buffers=buffers)
    return design


@contextmanager
def shared_design(design: Design) -> Iterator[SharedDesign]:
    """Write a design to a file that exists while the slate is evaluated."""
    _remove_stale_files()
    arrays: list[pickle.PickleBuffer] = []
    recipe = pickle.dumps(design, protocol=5, buffer_callback=arrays.append)
    where = SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else None
    try:
        file = _write(arrays, where)
    except OSError:  # no room in shared memory
        file = _write(arrays, None)
    try:
        yield SharedDesign(file, recipe, tuple(array.raw().nbytes for array in arrays))
    finally:
        Path(file).unlink(missing_ok=True)


def _write(arrays: list[pickle.PickleBuffer], folder: Path | None) -> str:
    with tempfile.NamedTemporaryFile(
        prefix=f"zorank-{os.getpid()}-", dir=folder, delete=False
    ) as file:
        try:
            for array in arrays:
                file.write(array.raw())
            if not arrays:
                file.write(b"\0")  # an empty file cannot be mapped
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
    return file.name


@lru_cache(maxsize=1)  # once in each process
def _remove_stale_files() -> None:
    """Remove the files of killed processes, which would occupy memory forever."""
    for file in SHARED_MEMORY.glob("zorank-*-*"):
        owner = file.name.split("-")[1]
        if owner.isdigit() and not is_running(int(owner)):
            with suppress(OSError):
                file.unlink()


def check_picklable(f: Any) -> None:
    """Raise InvalidInput if the objective cannot be pickled."""
    try:
        pickle.dumps(f)
    except Exception as error:
        raise InvalidInput(
            f"the objective cannot be sent to other processes ({error}); define it with def at "
            "the top of a module, or use a ThreadPoolExecutor"
        ) from error
