"""The stream of server-sent events that every open page of a run has."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response
from fastapi.responses import StreamingResponse
from fastapi.sse import EventSourceResponse

from zorank.studio.dependencies import MembersRun, StreamPlace
from zorank.studio.models import ERRORS
from zorank.studio.notifier import Notifier

router = APIRouter(responses=ERRORS)
HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
"""Proxies must pass events on at once."""
TEXT = {"type": "string"}
ITEM = {"data": TEXT, "event": TEXT, "id": TEXT, "retry": {"type": "integer", "minimum": 0}}
STREAM: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"itemSchema": {"type": "object", "properties": ITEM}}}}
}


@router.get("/runs/{run_id}/events", response_class=StreamingResponse, responses=STREAM)
async def stream_events(
    run: MembersRun,
    request: Request,
    place: StreamPlace,
    last_event_id: Annotated[str | None, Header(max_length=60)] = None,
) -> Response:
    """Stream server-sent events: new rounds, answers, rendering progress, the judge's order.

    Events describe the current state. A client that reconnects with `Last-Event-ID` gets those
    that have changed since.
    """
    notifier: Notifier = request.app.state.notifier
    may_follow = partial(run.studio.admits, run.id, run.access)
    sent = notifier.follow(run.id, run.access.role == "owner", may_follow, last_event_id)
    place.push_async_callback(sent.aclose)  # also if the client disconnects
    # The notifier has encoded the events, once for all pages.
    return EventSourceResponse(sent, headers=HEADERS)
