"""Renders exhibits before a browser asks for them.

When a round begins to wait, its own exhibits are rendered, its judge scores them, and looks for
the next slate are computed. While a person ranks, the page sends draft answers; the slate that
would follow a draft is previewed and rendered too.
"""

from __future__ import annotations

import itertools

from zorank.looks import RunLooks
from zorank.slates import Slate
from zorank.studio.judging import JudgeWorker
from zorank.studio.look_worker import LookWorker
from zorank.studio.render_pool import RenderPool, Urgency, fingerprint
from zorank.studio.sessions import Session
from zorank.types import Ranking

MOST_AHEAD = 128
"""The largest number of candidates per run that are served before their round."""


class Previews:
    """Starts background work for the waiting round and for the rounds that may follow it."""

    def __init__(self, pool: RenderPool, judges: JudgeWorker, looks: LookWorker) -> None:
        self._pool = pool
        self._judges = judges
        self._looks = looks
        self._newest: dict[str, int] = {}
        self._numbers = itertools.count()

    def prepare(self, session: Session) -> None:
        """Start the background work for the waiting round, once for each round."""
        key = session.waiting.key
        if session.prepared == key:
            return
        run, slate = session.run, session.run.ask()
        self._pool.cancel_speculative(run.name)
        self._render(session, slate, Urgency.SOON)
        if session.judge is not None:
            self._judges.verdict(run.name, session.judge, session.renderer, slate)
        self._looks.watch(session)
        # A line search keeps its next slate while the incumbent x* wins, so assume that it does.
        likely = slate.question == "best" and session.raters_needed == 1
        session.likely = run.preview([0]) if likely else None
        if session.likely is not None:
            self._render(session, session.likely, Urgency.LIKELY)
            self._serve(session, session.likely)
        session.prepared = key

    def supersede(self, run_id: str) -> int:
        """Return a number for a new draft or answer; older drafts are skipped from now on."""
        self._newest[run_id] = number = next(self._numbers)
        return number

    def forget(self, run_id: str) -> None:
        """Forget the number of a run's newest draft."""
        self._newest.pop(run_id, None)

    def preview(
        self, session: Session, index: int, on_screen: Ranking, number: int
    ) -> Slate | None:
        """Return the slate that would follow this draft answer, and start to render it.

        None if the draft is outdated, if several raters answer, or if a preview would have to
        wait for the looks of the reference sample.
        """
        outdated = self._newest.get(session.run.name) != number
        if outdated or session.waiting.index != index or session.raters_needed > 1:
            return None
        self._pool.cancel_speculative(session.run.name)
        if isinstance(session.run.looks, RunLooks) and not session.run.looks.ready:
            return None
        following = session.run.preview(session.ranking(on_screen))
        self._render(session, following, Urgency.PREVIEWED)
        self._serve(session, following)
        return following

    def _serve(self, session: Session, slate: Slate) -> None:
        """Let browsers load these candidates from now on, whether or not their round comes."""
        session.ahead |= {fingerprint(candidate): candidate for candidate in slate}
        for oldest in list(session.ahead)[:-MOST_AHEAD]:
            del session.ahead[oldest]

    def _render(self, session: Session, slate: Slate, urgency: Urgency) -> None:
        for candidate in slate:
            self._pool.request(session.run.name, session.renderer, candidate, urgency)
