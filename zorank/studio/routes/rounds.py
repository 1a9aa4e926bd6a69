"""Routes about the waiting round: show it, answer it, draft an answer, close it, undo.

Pages call the first three all the time. They return JSON that was made in the handler's thread:
FastAPI would use another thread to make it.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel

from zorank.errors import InvalidInput
from zorank.studio.dependencies import Index, MembersRun, OpenRun, OwnersRun, RatersRun
from zorank.studio.models import ERRORS
from zorank.studio.models.rounds import (
    Ahead,
    AnswerTaken,
    Candidates,
    GivenAnswer,
    GivenOrder,
    Undone,
    UndoRounds,
    WaitingRound,
)
from zorank.studio.rounds import Sent
from zorank.studio.sessions import Session
from zorank.studio.views import rounds as views

router = APIRouter(responses=ERRORS)


@router.post("/runs/{run_id}/rounds/{index}/answer", response_model=AnswerTaken)
def answer_round(run: RatersRun, index: Index, given: GivenAnswer) -> Response:
    """Answer the waiting round."""
    rater = run.rater(given.rater)
    if rater is None:
        raise InvalidInput("an answer through a shared link needs a name; enter yours")
    sent = Sent(index, given.ranking(), rater, given.key, run.access)
    session = run.studio.answer(run.id, sent)
    return _json(_taken(run, session, index, rater))


@router.post("/runs/{run_id}/rounds/{index}/draft", response_model=Ahead)
def draft_answer(run: RatersRun, index: Index, given: GivenOrder) -> Response:
    """Render the round that would follow this answer, so that the page can load it in advance."""
    number = run.studio.previews.supersede(run.id)
    with run.session() as session:
        following = run.studio.preview(session, index, given.ranking(), number)
        return _json(Ahead(ahead=views.urls_ahead(run.studio, session, following)))


@router.get("/runs/{run_id}/round", response_model=WaitingRound)
def waiting_round(
    run: MembersRun, rater: Annotated[str | None, Query(max_length=60)] = None
) -> Response:
    """Return the round that waits for an answer."""
    with run.session() as session:
        return _json(_waiting(run, session, run.rater(rater)))


@router.post("/runs/{run_id}/rounds/{index}/close")
def close_round(run: OwnersRun, index: Index) -> AnswerTaken:
    """Close a round with the answers it has."""
    return _taken(run, run.studio.close(run.id, index), index, run.rater())


@router.get("/runs/{run_id}/rounds/{index}/candidates")
def show_candidates(run: OwnersRun, index: Index) -> Candidates:
    """Return the vectors of a round by screen position, for judges that are programs."""
    with run.session() as session:
        slate, shown = session.slate(index)
        return Candidates(candidates=[slate[candidate].tolist() for candidate in shown])


@router.post("/runs/{run_id}/undo")
def undo(run: OwnersRun, asked: UndoRounds | None = None) -> Undone:
    """Undo answered rounds."""
    session = run.studio.undo(run.id, (asked or UndoRounds()).rounds)
    with session.lock:
        waiting = _waiting(run, session, run.rater())
    return Undone(index=waiting.index, round=waiting)


def _waiting(run: OpenRun, session: Session, rater: str | None) -> WaitingRound:
    return views.waiting_round(run.studio, session, run.access.role, rater)


def _taken(run: OpenRun, session: Session, index: int, rater: str | None) -> AnswerTaken:
    """Describe what followed a stored answer; a failure there does not concern the answer."""
    with session.lock:
        if session.unfinished:
            return AnswerTaken(closed=False, index=index, round=None)
        waiting = _waiting(run, session, rater)
    return AnswerTaken(closed=waiting.index != index, index=waiting.index, round=waiting)


def _json(made: BaseModel) -> Response:
    return Response(made.model_dump_json(), media_type="application/json")
