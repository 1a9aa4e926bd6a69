"""Moves a run from round to round: stores answers, closes rounds, prepares the next one."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from zorank.errors import InvalidInput, StaleAnswer
from zorank.protocols import Store
from zorank.studio import judging
from zorank.studio.access import OWNER, Access
from zorank.studio.deadlines import Deadlines
from zorank.studio.people import check_rater
from zorank.studio.previews import Previews
from zorank.studio.seen import Seen
from zorank.studio.sessions import NoAccess, Outdated, Session
from zorank.studio.stored_runs import StoredRuns
from zorank.types import Ballot, Poll, Ranking, Snapshot

ATTEMPTS = 5
"""How often an answer is tried again because the run has changed elsewhere since it was read."""


@dataclass(frozen=True)
class Sent:
    """An answer as it arrived.

    Attributes:
        index: the round that is answered.
        on_screen: the answer, in screen positions.
        rater: who answers.
        key: the presentation that the rater saw; it changes if the round is undone and shown
            again.
        access: the link that the answer came through; it may have ended in the meantime.
    """

    index: int
    on_screen: Ranking
    rater: str
    key: str | None = None
    access: Access = OWNER

    def check(self, session: Session) -> None:
        """Raise unless the answer may be stored in the run as it is."""
        access = self.access
        if not access.is_valid(session.meta):
            raise NoAccess("your link is no longer valid; ask for a new one")
        check_rater(self.rater, access.name, access.role == "owner", session)
        session.check_waits(self.index, self.key)


class Rounds:
    """Every method is called with the session's lock held.

    Args:
        store: where runs are stored.
        stored: reads runs.
        judges: scores slates.
        previews: renders rounds before browsers ask for them.
        deadlines: closes rounds at their deadline.
        clock: returns the time in seconds since 1970.
    """

    def __init__(
        self,
        store: Store,
        stored: StoredRuns,
        judges: judging.JudgeWorker,
        previews: Previews,
        deadlines: Deadlines,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._stored = stored
        self._judges = judges
        self._previews = previews
        self._deadlines = deadlines
        self._clock = clock

    def refresh(self, session: Session, seen: Seen | None = None) -> None:
        """Load what other processes have changed; `seen` is what the request has seen."""
        changed = session.take(*self._stored.read(session.run.name, seen))
        self._stored.rebind(session)
        if changed or session.unfinished:
            self.recover(session)
        self._deadlines.set(session.run.name, session.due)

    def recover(self, session: Session) -> None:
        """Finish what a crash or another process left unfinished.

        A log may end with an answer, without a round that waits; a round may have all its ballots
        and still be open; nothing is rendered yet.
        """
        session.run.ask()
        session.take(*self._stored.read(session.run.name))
        self.advance(session)
        session.unfinished = False

    def take(self, session: Session, sent: Sent) -> tuple[str, ...]:
        """Store an answer to the waiting round; return what it counts as.

        The store is not read before: the transaction that stores the answer checks it. A refusal
        may be due to an outdated view of the run, so the answer is tried again with a new one.
        """
        fresh = session.unfinished
        if session.unfinished:
            self.refresh(session)
        left = ATTEMPTS
        while True:
            try:
                sent.check(session)
                return self.store_answer(session, sent)
            except (InvalidInput, StaleAnswer) as error:
                if left == 0 or (fresh and not isinstance(error, Outdated)):
                    raise
            self.refresh(session)
            fresh, left = True, left - 1

    def store_answer(self, session: Session, sent: Sent) -> tuple[str, ...]:
        """Store an answer if it may be stored in the run as the store has it.

        One rater's answer is told to the run. If a round has several raters, it is a ballot, and
        `advance` closes the round with the last one.
        """
        run, ranking = session.run, session.ranking(sent.on_screen)
        alone = session.raters_needed == 1 and not session.ballots

        def check(found: Snapshot) -> None:
            session.adopt(found)
            if alone and session.ballots:
                raise Outdated
            sent.check(session)

        if alone:
            note = self.judge_note(session)
            run.tell(ranking, rater=sent.rater, round=sent.index, note=note, check=check)
            return ("answers",)
        ballot = Ballot(sent.rater, ranking)
        session.ballots = self._store.cast(run.name, sent.index, ballot, check)
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
                session.take(*self._stored.read(run.name))

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
