"""Reads and edits all rows of a run, undone ones included, in a transaction of the SQL store."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from typing import Any

import sqlalchemy as sa

from zorank.stores import schema
from zorank.stores._shared import edited_line, edited_meta
from zorank.types import (
    Audit,
    Ballot,
    CastBallot,
    Edit,
    Round,
    answer_from_json,
    ranking_from_json,
)


def audit(connection: sa.Connection, run_id: int) -> Audit:
    """Return all lines and ballots of a run."""
    rounds = ((_line(row), row.undone_at) for row in _rows(connection, schema.rounds, run_id))
    ballots = (
        CastBallot(row.position, _ballot(row), row.cast_at, row.undone_at)
        for row in _rows(connection, schema.ballots, run_id)
    )
    return Audit(tuple(rounds), tuple(ballots))


def rewrite(connection: sa.Connection, run: Any, edit: Edit) -> None:
    """Apply an edit to all rows of a run."""
    rounds, ballots = schema.rounds, schema.ballots
    for row in _rows(connection, rounds, run.id):
        before = _line(row)
        after = edited_line(edit, before)
        if after != before or after.slate is not None:
            answer = None if after.answer is None else after.answer.to_json()
            changed = {"answer": answer, "rater": after.rater, "note": dict(after.note)}
            slate = {} if after.slate is None else {"slate": dict(after.slate)}
            update = sa.update(rounds).where(rounds.c.id == row.id)
            connection.execute(update.values({**changed, **slate}))
    for row in _rows(connection, ballots, run.id):
        ballot = edit.ballot(_ballot(row))
        here = ballots.c.id == row.id
        if ballot is None:
            connection.execute(sa.delete(ballots).where(here))
        elif ballot.rater != row.rater:
            connection.execute(sa.update(ballots).where(here).values(rater=ballot.rater))
    update = sa.update(schema.runs).where(schema.runs.c.id == run.id)
    connection.execute(update.values(meta=edited_meta(edit, run.meta)))


def erase_journal(engine: sa.Engine) -> None:
    """Empty SQLite's write-ahead log, which has the rows as they were before an edit.

    If another program reads the database at this moment, SQLite empties it later.
    """
    if engine.dialect.name == "sqlite":
        with closing(engine.raw_connection()) as raw, suppress(sqlite3.OperationalError):
            raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _rows(connection: sa.Connection, table: sa.Table, run_id: int) -> list[Any]:
    """Return all rows of a run without its slates, which may be large."""
    columns = [column for column in table.c if column.name != "slate"]
    query = sa.select(*columns).where(table.c.run_id == run_id).order_by(table.c.id)
    return list(connection.execute(query))


def _line(row: Any) -> Round:
    answer = None if row.answer is None else answer_from_json(row.answer)
    told = (row.position, row.shown_at, answer, row.rater, row.answered_at)
    return Round(*told, note=row.note, key=row.key)


def _ballot(row: Any) -> Ballot:
    return Ballot(row.rater, ranking_from_json(row.ranking), row.weight)
