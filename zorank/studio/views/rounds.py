"""Describes the waiting round as people see it."""

from __future__ import annotations

from collections.abc import Sequence

from zorank.slates import Slate
from zorank.studio.access import Role
from zorank.studio.models.rounds import (
    BestRef,
    ExhibitRef,
    JudgeOrder,
    ShownRound,
    WaitingRound,
)
from zorank.studio.presentation import shown_order, to_screen
from zorank.studio.render_pool import fingerprint
from zorank.studio.sessions import Session
from zorank.studio.studio import Studio
from zorank.studio.urls import of_version, versioned
from zorank.types import Group


def shown_round(studio: Studio, session: Session) -> ShownRound:
    """Describe the round that waits for an answer, as everybody sees it; once for each round."""
    likely = session.likely if session.raters_needed == 1 else None
    weights, closes_at = session.renderer.weights, session.closes_at
    made_from = (session.waiting.key, likely is None, weights, closes_at)
    if session.described is None or session.described[0] != made_from:
        session.described = (made_from, _described(studio, session, likely))
    return session.described[1]


def _described(studio: Studio, session: Session, likely: Slate | None) -> ShownRound:
    waiting, slate, shown = session.waiting, session.run.ask(), session.shown
    media_type = session.renderer.media_type
    urls = _exhibit_urls(studio, session, waiting.index, session.fingerprints, shown)
    return ShownRound(
        index=waiting.index,
        key=waiting.key,
        question=slate.question,
        exhibits=[
            ExhibitRef(
                position=position,
                url=url,
                media_type=media_type,
                current=slate.question == "best" and shown[position] == 0,
            )
            for position, url in enumerate(urls)
        ],
        best=best_so_far(studio, session),
        ahead=urls_ahead(studio, session, likely),
        closes_at=session.closes_at,
    )


def waiting_round(studio: Studio, session: Session, role: Role, rater: str | None) -> WaitingRound:
    """Describe the round that waits for an answer, as this rater sees it."""
    answered_by = [ballot.rater for ballot in session.ballots]
    return WaitingRound(
        **vars(shown_round(studio, session)),
        judge=judge_order(studio, session, role),
        answered_by=answered_by,
        waiting_for=session.missing_answers,
        you_answered=rater in answered_by,
    )


def best_so_far(studio: Studio, session: Session) -> BestRef | None:
    """Describe the best exhibit; None before a start is picked."""
    moved = [step for step in session.steps if step.moved]
    if not moved:
        return None
    index = moved[-1].line.index
    path = studio.urls.run(session.run.name, f"bests/{index}")
    return BestRef(
        url=versioned(path, moved[-1].best, session.renderer),
        media_type=session.renderer.media_type,
        since=index,
        start=moved[-1].slate.question == "start",
    )


def judge_order(studio: Studio, session: Session, role: Role) -> JudgeOrder | None:
    """Describe the judge's order of the waiting round; None without a judge.

    Only the owner reads the judge's problem, because it may name files.
    """
    if session.judge is None:
        return None
    verdict = studio.rounds.verdict(session)
    order = None if verdict is None else verdict.order
    on_screen = None if order is None else to_screen(order, session.shown)
    return JudgeOrder(
        name=session.judge.title,
        order=None if on_screen is None else [list(group) for group in on_screen.best],
        problem=verdict.problem if verdict is not None and role == "owner" else "",
    )


def urls_ahead(studio: Studio, session: Session, slate: Slate | None) -> list[str]:
    """Return the exhibit URLs of the next round, if this will be its slate."""
    if slate is None:
        return []
    index = session.waiting.index + 1
    shown = shown_order(session.record, index, len(slate))
    return _exhibit_urls(studio, session, index, list(map(fingerprint, slate)), shown)


def _exhibit_urls(
    studio: Studio, session: Session, index: int, fingerprints: Sequence[str], shown: Group
) -> list[str]:
    """Return the URLs of a round's exhibits by screen position."""
    base = studio.urls.run(session.run.name, f"rounds/{index}/exhibits")
    return [
        of_version(f"{base}/{position}", fingerprints[candidate], session.renderer)
        for position, candidate in enumerate(shown)
    ]
