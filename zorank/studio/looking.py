"""Looks at candidates in the background, while people look at pictures.

A thread of its own looks at a run's reference sample, then at the pictures on screen and at the
candidates that the next slate may be chosen from. What it has seen is remembered by the run's
looks, so an answer only waits for what is not there yet.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import threading
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank.errors import InvalidInput, LookError
from zorank.looks import CHUNK, LookPlan, RunLooks, look_of, plan_for
from zorank.renderers.interface import ResolvedRenderer
from zorank.run import Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zorank.studio.sessions import Session


class Planner:
    """How many looks runs of each renderer can afford; each is tried once with given options."""

    def __init__(self) -> None:
        self._plans: dict[str, LookPlan | None] = {}

    def plan(self, renderer: ResolvedRenderer, options: Mapping[str, Any]) -> LookPlan | None:
        """The plan for a new run; None if it works without looks."""
        key = f"{renderer.name} {json.dumps(options, sort_keys=True, default=repr)}"
        if key not in self._plans:
            self._plans[key] = plan_for(renderer)
        return self._plans[key]


def looks_for(meta: Mapping[str, Any], renderer: ResolvedRenderer, seed: int) -> RunLooks | None:
    """The looks of a run that was made with some, as its meta data say."""
    kept, look = meta.get("looks"), look_of(renderer)
    if not kept or meta.get("looks_problem") or look is None:
        return None
    try:
        plan = LookPlan(**kept)
    except (TypeError, InvalidInput):  # somebody changed it; the run works by numbers
        return None
    return RunLooks(look, renderer.dim, renderer.space, seed, plan)


def expect(run: Run) -> None:
    """Let a run's looks check that candidates still look as the log says."""
    if not isinstance(run.looks, RunLooks):
        return
    for step in run.steps:
        if step.slate.looks is not None:
            run.looks.expect(np.asarray(step.slate), step.slate.looks[-len(step.slate) :])
            return


class Looker:
    """The thread that looks.

    Args:
        tell: told of a session whose looks have failed.
    """

    def __init__(self, tell: Callable[[Session], None]) -> None:
        self._tell = tell
        self._queue: SimpleQueue[Session] = SimpleQueue()
        self._worker: threading.Thread | None = None
        self._lock = threading.Lock()
        self._busy = threading.Lock()
        self._closed = False
        atexit.register(self.close)

    def watch(self, session: Session) -> None:
        """Look at what the next question of a run will need."""
        if session.run.looks is None:
            return
        with self._lock:
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, daemon=True, name="zorank-look")
                self._worker.start()
        self._queue.put(session)

    def close(self) -> None:
        """Look at nothing more, and wait, but not for ever, for the last look."""
        self._closed = True
        if self._busy.acquire(timeout=5.0):
            self._busy.release()

    def _work(self) -> None:
        while not self._closed:
            session = self._queue.get()
            with self._busy:
                try:
                    self._look(session)
                except LookError as error:
                    session.run.drop_looks(str(error))
                    with contextlib.suppress(Exception):  # else it is told with the next answer
                        self._tell(session)
                except Exception:  # what is wrong with a run is told to whoever opens it
                    continue

    def _look(self, session: Session) -> None:
        looks = session.run.looks
        if not isinstance(looks, RunLooks):
            return
        while not self._closed and looks.step():
            pass
        for rows in _needed(session):
            for i in range(0, len(rows), CHUNK):
                if self._closed or session.run.looks is not looks:
                    return
                looks(rows[i : i + CHUNK])


def _needed(session: Session) -> list[NDArray[np.float64]]:
    """The candidates on screen, earlier ones without looks, and the next prospects."""
    with session.lock:
        run = session.run
        slate, looks = run.ask(), run.looks
        if looks is None or len(run.history) < looks.begin:
            return []
        waiting = [] if slate.looks is not None else list(slate)
        return [
            np.array(rows) for rows in ([*run.unlooked(), *waiting], run.prospects()) if len(rows)
        ]
