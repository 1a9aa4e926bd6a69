"""Server-sent events of a run: the page learns of new rounds, ballots and rendering progress."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel

from zorank.errors import InvalidInput
from zorank.studio.access import Access
from zorank.studio.exports import data_url
from zorank.studio.responses.rounds import JudgeOrder, RoundRef
from zorank.studio.studio import Studio
from zorank.studio.views import judge_order

INTERVAL = 0.5
"""Seconds between two reads of the run."""


class BallotsEvent(BaseModel):
    """Who answered the waiting round."""

    answered_by: list[str]
    waiting_for: int


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


async def stream(run_id: str, request: Request, studio: Studio) -> AsyncIterator[str]:
    """Send each event when it has changed, until the page closes, the run or its link is gone."""
    sent: dict[str, BaseModel] = {}
    while not (request.app.state.closing or await request.is_disconnected()):
        access: Access | None = await run_in_threadpool(request.app.state.guard.access, request)
        if access is None or not access.may_see(run_id):  # the link was revoked
            return
        try:
            events = await run_in_threadpool(current_events, run_id, studio, access)
        except InvalidInput:  # the run was deleted
            return
        for name, event in events.items():
            if sent.get(name) != event:
                yield f"event: {name}\ndata: {json.dumps(event.model_dump())}\n\n"
        sent = events
        await asyncio.sleep(INTERVAL)


def current_events(run_id: str, studio: Studio, access: Access) -> dict[str, BaseModel]:
    """Return the current content of every event, by name."""
    with studio.session(run_id) as session:
        index, slate, pool = session.waiting.index, session.run.ask(), studio.render_pool
        size = session.renderer.size or 0
        events: dict[str, BaseModel] = {
            "round": RoundRef(index=index),
            "ballots": BallotsEvent(
                answered_by=[ballot.rater for ballot in session.ballots],
                waiting_for=session.missing_answers,
            ),
            "exhibit": RenderedEvent(
                round=index, done=pool.ready(run_id, slate, size), of=len(slate)
            ),
        }
        if judge := judge_order(studio, session, access.role):
            events["judge"] = JudgeEvent(round=index, **judge.model_dump())
        if session.renderer.tells_progress:
            shown = [slate[candidate] for candidate in session.shown]
            shares = pool.shares(run_id, shown, size)
            found = pool.previews(run_id, shown, size)
            pictures = [None if p is None else data_url(p) for p in found]
            events["progress"] = ProgressEvent(round=index, shares=shares)
            events["previews"] = PreviewsEvent(round=index, pictures=pictures)
    return events
