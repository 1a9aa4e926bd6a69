"""Runs in a SQL database: SQLite by default, PostgreSQL by URL (SQLAlchemy Core).

Every method is one transaction and returns after its commit. Writers of one run queue up (SQLite
has one writer at a time, PostgreSQL locks the run's row), so two processes that answer the same
round cannot both succeed.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, IntegrityError, NoSuchModuleError, SQLAlchemyError

from zorank.errors import InvalidInput, StoreError, unknown_name
from zorank.stores import schema
from zorank.stores.memory import changed, doubled, new_key, outvoted, overtaken, stale
from zorank.types import Ballot, Round, RunRecord, Vector, answer_from_json, ranking_from_json

NPY = b"\x93NUMPY"

LOCK_SECONDS = 10.0
"""How long a locked database is waited for."""


class SQLStore:
    """Runs in the database at a URL: sqlite:///runs.db, or postgresql+psycopg://HOST/NAME."""

    def __init__(self, url: str | sa.URL) -> None:
        self._engine = _engine(url)
        self._where = self._engine.url.render_as_string(hide_password=True)
        with self._write() as connection:
            schema.upgrade(connection)

    def create(self, record: RunRecord, rounds: Iterable[Round] = ()) -> None:
        """Keep a new run; refuse a name that exists."""
        try:
            with self._write() as connection:
                row = sa.insert(schema.runs).values(
                    name=record.name,
                    optimizer=record.optimizer,
                    options=dict(record.options),
                    revision=record.revision,
                    x0=_bytes(record.x0),
                    seed=str(record.seed),
                    version=record.version,
                    created_at=record.created_at,
                    meta=dict(record.meta),
                )
                (run_id,) = connection.execute(row).inserted_primary_key or (None,)
                for line in rounds:
                    shown = {"shown_at": line.shown_at, "slate": line.slate}
                    values = {"run_id": run_id, **shown, **_line(line)}
                    connection.execute(sa.insert(schema.rounds).values(values))
        except IntegrityError as error:
            raise InvalidInput(
                f"there is already a run named {record.name!r} in {self._where}; "
                "choose another name"
            ) from error

    def record(self, name: str) -> RunRecord:
        """The run of this name."""
        with self._read() as connection:
            return _record(self._find(connection, name))

    def runs(self) -> list[RunRecord]:
        """All runs, oldest first."""
        with self._read() as connection:
            query = sa.select(schema.runs).order_by(schema.runs.c.id)
            return [_record(row) for row in connection.execute(query)]

    def rounds(self, name: str) -> list[Round]:
        """The log of a run in order."""
        with self._read() as connection:
            return self._log(connection, self._find(connection, name).id)

    def last(self, name: str) -> Round | None:
        """The newest line of a run's log."""
        with self._read() as connection:
            row = self._last(connection, self._find(connection, name).id)
            return None if row is None else _round(row)

    def append(
        self,
        name: str,
        index: int,
        shown_at: float,
        after: str = "",
        slate: Mapping[str, Any] | None = None,
    ) -> Round:
        """The waiting round `index`, as it was first shown."""
        with self._write() as connection:
            run_id = self._find(connection, name, lock=True).id
            last = self._last(connection, run_id)
            if index != _next(last) or self._last_key(connection, run_id) != after:
                raise stale(name, index, _next(last) if _waits(last) else None)
            if _waits(last):
                return _round(last)
            line = Round(index, shown_at, key=new_key(), slate=slate)
            shown = {"run_id": run_id, "shown_at": shown_at, "slate": slate}
            connection.execute(sa.insert(schema.rounds).values({**shown, **_line(line)}))
            return line

    def answer(self, name: str, answered: Round, ballots: int | None = None) -> None:
        """Answer the waiting round."""
        with self._write() as connection:
            run_id = self._find(connection, name, lock=True).id
            last = self._last(connection, run_id)
            same = _waits(last) and (last.position, last.key) == (answered.index, answered.key)
            if not same:
                raise stale(name, answered.index, _next(last) if _waits(last) else None)
            if ballots is not None:
                cast = _standing_ballots(run_id, answered.index).subquery()
                if connection.scalar(sa.select(sa.func.count()).select_from(cast)) != ballots:
                    raise outvoted(name, answered.index)
            update = sa.update(schema.rounds).where(schema.rounds.c.id == last.id)
            # Looks may have joined the slate since it was shown.
            slate = {} if answered.slate is None else {"slate": answered.slate}
            connection.execute(update.values({**_line(answered), **slate}))

    def cast(self, name: str, index: int, ballot: Ballot) -> None:
        """Keep one rater's ballot for the waiting round."""
        try:
            with self._write() as connection:
                run_id = self._find(connection, name, lock=True).id
                last = self._last(connection, run_id)
                if not _waits(last) or last.position != index:
                    raise stale(name, index, _next(last) if _waits(last) else None)
                new = {"run_id": run_id, "position": index, "cast_at": time.time()}
                kept = {
                    "rater": ballot.rater,
                    "weight": ballot.weight,
                    "ranking": ballot.ranking.to_json(),
                }
                connection.execute(sa.insert(schema.ballots).values({**new, **kept}))
        except IntegrityError as error:
            raise doubled(name, index, ballot.rater) from error

    def ballots(self, name: str, index: int) -> list[Ballot]:
        """The ballots cast for a round."""
        with self._read() as connection:
            run_id = self._find(connection, name).id
            cast = connection.execute(_standing_ballots(run_id, index))
            return [Ballot(b.rater, ranking_from_json(b.ranking), b.weight) for b in cast]

    def undo(self, name: str, index: int, last: str | None = None) -> None:
        """Take back every round from `index` on; the tables keep them as undone."""
        with self._write() as connection:
            run_id = self._find(connection, name, lock=True).id
            if last is not None and self._last_key(connection, run_id) != last:
                raise overtaken(name)
            for table in (schema.rounds, schema.ballots):
                taken_back = (table.c.run_id == run_id) & (table.c.position >= index)
                update = sa.update(table).where(taken_back & table.c.undone_at.is_(None))
                connection.execute(update.values(undone_at=time.time()))

    def change_meta(
        self, name: str, changes: Mapping[str, Any], dropped: Iterable[str] = ()
    ) -> None:
        """Change and drop some of what an application keeps with a run."""
        with self._write() as connection:
            run = self._find(connection, name, lock=True)
            update = sa.update(schema.runs).where(schema.runs.c.id == run.id)
            connection.execute(update.values(meta=changed(run.meta, changes, dropped)))

    def delete(self, name: str) -> None:
        """Forget a run and its log, undone rounds included."""
        with self._write() as connection:
            run_id = self._find(connection, name, lock=True).id
            for table in (schema.rounds, schema.ballots):
                connection.execute(sa.delete(table).where(table.c.run_id == run_id))
            connection.execute(sa.delete(schema.runs).where(schema.runs.c.id == run_id))

    def close(self) -> None:
        """Let go of the database's connections."""
        self._engine.dispose()

    def _find(self, connection: sa.Connection, name: str, lock: bool = False) -> Any:
        query = sa.select(schema.runs).where(schema.runs.c.name == name)
        row = connection.execute(query.with_for_update() if lock else query).one_or_none()
        if row is None:
            raise unknown_name("run", name, connection.scalars(sa.select(schema.runs.c.name)))
        return row

    def _log(self, connection: sa.Connection, run_id: int) -> list[Round]:
        return [_round(row) for row in connection.execute(_standing_rounds(run_id))]

    def _last(self, connection: sa.Connection, run_id: int) -> Any:
        newest = _standing_rounds(run_id).order_by(None).order_by(schema.rounds.c.position.desc())
        return connection.execute(newest.limit(1)).one_or_none()

    def _last_key(self, connection: sa.Connection, run_id: int) -> str:
        answered = _standing_rounds(run_id).where(schema.rounds.c.answered_at.is_not(None))
        newest = answered.order_by(None).order_by(schema.rounds.c.position.desc()).limit(1)
        row = connection.execute(newest).one_or_none()
        return "" if row is None else str(row.key)

    @contextmanager
    def _read(self) -> Iterator[sa.Connection]:
        with self._explained(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _write(self) -> Iterator[sa.Connection]:
        engine = self._engine.execution_options(zorank_write=True)
        with self._explained(), engine.begin() as connection:
            yield connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn a database's error into one that says what happened and what to do."""
        try:
            yield
        except IntegrityError:
            raise
        except UnicodeEncodeError as error:
            raise InvalidInput("a text holds characters that cannot be stored") from error
        except SQLAlchemyError as error:
            cause = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
            raise StoreError(f"{self._where}: {_advice(cause)}") from error


def _standing_rounds(run_id: int) -> sa.Select[Any]:
    mine = (schema.rounds.c.run_id == run_id) & schema.rounds.c.undone_at.is_(None)
    return sa.select(schema.rounds).where(mine).order_by(schema.rounds.c.position)


def _standing_ballots(run_id: int, index: int) -> sa.Select[Any]:
    table = schema.ballots
    mine = (table.c.run_id == run_id) & (table.c.position == index) & table.c.undone_at.is_(None)
    return sa.select(table).where(mine).order_by(table.c.id)


def _waits(last: Any) -> bool:
    return last is not None and last.answer is None


def _next(last: Any) -> int:
    """The index of the round that waits or is asked next."""
    if last is None:
        return 0
    return int(last.position) + (0 if _waits(last) else 1)


def _line(line: Round) -> dict[str, Any]:
    """The columns of a line but when and what was shown, which an answer leaves as they are."""
    return {
        "position": line.index,
        "answer": None if line.answer is None else line.answer.to_json(),
        "rater": line.rater,
        "answered_at": line.answered_at,
        "note": dict(line.note),
        "key": line.key,
    }


def _round(row: Any) -> Round:
    answer = None if row.answer is None else answer_from_json(row.answer)
    when = (row.shown_at, answer, row.rater, row.answered_at, row.note)
    return Round(row.position, *when, key=row.key, slate=row.slate)


def _record(row: Any) -> RunRecord:
    return RunRecord(
        name=row.name,
        optimizer=row.optimizer,
        options=row.options,
        revision=row.revision,
        x0=_vector(row.x0),
        seed=int(row.seed),
        version=row.version,
        created_at=row.created_at,
        meta=row.meta,
    )


def _bytes(x0: Vector) -> bytes:
    """Plain float64 numbers, or a .npy file of float32 ones: its magic bytes tell them apart."""
    if x0.dtype == np.float64:
        return x0.astype("<f8").tobytes()
    file = BytesIO()
    np.save(file, x0.astype("<f4"), allow_pickle=False)
    return file.getvalue()


def _vector(kept: bytes) -> Vector:
    if kept.startswith(NPY):
        loaded: Vector = np.load(BytesIO(kept), allow_pickle=False)
        return loaded.astype(np.float32, copy=False)
    return np.frombuffer(kept, dtype="<f8").astype(np.float64)


def sqlite_url(path: str) -> sa.URL:
    """The URL of a database file, whatever characters its path has."""
    return sa.URL.create("sqlite", database=path)


def _engine(url: str | sa.URL) -> sa.Engine:
    try:
        parsed = sa.make_url(url)
        if parsed.get_backend_name() != "sqlite":
            return sa.create_engine(parsed, pool_pre_ping=True)
        # isolation_level None hands transactions to the "begin" listener below.
        arguments = {"timeout": LOCK_SECONDS, "isolation_level": None}
        engine = sa.create_engine(parsed, connect_args=arguments)
    except (ArgumentError, NoSuchModuleError, ImportError, ValueError) as error:
        cause = str(error).splitlines()[0]
        raise StoreError(
            f"the store {str(url).split('@')[-1]!r} cannot be opened ({cause}); "
            "use sqlite:///FILE, or postgresql+psycopg://… with: pip install 'zorank[postgres]'"
        ) from error
    if parsed.database:
        _make_folder(Path(parsed.database))
    sa.event.listen(engine, "connect", _configure_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _configure_sqlite(connection: Any, _: Any) -> None:
    # synchronous FULL: an answer that was acknowledged survives a power cut, not only a crash.
    for pragma in ("synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:  # switching does not wait for a lock by itself
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _begin_sqlite(connection: sa.Connection) -> None:
    # IMMEDIATE: a writer waits for its turn at the start instead of failing in the middle.
    writes = connection.get_execution_options().get("zorank_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _make_folder(file: Path) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise StoreError(
            f"the folder {str(file.parent)!r} cannot be made ({error}); "
            "choose a place you may write to"
        ) from error


def _advice(cause: str) -> str:
    lower = cause.lower()
    if "locked" in lower:
        return (
            f"the database is locked by another program and stayed so for {LOCK_SECONDS:g} s; "
            "close that program or try again"
        )
    if "not a database" in lower or "malformed" in lower:
        return f"the file is not a working SQLite database ({cause}); restore it from a copy"
    if "unable to open" in lower or "readonly" in lower or "read-only" in lower:
        return f"the database cannot be written ({cause}); choose a place you may write to"
    if "full" in lower:
        return f"the disk is full ({cause}); every answer acknowledged before is still there"
    return cause
