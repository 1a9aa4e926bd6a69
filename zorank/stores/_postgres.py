"""PostgreSQL connections that fail instead of waiting for a server that is frozen or cut off.

The server ends statements and waits for locks that take too long. A frozen server cannot do that,
so the client also gives up if it hears nothing. A URL may set each of these parameters otherwise:
postgresql+psycopg://HOST/NAME?connect_timeout=30.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Generator, Mapping
from typing import Any

import sqlalchemy as sa

CONNECT_SECONDS = 5
LOCK_SECONDS = 8
STATEMENT_SECONDS = 9
SILENCE_SECONDS = 10.0
"""How long to wait for a server that sends nothing."""

PING_SECONDS = 3.0
"""The same for the question whether a connection still works."""

OPTIONS = f"-c lock_timeout={LOCK_SECONDS}s -c statement_timeout={STATEMENT_SECONDS}s"

# A server that disappears is noticed by keepalives between, and tcp_user_timeout during requests.
PARAMETERS: Mapping[str, Any] = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 2,
    "tcp_user_timeout": 1000 * int(SILENCE_SECONDS),
}


def connect_arguments(url: sa.URL, patient: bool = False) -> dict[str, Any]:
    """Return the arguments of a connection; those of the URL take precedence.

    `patient` sets no limit to the duration of a statement, for a backup.
    """
    if url.get_driver_name() not in ("psycopg", "psycopg2"):
        return {}
    given = {name: value for name, value in PARAMETERS.items() if name not in url.query}
    if patient:
        return given
    theirs = url.query.get("options", "")
    text = theirs if isinstance(theirs, str) else " ".join(theirs)
    return {**given, "options": f"{OPTIONS} {text}".strip()}  # the last setting of a name counts


def limit_silence(engine: sa.Engine) -> None:
    """Make an engine's connections fail if the server sends nothing for too long."""
    if engine.url.get_driver_name() == "psycopg":
        sa.event.listen(engine, "do_connect", _connect)


def _connect(dialect: Any, record: Any, arguments: Any, parameters: Any) -> Any:
    return _impatient_connection().connect(*arguments, **parameters)


@functools.cache
def _impatient_connection() -> Any:
    import psycopg

    class ImpatientConnection(psycopg.Connection[Any]):
        """Closes itself if the server sends nothing for too long."""

        def wait(self, gen: Any, *arguments: Any, **options: Any) -> Any:
            # SQLAlchemy tests connections in autocommit mode, and zorank never uses it.
            limit = PING_SECONDS if self.autocommit else SILENCE_SECONDS
            try:
                return super().wait(_limited(gen, limit), *arguments, **options)
            except TimeoutError as error:
                self.close()
                raise psycopg.OperationalError(
                    f"the server did not answer for {limit:g} s"
                ) from error

    return ImpatientConnection


def _limited(gen: Generator[Any, Any, Any], seconds: float) -> Generator[Any, Any, Any]:
    """Pass a generator on; raise TimeoutError after some seconds without any event.

    psycopg sends the events of its socket, and 0 several times a second if there are none.
    """
    deadline = time.monotonic() + seconds
    try:
        state = next(gen)
        while True:
            event = yield state
            if event:
                deadline = time.monotonic() + seconds
            elif time.monotonic() > deadline:
                raise TimeoutError
            state = gen.send(event)
    except StopIteration as end:
        return end.value
