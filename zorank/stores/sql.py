"""A store in a SQL database: SQLite by default, PostgreSQL by URL (SQLAlchemy Core).

Every method is one transaction and returns after its commit. Writers of one run take turns:
SQLite allows one writer at a time, and in PostgreSQL a writer locks the run's row. So two
processes that answer the same round cannot both succeed. Undone rounds and ballots stay in their
tables with the time of the undo.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from zorank._store_protocol import Check
from zorank.errors import InvalidInput, StoreError, unknown_name
from zorank.protocols import Store
from zorank.stores import _edits, schema
from zorank.stores._engine import explained, make_engine
from zorank.stores._errors import (
    answered_elsewhere,
    ballot_missed,
    edited_elsewhere,
    not_waiting,
    second_ballot,
)
from zorank.stores._file_guard import FileGuard
from zorank.stores._listen import listen, notification, notify
from zorank.stores._rows import (
    NAMELESS,
    answer_columns,
    is_text,
    read_log,
    read_record,
    read_record_or_problem,
    read_round,
    read_snapshot,
    write_vector,
)
from zorank.stores._shared import changed_meta, new_key
from zorank.stores._statements import (
    ANSWER,
    APPEND,
    BALLOT_COUNT,
    CAST,
    END,
    LAST,
    LAST_KEY,
    LOCK,
    LOCK_AND_NOTIFY,
    LOG,
    SNAPSHOT,
    read_ballots,
)
from zorank.types import Audit, Ballot, Edit, Json, Round, RunRecord, Snapshot

SUGGESTED = 100
"""How many of the newest names are compared with an unknown one."""


class SQLStore(Store):
    """Keeps runs in a database: sqlite:///runs.db, or postgresql+psycopg://HOST/NAME.

    The tables are created, or upgraded if an older zorank made them. A store that nobody refers to
    any more is closed, because `Run(..., store=URL)` gives nobody a store to close.
    """

    def __init__(self, url: str | sa.URL) -> None:
        self._engine = make_engine(url)
        weakref.finalize(self, _dispose, self._engine, os.getpid())
        self._where = self._engine.url.render_as_string(hide_password=True)
        self._file = FileGuard(self._engine, schema.check)
        self._origin = new_key()  # tells this store's notifications from those of others
        # SQLite's own waiting is neither fair nor quick: threads of one process take turns here.
        self._is_sqlite = self._engine.dialect.name == "sqlite"
        self._turn = threading.Lock() if self._is_sqlite else nullcontext()
        with self._write() as connection:
            schema.upgrade(connection)

    def create(self, record: RunRecord, rounds: Iterable[Round] = ()) -> None:
        try:
            with self._write() as connection:
                row = sa.insert(schema.runs).values(
                    name=record.name,
                    optimizer=record.optimizer,
                    options=dict(record.options),
                    revision=record.revision,
                    x0=write_vector(record.x0),
                    seed=str(record.seed),
                    version=record.version,
                    created_at=record.created_at,
                    meta=dict(record.meta),
                )
                (run_id,) = connection.execute(row).inserted_primary_key or (None,)
                for line in rounds:
                    shown = {"shown_at": line.shown_at, "slate": line.slate}
                    values = {"run_id": run_id, **shown, **answer_columns(line)}
                    connection.execute(sa.insert(schema.rounds).values(values))
        except IntegrityError as error:
            raise InvalidInput(
                f"there is already a run named {record.name!r} in {self._where}; "
                "choose another name"
            ) from error

    def record(self, name: str) -> RunRecord:
        with self._read() as connection:
            return read_record(self._find(connection, name))

    def runs(self) -> list[RunRecord]:
        with self._read() as connection:
            query = sa.select(schema.runs).order_by(schema.runs.c.id)
            return [read_record_or_problem(row) for row in connection.execute(query)]

    def rounds(self, name: str) -> list[Round]:
        with self._read() as connection:
            return self._log(connection, self._find(connection, name).id)

    def last(self, name: str) -> Round | None:
        with self._read() as connection:
            row = self._last(connection, self._find(connection, name).id)
            return None if row is None else read_round(row)

    def snapshot(self, name: str) -> Snapshot:
        with self._read() as connection:
            return self._seen(connection, name)[1]

    def listen(self, on_change: Callable[[str | None], None]) -> Callable[[], None]:
        return listen(self._engine, self._origin, on_change)

    def append(
        self, name: str, index: int, shown_at: float, after: str = "", slate: Json | None = None
    ) -> Round:
        with self._write() as connection:
            run_id = self._lock(connection, name)
            last = self._last(connection, run_id)
            if index != _next(last) or self._last_key(connection, run_id, last) != after:
                raise not_waiting(name, index, _next(last) if _waits(last) else None)
            if _waits(last):
                return read_round(last)
            line = Round(index, shown_at, key=new_key(), slate=slate)
            shown = {"run_id": run_id, "shown_at": shown_at, "slate": slate}
            values = {**shown, **answer_columns(line)}
            connection.execute(APPEND, values)
            return line

    def answer(
        self, name: str, answered: Round, ballots: int | None = None, check: Check | None = None
    ) -> None:
        with self._write() as connection:
            run_id = self._lock(connection, name)
            if check is not None:
                check(self._seen(connection, name)[1])
            last = self._last(connection, run_id)
            same = _waits(last) and (last.position, last.key) == (answered.index, answered.key)
            if not same:
                raise not_waiting(name, answered.index, _next(last) if _waits(last) else None)
            given = {"run": run_id, "index": answered.index}
            if ballots is not None and connection.scalar(BALLOT_COUNT, given) != ballots:
                raise ballot_missed(name, answered.index)
            slate = {} if answered.slate is None else {"slate": answered.slate}
            connection.execute(ANSWER, {"row": last.id, **answer_columns(answered), **slate})

    def cast(
        self, name: str, index: int, ballot: Ballot, check: Check | None = None
    ) -> list[Ballot]:
        try:
            with self._write() as connection:
                if not self._is_sqlite:  # whose writers have locked the database
                    self._lock(connection, name)
                run_id, seen = self._seen(connection, name)
                if check is not None:
                    check(seen)
                if not seen.waits or seen.index != index:
                    raise not_waiting(name, index, seen.index if seen.waits else None)
                row = {
                    "run_id": run_id,
                    "position": index,
                    "cast_at": time.time(),
                    "rater": ballot.rater,
                    "weight": ballot.weight,
                    "ranking": ballot.ranking.to_json(),
                }
                connection.execute(CAST, row)
                return [*seen.ballots, ballot]
        except IntegrityError as error:
            raise second_ballot(name, index, ballot.rater) from error

    def ballots(self, name: str, index: int) -> list[Ballot]:
        with self._read() as connection:
            return read_ballots(connection, self._find(connection, name).id, index)

    def undo(self, name: str, index: int, last: str | None = None) -> None:
        with self._write(name) as connection:
            run_id = self._find(connection, name, lock=True).id
            if last is not None and self._last_key(connection, run_id) != last:
                raise answered_elsewhere(name)
            for table in (schema.rounds, schema.ballots):
                undone = (table.c.run_id == run_id) & (table.c.position >= index)
                update = sa.update(table).where(undone & table.c.undone_at.is_(None))
                connection.execute(update.values(undone_at=time.time()))

    def change_meta(self, name: str, changes: Json, dropped: Iterable[str] = ()) -> None:
        with self._write(name) as connection:
            run = self._find(connection, name, lock=True)
            update = sa.update(schema.runs).where(schema.runs.c.id == run.id)
            meta = read_record(run).meta
            connection.execute(update.values(meta=changed_meta(meta, changes, dropped)))

    def audit(self, name: str) -> Audit:
        with self._read() as connection:
            return _edits.audit(connection, self._find(connection, name).id)

    def rewrite(self, name: str, edit: Edit, edits: int | None = None) -> None:
        with self._write(name) as connection:
            run = self._find(connection, name, lock=True)
            if edits not in (None, read_record(run).meta.get("edits", 0)):
                raise edited_elsewhere(name)
            end = connection.execute(END, {"run_id": run.id}).one_or_none()
            if end is not None and not edit.fits(end.key, bool(end.waits)):
                raise answered_elsewhere(name)
            _edits.rewrite(connection, run, edit)
        _edits.erase_journal(self._engine)

    def delete(self, name: str) -> None:
        with self._write(name) as connection:
            run_id = self._find(connection, name, lock=True).id
            for table in (schema.rounds, schema.ballots):  # undone rows included
                connection.execute(sa.delete(table).where(table.c.run_id == run_id))
            connection.execute(sa.delete(schema.runs).where(schema.runs.c.id == run_id))

    def close(self) -> None:
        self._engine.dispose()

    def _find(self, connection: sa.Connection, name: str, lock: bool = False) -> Any:
        query = sa.select(schema.runs).where(schema.runs.c.name == name)
        row = connection.execute(query.with_for_update() if lock else query).one_or_none()
        if row is None and (row := self._nameless(connection, name)) is None:
            newest = sa.select(schema.runs.c.name).order_by(schema.runs.c.id.desc())
            names = connection.scalars(newest.limit(SUGGESTED))
            raise unknown_name("run", name, filter(is_text, names))
        return row

    def _seen(self, connection: sa.Connection, name: str) -> tuple[int, Snapshot]:
        """Return a run's id and its state."""
        row = connection.execute(SNAPSHOT, {"name": name}).one_or_none()
        if row is None:
            read_record(self._find(connection, name))  # raises, with the closest names
            raise StoreError(f"run {name!r} was created after this read began; try again")
        seen = read_snapshot(row)
        cast = read_ballots(connection, row.id, seen.index) if seen.waits else []
        return int(row.id), replace(seen, ballots=tuple(cast))

    def _lock(self, connection: sa.Connection, name: str) -> int:
        """Return a run's id; in PostgreSQL, lock its row and notify other processes."""
        if self._is_sqlite:
            found = connection.execute(LOCK, {"name": name})
        else:
            given = {"name": name, **notification(self._origin, name)}
            found = connection.execute(LOCK_AND_NOTIFY, given)
        row = found.one_or_none()
        return int((self._find(connection, name) if row is None else row).id)

    def _nameless(self, connection: sa.Connection, name: str) -> Any:
        """Return the row of a run without a readable name, by the name that `runs` gives it."""
        number = name.removeprefix(NAMELESS)
        if number == name or not number.isdecimal() or len(number) > 9:
            return None
        query = sa.select(schema.runs).where(schema.runs.c.id == int(number))
        row = connection.execute(query).one_or_none()
        return None if row is None or is_text(row.name) else row

    def _log(self, connection: sa.Connection, run_id: int) -> list[Round]:
        return read_log(connection.execute(LOG, {"run": run_id}))

    def _last(self, connection: sa.Connection, run_id: int) -> Any:
        row = connection.execute(LAST, {"run": run_id}).one_or_none()
        if row is not None:
            read_round(row)  # nothing is appended to a damaged line
        return row

    def _last_key(self, connection: sa.Connection, run_id: int, last: Any = None) -> str:
        """Return the key of the last answered line; `last` is the last line, if it was read."""
        if last is not None and last.answered_at is not None:
            return str(last.key)
        return str(connection.scalar(LAST_KEY, {"run": run_id}) or "")

    @contextmanager
    def _read(self) -> Iterator[sa.Connection]:
        with self._readable_errors():
            self._file.check()
            with self._engine.begin() as connection:
                yield connection

    @contextmanager
    def _write(self, name: str | None = None) -> Iterator[sa.Connection]:
        """Begin a transaction that writes; `name` is a changed run that `_lock` did not lock."""
        engine = self._engine.execution_options(zorank_write=True)
        watched = self._file.watched()
        with self._readable_errors(), self._turn, watched, engine.begin() as connection:
            yield connection
            if name is not None:
                notify(connection, self._origin, name)

    @contextmanager
    def _readable_errors(self) -> Iterator[None]:
        """Turn database errors into a StoreError that says what happened and what to do."""
        try:
            yield
        except IntegrityError:
            raise
        except UnicodeEncodeError as error:
            raise InvalidInput(
                "a text contains characters that cannot be encoded as UTF-8; remove them"
            ) from error
        except SQLAlchemyError as error:
            cause = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
            raise explained(cause, self._where) from error


def _dispose(engine: sa.Engine, process: int) -> None:
    """Close connections, unless this is a fork, to which they do not belong."""
    if os.getpid() == process:
        engine.dispose()


def _waits(last: Any) -> bool:
    return last is not None and last.answer is None


def _next(last: Any) -> int:
    """Return the index of the waiting round, or else of the next one."""
    if last is None:
        return 0
    return int(last.position) + (0 if _waits(last) else 1)
