"""The statements of the SQL store that read logs and ballots."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from zorank.stores import schema
from zorank.stores._listen import NOTIFICATION
from zorank.stores._rows import read_ballot
from zorank.types import Ballot


def _log_query() -> sa.Select[Any]:
    """Select the rounds of a run that were not undone."""
    mine = (schema.rounds.c.run_id == sa.bindparam("run")) & schema.rounds.c.undone_at.is_(None)
    return sa.select(schema.rounds).where(mine)


def _ballots_query() -> sa.Select[Any]:
    """Select the ballots for a round that were not undone."""
    table = schema.ballots
    here = (table.c.run_id == sa.bindparam("run")) & (table.c.position == sa.bindparam("index"))
    return sa.select(table).where(here & table.c.undone_at.is_(None))


def read_ballots(connection: sa.Connection, run_id: int, index: int) -> list[Ballot]:
    """Return the ballots for a round that were not undone, in the order of casting."""
    cast = connection.execute(BALLOTS, {"run": run_id, "index": index})
    return [read_ballot(row) for row in cast]


def _snapshot_query() -> sa.Select[Any]:
    """Select a run's id and metadata, and the end of its log without its slate."""
    runs, rounds = schema.runs, schema.rounds
    in_log = (rounds.c.run_id == runs.c.id) & rounds.c.undone_at.is_(None)
    waits = rounds.c.answer.is_(sa.null()).label("waits")
    return (
        sa.select(runs.c.id, runs.c.meta, rounds.c.position, rounds.c.key, waits)
        .select_from(runs.outerjoin(rounds, in_log))
        .where(runs.c.name == sa.bindparam("name"))
        .order_by(rounds.c.position.desc())
        .limit(1)
    )


def _end_query() -> sa.Select[Any]:
    """Select the end of a log without its slate, which may be large."""
    rounds = schema.rounds
    in_log = (rounds.c.run_id == sa.bindparam("run_id")) & rounds.c.undone_at.is_(None)
    waits = rounds.c.answer.is_(sa.null()).label("waits")
    columns = sa.select(rounds.c.position, rounds.c.key, waits)
    return columns.where(in_log).order_by(rounds.c.position.desc()).limit(1)


# Statements of every answer are built once: building one takes longer than executing it.
SNAPSHOT = _snapshot_query()
END = _end_query()
BALLOTS = _ballots_query().order_by(schema.ballots.c.id)
BALLOT_COUNT = _ballots_query().with_only_columns(sa.func.count(schema.ballots.c.id))
CAST = sa.insert(schema.ballots)
LOG = _log_query().order_by(schema.rounds.c.position)
LAST = _log_query().order_by(schema.rounds.c.position.desc()).limit(1)
LAST_KEY = LAST.with_only_columns(schema.rounds.c.key).where(
    schema.rounds.c.answered_at.is_not(None)
)
APPEND = sa.insert(schema.rounds)
ANSWER = sa.update(schema.rounds).where(schema.rounds.c.id == sa.bindparam("row"))
LOCK = (
    sa.select(schema.runs.c.id).where(schema.runs.c.name == sa.bindparam("name")).with_for_update()
)
LOCK_AND_NOTIFY = LOCK.add_columns(NOTIFICATION)
