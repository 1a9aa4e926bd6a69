"""Notices changes that other processes make to a database, without asking it again and again.

PostgreSQL notifies its clients (LISTEN and NOTIFY). A SQLite file has no such means, so a thread
looks at the time and the size of the file and of its write-ahead log, which costs no statement.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any

import sqlalchemy as sa

CHANNEL = "zorank"
LOOK_SECONDS = 0.25
"""Seconds between two looks at a SQLite file."""

TICK_SECONDS = 0.05
"""More than a tick of a file system's clock, by which it sets the times of files."""

RETRY_SECONDS = 1.0
"""Seconds until a lost connection to PostgreSQL is tried again."""

State = tuple[int, int, int] | None
"""Inode, time and size of a file; None for a missing one."""

OnChange = Callable[[str | None], None]


def notify(connection: sa.Connection, origin: str, name: str) -> None:
    """Tell listening processes, once this transaction is committed, that a run has changed."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(NOTIFICATION), notification(origin, name))


def notification(origin: str, name: str) -> dict[str, str]:
    """Return the parameters of NOTIFICATION."""
    return {"channel": CHANNEL, "payload": f"{origin} {name}"[:7000]}


NOTIFICATION = sa.func.pg_notify(
    sa.bindparam("channel", type_=sa.Text), sa.bindparam("payload", type_=sa.Text)
)
"""A column that tells listening processes, once its transaction is committed."""


def listen(engine: sa.Engine, origin: str, on_change: OnChange) -> Callable[[], None]:
    """Start a thread that reports changes of other processes; return a function that ends it.

    Args:
        engine: the database.
        origin: the name under which this process notifies; its own changes are not reported.
        on_change: called with the name of a run, or None if any may have changed.
    """
    ended = threading.Event()
    if engine.dialect.name == "postgresql":
        target: Callable[..., None] = _listen_postgres
    elif engine.url.database:
        target = _watch_file
    else:  # a SQLite database in memory belongs to this process
        return ended.set
    threading.Thread(
        target=target, args=(engine, origin, on_change, ended), daemon=True, name="zorank-listen"
    ).start()
    return ended.set


def _watch_file(engine: sa.Engine, _: str, on_change: OnChange, ended: threading.Event) -> None:
    files = [f"{engine.url.database}{suffix}" for suffix in ("", "-wal")]
    seen: list[State] | None = None  # what was written before this thread started is reported
    while not ended.wait(LOOK_SECONDS):
        found = _states(files)
        if found != seen:
            # Another write in the same tick may leave time and size as they are: look once more.
            seen = None if _is_recent(found) else found
            _report(on_change, None)


def _is_recent(states: list[State]) -> bool:
    newest = max((state[1] for state in states if state is not None), default=0)
    return time.time_ns() - newest < TICK_SECONDS * 1e9


def _states(files: list[str]) -> list[State]:
    found: list[State] = []
    for file in files:
        try:
            status = os.stat(file)
        except OSError:
            found.append(None)
        else:
            found.append((status.st_ino, status.st_mtime_ns, status.st_size))
    return found


def _listen_postgres(
    engine: sa.Engine, origin: str, on_change: OnChange, ended: threading.Event
) -> None:
    while not ended.is_set():
        try:
            pooled = engine.raw_connection()
            connection: Any = pooled.driver_connection
            pooled.detach()  # it is not returned to the pool
            with closing(connection):
                connection.autocommit = True
                connection.execute(f"LISTEN {CHANNEL}")
                _report(on_change, None)  # changes before LISTEN were not notified
                _receive(connection, origin, on_change, ended)
        except Exception as error:  # the server was stopped, or the network was cut
            logging.getLogger("zorank").info("notifications were interrupted: %s", error)
            ended.wait(RETRY_SECONDS)


def _receive(connection: Any, origin: str, on_change: OnChange, ended: threading.Event) -> None:
    while not ended.is_set():
        for notification in connection.notifies(timeout=1.0):
            sender, _, name = notification.payload.partition(" ")
            if sender != origin:
                _report(on_change, name)


def _report(on_change: OnChange, name: str | None) -> None:
    with suppress(Exception):  # a listener's error must not end the thread
        on_change(name)
