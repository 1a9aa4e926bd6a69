"""Moves a run from round to round: stores answers, closes rounds, prepares the next one."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from zorank.errors import StaleAnswer
from zorank.protocols import Store
from zorank.studio import judging
from zorank.studio.deadlines import Deadlines
from zorank.studio.previews import Previews
from zorank.studio.sessions import Session
from zorank.types import Ballot, Poll, Ranking, Snapshot


class Rounds:
    """Every method is called with the session's lock held.

    Args:
        store: where runs are stored.
        read: returns a checked snapshot of a run, and when it was read.
        judges: scores slates.
        previews: renders rounds before browsers ask for them.
        deadlines: closes rounds at their deadline.
        clock: returns the time in seconds since 1970.
    """

    def __init__(
        self,
        store: Store,
        read: Callable[[str], tuple[Snapshot, float]],
        judges: judging.JudgeWorker,
        previews: Previews,
        deadlines: Deadlines,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._read = read
        self._judges = judges
        self._previews = previews
        self._deadlines = deadlines
        self._clock = clock

    def recover(self, session: Session) -> None:
        """Finish what a crash or another process left unfinished.

        A log may end with an answer, without a round that waits; a round may have all its ballots
        and still be open; nothing is rendered yet.
        """
        session.run.ask()
        session.take(*self._read(session.run.name))
        self.advance(session)
        session.unfinished = False

    def store_answer(
        self, session: Session, index: int, on_screen: Ranking, rater: str
    ) -> tuple[str, ...]:
        """Store a rater's answer to the waiting round; return what it counts as.

        One rater's answer is told to the run. If a round has several raters, it is a ballot, and
        `advance` closes the round with the last one.
        """
        ranking = session.ranking(on_screen)
        if session.raters_needed == 1 and not session.ballots:
            note = self.judge_note(session)
            session.run.tell(ranking, rater=rater, round=index, note=note)
            return ("answers",)
        session.ballots = self._store.cast(session.run.name, index, Ballot(rater, ranking))
        return ("answers", "ballots")

    def try_advance(self, session: Session) -> None:
        """Advance after a stored answer; if that fails, it is done when the run is used next."""
        try:
            self.advance(session)
        except Exception as error:
            session.unfinished = True
            logging.getLogger("zorank").warning(
                "run %s: the answer is stored, but what follows failed: %s",
                *(session.run.name, error),
            )

    def advance(self, session: Session) -> None:
        """Close the waiting round if it has its ballots; make a round wait, and prepare it."""
        if session.missing_answers == 0 or session.is_overdue(self._clock()):
            self.close(session)
        if session.waiting.answer is not None:
            session.run.ask()
            session.ballots = []
        self._deadlines.set(session.run.name, session.due)
        self._previews.prepare(session)
        self.store_looks_problem(session)

    def close(self, session: Session) -> None:
        """Tell the run its ballots; repeat if another process casts one at the same time."""
        run, index = session.run, session.waiting.index
        known = session.rater_agreements()
        while session.waiting.index == index and session.ballots:
            ballots = tuple(
                replace(b, weight=session.rater_weight(known.get(b.rater)))
                for b in session.ballots
            )
            alone = len(ballots) == 1 and not session.learns_raters
            answer = ballots[0].ranking if alone else Poll(ballots)
            raters = ", ".join(b.rater for b in ballots)
            try:
                note = self.judge_note(session)
                run.tell(answer, rater=raters, round=index, note=note, ballots=len(ballots))
                return
            except StaleAnswer:
                run.ask()
                session.take(*self._read(run.name))

    def verdict(self, session: Session) -> judging.Verdict | None:
        """Return the judge's verdict on the waiting round; None without a judge or until then."""
        if session.judge is None:
            return None
        slate = session.run.ask()
        return self._judges.verdict(session.run.name, session.judge, session.renderer, slate)

    def judge_note(self, session: Session) -> dict[str, Any]:
        """Return the judge's scores as the log keeps them with an answer."""
        if session.judge is None:
            return {}
        return judging.note_of(session.judge, self.verdict(session))

    def store_looks_problem(self, session: Session) -> None:
        """Store why a run's looks failed, so that they are not tried again."""
        problem = session.run.looks_problem
        if problem and session.meta.get("looks_problem") != problem:
            self._store.change_meta(session.run.name, {"looks_problem": problem})
