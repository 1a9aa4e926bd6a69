"""Server-sent events of a run: the page learns of new rounds, ballots and rendering progress."""

from __future__ import annotations

from pydantic import BaseModel

from zorank.studio.exports import data_url
from zorank.studio.models.rounds import JudgeOrder
from zorank.studio.studio import Studio
from zorank.studio.views import rounds as views


class BallotsEvent(BaseModel):
    """The raters who answered the waiting round, and the time at which it closes."""

    round: int
    answered_by: list[str]
    waiting_for: int
    closes_at: float | None


class RenderedEvent(BaseModel):
    """How many exhibits of the waiting round are rendered."""

    round: int
    done: int
    of: int


class JudgeEvent(JudgeOrder):
    """The judge's order of the waiting round."""

    round: int


class ProgressEvent(BaseModel):
    """The rendering progress of each exhibit, from 0 to 1; null if unknown."""

    round: int
    shares: list[float | None]


class PreviewsEvent(BaseModel):
    """Intermediate pictures as data URLs: they are small, and a browser has few connections."""

    round: int
    pictures: list[str | None]


def current_events(studio: Studio, run_id: str, is_owner: bool) -> dict[str, BaseModel]:
    """Return the current content of every event, by name; reads nothing from the store."""
    with studio.cached(run_id) as session:
        index, slate, pool = session.waiting.index, session.run.ask(), studio.render_pool
        size = session.renderer.size or 0
        events: dict[str, BaseModel] = {
            "round": views.shown_round(studio, session),
            "ballots": BallotsEvent(
                round=index,
                answered_by=[ballot.rater for ballot in session.ballots],
                waiting_for=session.missing_answers,
                closes_at=session.closes_at,
            ),
            "exhibit": RenderedEvent(
                round=index, done=pool.ready(run_id, session.fingerprints, size), of=len(slate)
            ),
        }
        if judge := views.judge_order(studio, session, "owner" if is_owner else "rater"):
            events["judge"] = JudgeEvent(round=index, **judge.model_dump())
        if session.renderer.tells_progress:
            shown = [slate[candidate] for candidate in session.shown]
            shares = pool.shares(run_id, shown, size)
            found = pool.previews(run_id, shown, size)
            pictures = [None if p is None else data_url(p) for p in found]
            events["progress"] = ProgressEvent(round=index, shares=shares)
            events["previews"] = PreviewsEvent(round=index, pictures=pictures)
    return events
