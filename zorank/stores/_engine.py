"""Database connections: engines by URL, the set-up of SQLite, and readable errors.

SQLite writers take the write lock when a transaction begins (BEGIN IMMEDIATE), so they wait for
their turn instead of failing in the middle of a transaction.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from zorank.errors import StoreError

LOCK_SECONDS = 10.0
"""How long to wait for a locked database."""


def sqlite_url(path: str) -> sa.URL:
    """Return the URL of a SQLite file; its path may contain any characters."""
    return sa.URL.create("sqlite", database=path)


def make_engine(url: str | sa.URL) -> sa.Engine:
    """Return an engine for a URL; the folder of a SQLite file is created."""
    try:
        parsed = sa.make_url(url)
        if parsed.get_backend_name() != "sqlite":
            return sa.create_engine(parsed, pool_pre_ping=True)
        # isolation_level None: the "begin" listener below starts the transactions.
        arguments = {"timeout": LOCK_SECONDS, "isolation_level": None}
        engine = sa.create_engine(parsed, connect_args=arguments)
    except (ArgumentError, NoSuchModuleError, ImportError, ValueError) as error:
        cause = str(error).splitlines()[0]
        raise StoreError(
            f"the store {str(url).split('@')[-1]!r} cannot be opened ({cause}); "
            "use sqlite:///FILE, or postgresql+psycopg://… with: pip install 'zorank[postgres]'"
        ) from error
    if parsed.database:
        _create_folder(Path(parsed.database))
    sa.event.listen(engine, "connect", _configure_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _configure_sqlite(connection: Any, _: Any) -> None:
    # synchronous=FULL: an acknowledged answer survives a power failure, not only a crash.
    # secure_delete: what is deleted does not stay in the file.
    for pragma in ("synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:  # the switch to WAL does not wait
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _begin_sqlite(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("zorank_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _create_folder(file: Path) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise StoreError(
            f"the folder {str(file.parent)!r} cannot be created ({error}); "
            "choose a folder that you can write to"
        ) from error


def advice(cause: str) -> str:
    """Return a database's error message with what to do about it."""
    lower = cause.lower()
    if "locked" in lower:
        return (
            f"the database was locked by another program for {LOCK_SECONDS:g} s; "
            "close that program or try again"
        )
    if "not a database" in lower or "malformed" in lower:
        return f"the file is not a working SQLite database ({cause}); restore it from a backup"
    if "unable to open" in lower or "readonly" in lower or "read-only" in lower:
        return f"the database cannot be written ({cause}); choose a folder that you can write to"
    if "full" in lower:
        return f"the disk is full ({cause}); free some space. Acknowledged answers are safe"
    return cause
