"""Rendered exhibits that the workers of a studio share: a folder of files, bounded in bytes.

A worker that has rendered an exhibit writes it to the folder, and the others read it there. A file
is written under a temporary name and then renamed; one that is damaged counts as absent. If a file
cannot be written, the exhibit is rendered again where it is needed.

Every exhibit has a lock, which is one byte of a common file, so that two workers do not render it
at the same time. The system releases the locks of a process that dies.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from zorank.renderers.interface import ResolvedRenderer
from zorank.studio.render_limits import RenderLimits
from zorank.studio.render_queue import Key, RenderTask
from zorank.studio.shared_place import SharedPlace
from zorank.types import Exhibit

LOCKS = "locks"
SLACK = 8
"""The share of the capacity, one in `SLACK`, that is free after files were evicted."""


class SharedExhibits:
    """Exhibits in a folder that several processes use.

    Args:
        folder: a private folder, which exists.
        capacity: size in bytes; the least recently used files are removed beyond it.
        processes: how many processes use the folder.
    """

    def __init__(self, folder: Path, capacity: int, processes: int) -> None:
        self._folder = folder
        self._kept_bytes = capacity - capacity // SLACK
        self._free_bytes = capacity // SLACK // processes  # what this process may add unchecked
        self._added = 0
        self._numbers = itertools.count()
        self._locks = os.open(folder / LOCKS, os.O_RDWR | os.O_CREAT, 0o600)

    @classmethod
    def at(cls, place: SharedPlace | None, limits: RenderLimits) -> SharedExhibits | None:
        """Return the exhibits that the workers of a studio share; None for a single process."""
        if place is None:
            return None
        folder = place.folder / "exhibits"
        folder.mkdir(mode=0o700, exist_ok=True)
        return cls(folder, limits.cache, place.count)

    def sort(
        self, tasks: Iterable[RenderTask]
    ) -> tuple[list[tuple[RenderTask, Exhibit]], list[RenderTask], list[RenderTask]]:
        """Return what is rendered, what this process must render, and what others render now.

        The caller calls `release` for the second.
        """
        found: list[tuple[RenderTask, Exhibit]] = []
        claimed: list[RenderTask] = []
        elsewhere: list[RenderTask] = []
        for task in tasks:
            name = file_name(task.key, task.renderer)
            exhibit = self.get(name)
            if exhibit is None and not self._lock(name):
                elsewhere.append(task)
                continue
            if exhibit is None and (exhibit := self.get(name)) is not None:
                self._unlock(name)  # another process has finished it between the two looks
            if exhibit is None:
                claimed.append(task)
            else:
                found.append((task, exhibit))
        return found, claimed, elsewhere

    def release(self, tasks: Sequence[RenderTask], exhibits: Sequence[Exhibit]) -> None:
        """Add the exhibits of claimed tasks, none if rendering failed, and unlock the tasks."""
        names = [file_name(task.key, task.renderer) for task in tasks]
        for name, exhibit in zip(names, exhibits, strict=False):
            self.add(name, exhibit)
        for name in names:
            self._unlock(name)

    def get(self, name: str) -> Exhibit | None:
        """Return the exhibit in a file; None if there is none or if it is damaged."""
        path = self._folder / name
        try:
            exhibit = _decoded(path.read_bytes())
            if exhibit is not None:
                os.utime(path)  # the file is the most recently used one
        except OSError:
            return None
        return exhibit

    def add(self, name: str, exhibit: Exhibit) -> None:
        """Write an exhibit to a file, and remove others if the capacity is exceeded."""
        content = _encoded(exhibit)
        temporary = self._folder / f"new-{os.getpid()}-{next(self._numbers)}"
        try:
            with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as f:
                f.write(content)
            temporary.rename(self._folder / name)
        except OSError:  # for example, the disk is full
            with contextlib.suppress(OSError):
                temporary.unlink()
            return
        self._added += len(content)
        if self._added > self._free_bytes:
            self._added = 0
            self._evict()

    def forget(self, run: str) -> None:
        """Remove the files of a run."""
        for entry in self._entries():
            if entry.name.startswith(_run_part(run)):
                _remove(entry)

    def _evict(self) -> None:
        """Remove the least recently used files until there is room; the latest one is kept."""
        sizes: list[tuple[int, int, os.DirEntry[str]]] = []
        for entry in self._entries():
            with contextlib.suppress(OSError):  # another process removed it
                status = entry.stat()
                sizes.append((status.st_mtime_ns, status.st_size, entry))
        sizes.sort(key=lambda found: found[0])
        excess = sum(size for _, size, _ in sizes) - self._kept_bytes
        for _, size, entry in sizes[:-1]:
            if excess <= 0:
                return
            _remove(entry)
            excess -= size

    def _entries(self) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self._folder) as entries:
                return [entry for entry in entries if entry.name != LOCKS]
        except OSError:  # the studio has ended and removed the folder
            return []

    def _lock(self, name: str) -> bool:
        """Lock an exhibit; return whether no other process has locked it."""
        if sys.platform == "win32":  # which has no workers
            return True
        import fcntl

        try:
            fcntl.lockf(self._locks, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(name))
        except (BlockingIOError, PermissionError):
            return False
        except OSError:  # a file system without locks: the exhibit may be rendered twice
            return True
        return True

    def _unlock(self, name: str) -> None:
        if sys.platform != "win32":
            import fcntl

            with contextlib.suppress(OSError):
                fcntl.lockf(self._locks, fcntl.LOCK_UN, 1, _place(name))


def file_name(key: Key, renderer: ResolvedRenderer) -> str:
    """Return the name of an exhibit's file; it depends on the renderer's settings, too."""
    run, candidate, size = key
    made: Any = renderer.renderer
    given = fields(made) if is_dataclass(made) else ()
    settings = {field.name: getattr(made, field.name, None) for field in given}
    plain = {k: v for k, v in settings.items() if isinstance(v, str | int | float | bool)}
    what = json.dumps([candidate, size, renderer.name, plain], sort_keys=True)
    return f"{_run_part(run)}{_digest(what.encode())}"


def _run_part(run: str) -> str:
    return f"{_digest(run.encode())}-"


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def _place(name: str) -> int:
    """Return the byte of the lock file that stands for a name."""
    return int(_digest(name.encode())[:15], 16)


def _encoded(exhibit: Exhibit) -> bytes:
    """Return a file's content: a line of JSON, and the data."""
    given: Any = exhibit.data  # renderers may return text as well
    is_text = isinstance(given, str)
    data = given.encode() if is_text else bytes(given)
    head = {"media_type": exhibit.media_type, "text": is_text, "digest": _digest(data)}
    return json.dumps(head).encode() + b"\n" + data


def _decoded(content: bytes) -> Exhibit | None:
    """Return the exhibit of a file's content; None if the content is damaged."""
    line, _, data = content.partition(b"\n")
    try:
        head = json.loads(line)
        if head["digest"] != _digest(data):
            return None
        given: Any = data.decode() if head["text"] else data
        return Exhibit(head["media_type"], given)
    except (ValueError, KeyError, TypeError):
        return None


def _remove(entry: os.DirEntry[str]) -> None:
    with contextlib.suppress(OSError):
        os.unlink(entry.path)
