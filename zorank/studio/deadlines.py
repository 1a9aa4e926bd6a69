"""Closes rounds at their deadline, in one thread for all runs of a studio.

The studio says when the waiting round of a run is due. Every process that has loaded the run
does: the store takes one answer for each round, whoever is first.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

RETRY = 5.0
"""Seconds until a round that could not be closed is tried again."""

LONGEST_SLEEP = 60.0
"""The system's clock may be set while the thread sleeps."""


class Deadlines:
    """Calls `close` with the id of each run that is due.

    Args:
        close: closes the waiting round of a run.
        clock: returns the time in seconds since 1970.
    """

    def __init__(self, close: Callable[[str], None], clock: Callable[[], float]) -> None:
        self._close = close
        self._clock = clock
        self._due: dict[str, float] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._ended = False

    def set(self, run: str, due: float | None) -> None:
        """Say when a run's round is due; None if it is not."""
        with self._changed:
            if self._due.get(run) == due or self._ended:
                return
            if due is None:
                del self._due[run]
                return
            self._due[run] = due
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="deadlines", daemon=True)
                self._thread.start()
            self._changed.notify()

    def end(self) -> None:
        """Close no more rounds."""
        with self._changed:
            self._ended = True
            self._changed.notify()

    def _work(self) -> None:
        while (run := self._next()) is not None:
            try:
                self._close(run)
            except Exception as error:
                logging.getLogger("zorank").warning("run %s: not closed in time: %s", run, error)
                self.set(run, self._clock() + RETRY)

    def _next(self) -> str | None:
        """Wait for the next run that is due; None at the end."""
        with self._changed:
            while not self._ended:
                run = min(self._due, key=self._due.__getitem__, default=None)
                rest = LONGEST_SLEEP if run is None else self._due[run] - self._clock()
                if run is not None and rest <= 0:
                    del self._due[run]
                    return run
                self._changed.wait(min(rest, LONGEST_SLEEP))
        return None
