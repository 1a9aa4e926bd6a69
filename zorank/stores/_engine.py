"""Database connections: engines by URL, the set-up of SQLite, and readable errors.

SQLite writers take the write lock when a transaction begins (BEGIN IMMEDIATE), so they wait for
their turn instead of failing in the middle of a transaction.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from zorank.errors import StoreError, install_command
from zorank.stores import _postgres
from zorank.stores._file_guard import file_of
from zorank.stores._rows import read_json

LOCK_SECONDS = 10.0
"""How long to wait for a locked database."""


def sqlite_url(path: str) -> sa.URL:
    """Return the URL of a SQLite file; its path may contain any characters."""
    return sa.URL.create("sqlite", database=path)


def make_engine(url: str | sa.URL, patient: bool = False) -> sa.Engine:
    """Return an engine for a URL; a SQLite file and its folder are created.

    `patient` sets no limit to the duration of a statement, for a backup.
    """
    try:
        parsed = sa.make_url(url)
        if parsed.get_backend_name() != "sqlite":
            arguments = _postgres.connect_arguments(parsed, patient)
            engine = sa.create_engine(
                parsed,
                pool_pre_ping=True,
                pool_timeout=_postgres.SILENCE_SECONDS,
                connect_args=arguments,
                json_deserializer=read_json,
            )
            if not patient:
                _postgres.limit_silence(engine)
            return engine
        # isolation_level None: the "begin" listener below starts the transactions.
        arguments = {"timeout": LOCK_SECONDS, "isolation_level": None}
        engine = sa.create_engine(parsed, connect_args=arguments, json_deserializer=read_json)
    except (ArgumentError, NoSuchModuleError, ImportError, ValueError) as error:
        cause = str(error).splitlines()[0]
        raise StoreError(
            f"the store {str(url).split('@')[-1]!r} cannot be opened ({cause}); "
            f"use sqlite:///FILE, or postgresql+psycopg://… with: {install_command('postgres')}"
        ) from error
    if file := file_of(parsed):
        _create_file(Path(file))
    sa.event.listen(engine, "connect", _configure_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def file_engine(file: Path, mode: str) -> sa.Engine:
    """Return an engine for a SQLite file as it is; `mode` is that of a SQLite URI, such as rw."""

    def connect() -> sqlite3.Connection:
        uri = f"{file.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(uri, LOCK_SECONDS, isolation_level=None, uri=True)
        connection.text_factory = _decode
        return connection

    engine = sa.create_engine(sqlite_url(str(file)), creator=connect)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _configure_sqlite(connection: Any, _: Any) -> None:
    connection.text_factory = _decode
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


def _decode(text: bytes) -> str:
    """Return a text; bytes that are not UTF-8 become surrogates, which `_rows` refuses."""
    return text.decode(errors="surrogateescape")


def _create_file(file: Path) -> None:
    """Create a missing file, and its folder, for this user only."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise StoreError(
            f"the folder {str(file.parent)!r} cannot be created ({error}); "
            "choose a folder that you can write to"
        ) from error
    with contextlib.suppress(OSError):  # it exists, or SQLite says why it cannot be created
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


CAUSES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("locked",),
        "the database was locked by another program for {seconds:g} s",
        "close that program or try again",
    ),
    (
        ("lock timeout",),
        f"the run was locked by another program for {_postgres.LOCK_SECONDS} s",
        "close that program or try again",
    ),
    (
        ("not a database", "malformed"),
        "the file is not a working SQLite database",
        "restore it from a backup",
    ),
    (
        ("unable to open", "readonly", "read-only"),
        "the database cannot be written",
        "choose a folder that you can write to",
    ),
    (
        ("full", "no space left"),
        "the disk is full",
        "free some space. Acknowledged answers are safe",
    ),
    (
        ("disk i/o error",),
        "the disk does not take or return data",
        "check the disk and its limits. Acknowledged answers are safe",
    ),
    (
        ("no such table", "no such column", "does not exist"),
        "a part of the database is missing",
        "restore it from a backup",
    ),
    (("statement timeout",), "the database is too slow", "try again"),
    (
        ("connection", "did not answer", "could not translate", "failed to resolve"),
        "the database server does not answer",
        "check that it runs, or try again",
    ),
)
"""Parts of a database's messages, what they mean, and what to do."""


def explained(cause: str, where: str) -> StoreError:
    """Return the error for a database's message; its public text leaves the message out."""
    lower = cause.lower()
    for parts, meaning, todo in CAUSES:
        if any(part in lower for part in parts):
            what = meaning.format(seconds=LOCK_SECONDS)
            return StoreError(f"{where}: {what} ({cause}); {todo}", public=f"{what}; {todo}")
    public = "the database reports an error; the owner of this studio finds it in the terminal"
    return StoreError(f"{where}: {cause}", public=public)
