"""The runs of a studio in its store: lists them, reads their state, replays their logs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from zorank.errors import InvalidInput, unknown_name
from zorank.protocols import Store
from zorank.renderers.interface import RendererKind, ResolvedRenderer
from zorank.run import Run
from zorank.studio import look_worker
from zorank.studio.judging import Panel
from zorank.studio.run_meta import check_meta, is_listed
from zorank.studio.seen import Seen
from zorank.studio.sessions import NotFound, Session
from zorank.types import RunRecord, Snapshot

NO_SUCH_RUN = "there is no such run; it may have been deleted"


class StoredRuns:
    """Reads runs; runs of other programs in the same store do not exist here.

    Args:
        store: where runs are stored.
        renderers: the studio's renderers by name.
        panel: the available judges.
    """

    def __init__(self, store: Store, renderers: Mapping[str, RendererKind], panel: Panel) -> None:
        self._store = store
        self._renderers = renderers
        self._panel = panel

    def records(self) -> list[RunRecord]:
        """Return the studio's runs, newest first."""
        return [r for r in reversed(self._store.runs()) if is_listed(r, self._renderers)]

    def read(self, run_id: str, seen: Seen | None = None) -> tuple[Snapshot, float]:
        """Return a checked snapshot of a run and when it was read; NotFound if there is none.

        Args:
            run_id: the run.
            seen: what the request has seen; the store is not read again if that is a snapshot.
        """
        if seen is not None and seen.snapshot is not None:
            return self._checked(run_id, seen.snapshot), seen.at
        now = time.perf_counter()
        try:
            return self._checked(run_id, self._store.snapshot(run_id)), now
        except InvalidInput as error:  # this error names other runs
            raise NotFound(NO_SUCH_RUN) from error

    def load(self, run_id: str) -> Session:
        """Replay a run's log."""
        self.read(run_id)
        record = self._store.record(run_id)
        if record.meta["renderer"] not in self._renderers:
            raise InvalidInput(f"run {run_id!r} was not made in this studio")
        renderer = self.renderer(record.meta["renderer"], record.meta["renderer_options"])
        looks = look_worker.looks_for(record.meta, renderer, record.seed)
        run = Run.open(self._store, run_id, trace=True, record_slates=True, looks=looks)
        look_worker.check_against_log(run)
        return Session(run, renderer, self._panel.choice(record.meta, renderer))

    def rebind(self, session: Session) -> None:
        """Make the renderer of a run again if its files are at another place now."""
        options = session.meta["renderer_options"]
        if options != session.options:
            session.renderer = self.renderer(session.meta["renderer"], options)
            session.options = options

    def renderer(self, name: str, options: Mapping[str, Any]) -> ResolvedRenderer:
        """Return the renderer of this name with these options."""
        if name not in self._renderers:
            raise unknown_name("renderer", name, self._renderers)
        return self._renderers[name].restore(options)

    @staticmethod
    def _checked(run_id: str, snapshot: Snapshot) -> Snapshot:
        if "renderer" not in snapshot.meta:
            raise NotFound(NO_SUCH_RUN)
        check_meta(run_id, snapshot.meta)
        return snapshot
