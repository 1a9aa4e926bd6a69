"""Notices when a SQLite file is deleted, replaced or truncated while it is open.

SQLite goes on writing to an open file that has no name any more, and these answers would be lost.
So the names are compared with the open files before and after each write. The files must not be
opened here: closing one would release SQLite's locks on it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from zorank.errors import StoreError

LOGS = ("-wal", "-shm")
"""The suffixes of the log of recent writes and of its index, which SQLite keeps beside a file."""

Identity = tuple[int, int]
"""The device and the inode of a file."""


class FileGuard:
    """Watches the files of a SQLite database, and opens them again if they were replaced.

    Args:
        engine: the database's engine; a database that is not a file needs no watching.
        accept: raises StoreError unless a connection has a database that can be used.
    """

    def __init__(self, engine: sa.Engine, accept: Callable[[sa.Connection], None]) -> None:
        self._engine = engine
        self._accept = accept
        self._path = file_of(engine.url)
        self._real_path = ""
        self._known: dict[str, Identity] = {}  # by suffix
        self._size = 0
        self._trusted = True
        self._lock = threading.Lock()
        if self._path is not None:
            sa.event.listen(engine, "do_connect", self._before_connect)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Check the files before a write, and after it whether they are still the same."""
        self.check()
        yield
        if not self._is_unchanged():
            raise self._error("the last change may be lost")

    def check(self) -> None:
        """Raise StoreError if the file is gone; open it again if it was replaced."""
        if self._is_unchanged():
            return
        with self._lock:
            if not self._is_unchanged():
                self._open_again()

    def _is_unchanged(self) -> bool:
        """Return whether the files are those that are open, and the database did not shrink."""
        if self._path is None:
            return True
        found = _stat(self._path)
        if not self._known:  # the store is being opened
            if found is not None:
                self._remember(found)
            return True
        same = found is not None and _identity(found) == self._known[""]
        if found is None or not same or not self._trusted or found.st_size < self._size:
            return False
        self._size = found.st_size
        return all(self._is_same_log(suffix) for suffix in LOGS)

    def _remember(self, found: os.stat_result) -> None:
        self._known, self._size, self._trusted = {"": _identity(found)}, 0, True
        self._real_path = os.path.realpath(str(self._path))  # SQLite follows links

    def _is_same_log(self, suffix: str) -> bool:
        """Return whether a file beside the database is the open one, and remember a new one."""
        found = _stat(f"{self._real_path}{suffix}")
        if found is not None:
            self._known.setdefault(suffix, _identity(found))
        return suffix not in self._known or (
            found is not None and _identity(found) == self._known[suffix]
        )

    def _open_again(self) -> None:
        """Close all connections and use the file that is there now, or raise StoreError."""
        found = _stat(str(self._path))
        if found is None:  # the same file may be put back
            raise self._error("it is missing")
        self._trusted = False
        in_use: Callable[[], int] = getattr(self._engine.pool, "checkedout", lambda: 0)
        if in_use():
            raise self._error("the old one is still being closed")
        self._engine.dispose()
        if found.st_size == 0:
            raise self._error("it is empty")
        if _identity(found) != self._known[""]:
            self._set_logs_aside()
        try:
            with self._engine.connect() as connection:
                state = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
                if state != "ok":
                    raise StoreError(str(state))
                self._accept(connection)
        except (SQLAlchemyError, StoreError) as error:
            self._engine.dispose()
            cause = str(getattr(error, "orig", None) or error)
            raise self._error(f"the present one cannot be used ({cause})") from error
        self._remember(found)
        logging.getLogger("zorank").warning(
            "the database file %s was replaced; the present one is used from now on", self._path
        )

    def _set_logs_aside(self) -> None:
        """Rename the log of the old database, which SQLite would apply to the new one."""
        for suffix in LOGS:
            file = f"{self._real_path}{suffix}"
            found = _stat(file)
            if found is not None and _identity(found) == self._known.get(suffix):
                set_aside(file)

    def _before_connect(self, *_: Any) -> None:
        """Refuse to connect to a missing file, because SQLite would create it."""
        if self._known and _stat(str(self._path)) is None:
            raise self._error("it is missing")

    def _error(self, now: str) -> StoreError:
        happened = "was deleted or replaced while it was in use"
        todo = "put it back, or restore a backup in its place"
        return StoreError(
            f"the database file {self._path} {happened}: {now}; {todo}",
            public=f"the database file {happened}: {now}; ask the owner of this studio to {todo}",
        )


def set_aside(file: str) -> None:
    """Rename a log of another database, if there is one, instead of deleting it."""
    with contextlib.suppress(OSError):
        os.replace(file, f"{file}.old")


def file_of(url: sa.URL) -> str | None:
    """Return the path of the file of a SQLite URL; None for other databases."""
    name = url.database
    if url.get_backend_name() != "sqlite" or not name or name == ":memory:":
        return None
    return None if name.startswith("file:") else os.path.abspath(name)


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def _identity(found: os.stat_result) -> Identity:
    return found.st_dev, found.st_ino
