"""Backups of whole stores. A backup is one SQLite file, which can be opened as a store.

It has all rows of all tables as they are, undone rounds and damaged runs included. A SQLite store
is copied by SQLite's backup interface, a PostgreSQL store row by row; each in one transaction, so
that the backup is the store at one moment while others go on writing.
"""

from __future__ import annotations

import math
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from zorank.errors import InvalidInput, StoreError
from zorank.stores import schema
from zorank.stores._engine import explained, file_engine, make_engine, sqlite_url
from zorank.stores._file_guard import LOGS, file_of, set_aside
from zorank.stores._shared import new_key

PAGES = 256
"""Pages that SQLite copies between two reports of progress."""

ROWS = 200
"""Rows that are copied between two reports of progress."""

Counts = Mapping[str, int]
"""The number of rows of each table, by its name."""

Progress = Callable[[int, int], None]
"""Called with the amount that is done and the total."""


def backup(url: str, file: Path, progress: Progress = lambda done, total: None) -> Counts:
    """Copy the store at a URL or path into a new file, and return the numbers of rows.

    Raises:
        InvalidInput: if the file exists, or there is no store.
    """
    with _part_of(file) as part, _source_engine(url) as engine:
        is_file = engine.dialect.name == "sqlite"
        level = None if is_file else "REPEATABLE READ"
        with _transaction(engine, isolation_level=level) as source:
            if schema.version(source) == 0:
                raise InvalidInput(f"there are no tables of zorank at {url}")
            copy = _copy_pages if is_file else _copy_into_file
            counts = copy(source, part, progress)
        with _file_engine(part) as copied, _transaction(copied) as connection:
            state = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
            if state != "ok":
                raise StoreError(f"the store is damaged ({state}), and so would be its backup")
            _check_counts(connection, counts)
    return counts


def restore(file: Path, url: str, progress: Progress = lambda done, total: None) -> Counts:
    """Copy a backup into an empty store, and return the numbers of rows.

    Raises:
        InvalidInput: if there is no such file, or the store has runs: nothing is overwritten.
    """
    if not file.is_file():
        raise InvalidInput(f"there is no backup {file}")
    with (
        _current_copy(file) as path,
        _file_engine(path) as backed_up,
        _transaction(backed_up) as source,
    ):
        schema.check(source)
        _clear_place(url)
        with _store_engine(url) as store, _transaction(store, zorank_write=True) as target:
            schema.upgrade(target)
            if any(_counts(target).values()):
                raise InvalidInput(
                    f"the store {url.split('@')[-1]} has runs, and a backup overwrites nothing; "
                    "restore it into a new store"
                )
            return _copy_rows(source, target, progress)


def _clear_place(url: str) -> None:
    """Set aside what a deleted or emptied SQLite file has left at a URL, if it is one.

    SQLite would take the old logs, which a studio may still have open, for those of the new file.
    """
    path = file_of(sa.make_url(url) if "://" in url else sqlite_url(url))
    if path is None:
        return
    path = os.path.realpath(path)  # SQLite follows links
    file = Path(path)
    if file.is_file() and file.stat().st_size == 0:
        file.unlink()
    if not file.exists():
        for suffix in LOGS:
            set_aside(f"{path}{suffix}")


def _copy_pages(source: sa.Connection, file: Path, progress: Progress) -> Counts:
    """Copy a SQLite database. The transaction of `source` fixes what is copied."""
    counts = _counts(source)
    driver: Any = source.connection.driver_connection
    with closing(sqlite3.connect(file)) as target:
        driver.backup(
            target,
            pages=PAGES,
            progress=lambda _, remaining, total: progress(total - remaining, total),
        )
        target.execute("PRAGMA journal_mode=DELETE")  # a backup needs no files beside it
    return counts


def _copy_into_file(source: sa.Connection, file: Path, progress: Progress) -> Counts:
    """Copy the rows of another database into a SQLite file."""
    schema.check(source)
    with _file_engine(file, "rwc") as engine, _transaction(engine) as target:
        schema.upgrade(target)
        return _copy_rows(source, target, progress)


def _copy_rows(source: sa.Connection, target: sa.Connection, progress: Progress) -> Counts:
    """Copy all rows of all tables, and check their numbers."""
    counts = _counts(source)
    done, total = 0, sum(counts.values())
    for table in schema.TABLES:
        names = [column.name for column in table.c]
        stored = [
            f"CAST({c.name} AS TEXT) AS {c.name}" if isinstance(c.type, sa.JSON) else c.name
            for c in table.c
        ]
        query = sa.text(f"SELECT {', '.join(stored)} FROM {table.name} ORDER BY id")
        marks = ", ".join(f":{name}" for name in names)
        insert = sa.text(f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({marks})")
        result = source.execution_options(yield_per=ROWS).execute(query)
        for part in result.partitions(ROWS):
            rows = [{name: _plain(value) for name, value in row._mapping.items()} for row in part]
            _insert(target, insert, rows, table.name)
            done += len(rows)
            progress(done, total)
        if target.dialect.name == "postgresql":
            _continue_ids(target, table)
    _check_counts(target, counts)
    return counts


def _insert(target: sa.Connection, insert: sa.TextClause, rows: list[Any], table: str) -> None:
    try:
        target.execute(insert, rows)
    except (SQLAlchemyError, UnicodeEncodeError) as error:
        cause = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise StoreError(
            f"a row of {table}, one of id {rows[0]['id']} to {rows[-1]['id']}, cannot be copied "
            f"({cause}); delete the damaged run"
        ) from error


def _plain(value: Any) -> Any:
    """Return a value that every database keeps; SQLite would store NaN as NULL."""
    if isinstance(value, memoryview):
        return bytes(value)
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def _continue_ids(connection: sa.Connection, table: sa.Table) -> None:
    """Make PostgreSQL number new rows after those that were copied."""
    sequence = sa.func.pg_get_serial_sequence(table.name, "id")
    following = sa.select(sa.func.coalesce(sa.func.max(table.c.id), 0) + 1).scalar_subquery()
    connection.execute(sa.select(sa.func.setval(sequence, following, False)))


def _counts(connection: sa.Connection) -> dict[str, int]:
    """Return the number of rows of each table; a table of a later version may be missing."""
    inspector = sa.inspect(connection)
    return {
        table.name: int(connection.scalar(sa.select(sa.func.count()).select_from(table)) or 0)
        for table in schema.TABLES
        if inspector.has_table(table.name)
    }


def _check_counts(connection: sa.Connection, expected: Counts) -> None:
    if (found := _counts(connection)) != expected:
        raise StoreError(f"the copy has {found} rows instead of {expected}; try again")


@contextmanager
def _part_of(file: Path) -> Iterator[Path]:
    """Yield a file to write to, for this user only; it gets its name when it is complete."""
    if not file.name:
        raise InvalidInput(f"{str(file)!r} is not the name of a file; choose one for the backup")
    part = file.with_name(f"{file.name}.{new_key()}.part")
    try:
        if file.exists():
            raise InvalidInput(f"{file} exists; choose a new file for the backup")
        os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        yield part
        part.rename(file)
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _current_copy(file: Path) -> Iterator[Path]:
    """Yield a backup, or an upgraded copy if an older zorank made it."""
    with _file_engine(file) as engine, _transaction(engine) as source:
        found = schema.version(source)
        if found in (0, len(schema.MIGRATIONS)):
            yield file
            return
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / file.name
            _copy_pages(source, copy, lambda done, total: None)
            with _file_engine(copy) as upgraded, _transaction(upgraded) as target:
                schema.upgrade(target)
            yield copy


@contextmanager
def _source_engine(url: str) -> Iterator[sa.Engine]:
    """Yield an engine of a store that exists; a SQLite file is opened as it is."""
    path = url if "://" not in url else None
    if url.startswith("sqlite"):
        path = file_of(sa.make_url(url))
    if path is not None and not Path(path).exists():
        raise InvalidInput(f"there is no store at {url}")
    with _store_engine(url) if path is None else _file_engine(Path(path)) as engine:
        yield engine


@contextmanager
def _store_engine(url: str) -> Iterator[sa.Engine]:
    """Yield an engine of a store, without limits of time."""
    if url == "memory://":
        raise InvalidInput("a store in memory cannot be copied; use a file or a database")
    engine = make_engine(url if "://" in url else sqlite_url(url), patient=True)
    try:
        yield engine
    finally:
        engine.dispose()


@contextmanager
def _file_engine(file: Path, mode: str = "rw") -> Iterator[sa.Engine]:
    engine = file_engine(file, mode)
    try:
        yield engine
    finally:
        engine.dispose()


@contextmanager
def _transaction(engine: sa.Engine, **options: Any) -> Iterator[sa.Connection]:
    given = {name: value for name, value in options.items() if value is not None}
    where = engine.url.render_as_string(hide_password=True)
    try:
        with engine.execution_options(**given).begin() as connection:
            yield connection
    except (SQLAlchemyError, sqlite3.Error) as error:  # the latter from SQLite's backup interface
        cause = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        raise explained(cause, where) from error
