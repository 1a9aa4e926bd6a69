"""Computes looks in a background thread, while people rank.

The thread computes looks of a run's reference sample, then of the candidates on screen and of
those that the next slate may be chosen from. The run's `RunLooks` caches them, so an answer only
waits for looks that are still missing.
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


class LookPlanner:
    """Measures how many looks a run can afford, once for each renderer and its options."""

    def __init__(self) -> None:
        self._plans: dict[str, LookPlan | None] = {}

    def plan(self, renderer: ResolvedRenderer, options: Mapping[str, Any]) -> LookPlan | None:
        """Return the plan for a new run; None for a run without looks."""
        key = f"{renderer.name} {json.dumps(options, sort_keys=True, default=repr)}"
        if key not in self._plans:
            self._plans[key] = plan_for(renderer)
        return self._plans[key]


def looks_for(meta: Mapping[str, Any], renderer: ResolvedRenderer, seed: int) -> RunLooks | None:
    """Return the looks of a run, as planned in its metadata; None for a run without looks."""
    kept, look = meta.get("looks"), look_of(renderer)
    if not kept or meta.get("looks_problem") or look is None:
        return None
    try:
        plan = LookPlan(**kept)
    except (TypeError, InvalidInput):  # the metadata were edited; go on without looks
        return None
    return RunLooks(look, renderer.dim, renderer.space, seed, plan)


def check_against_log(run: Run) -> None:
    """Let a run's looks check that they still equal the looks in the log."""
    if not isinstance(run.looks, RunLooks):
        return
    for step in run.steps:
        if step.slate.looks is not None:
            run.looks.expect(np.asarray(step.slate), step.slate.looks[-len(step.slate) :])
            return


class LookWorker:
    """The thread that computes looks.

    Args:
        on_failure: called with a session whose looks have failed.
    """

    def __init__(self, on_failure: Callable[[Session], None]) -> None:
        self._on_failure = on_failure
        self._queue: SimpleQueue[Session] = SimpleQueue()
        self._worker: threading.Thread | None = None
        self._lock = threading.Lock()
        self._busy = threading.Lock()
        self._closed = False
        atexit.register(self.close)

    def watch(self, session: Session) -> None:
        """Queue the looks that the next slate of a run needs."""
        if session.run.looks is None:
            return
        with self._lock:
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, daemon=True, name="zorank-look")
                self._worker.start()
        self._queue.put(session)

    def close(self) -> None:
        """Stop, and wait at most five seconds for the look in progress."""
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
                    with contextlib.suppress(Exception):  # the next answer reports it again
                        self._on_failure(session)
                except Exception:  # a broken run is reported when it is opened
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
    """Return the candidates whose looks are missing: shown ones first, then next prospects."""
    with session.lock:
        run = session.run
        slate, looks = run.ask(), run.looks
        if looks is None or len(run.history) < looks.begin:
            return []
        waiting = [] if slate.looks is not None else list(slate)
        return [
            np.array(rows) for rows in ([*run.unlooked(), *waiting], run.prospects()) if len(rows)
        ]
