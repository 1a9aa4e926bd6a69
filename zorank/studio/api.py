"""The JSON routes of the HTTP interface. Handlers only translate between HTTP and `Studio`.

To add a route: declare its body in requests.py and its response in the module of its topic
in responses/, add a handler here (`Owner` or `Member` says who may call it), put its logic into
`Studio` (studio.py) or, if it only describes state, into views.py. Routes that return files are in
media.py. To add the control that calls it, see static/controls.js.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from zorank.errors import InvalidInput
from zorank.studio import events, views
from zorank.studio.dependencies import (
    CurrentStudio,
    ExistingRun,
    Index,
    Member,
    Owner,
    rater_name,
)
from zorank.studio.methods import METHODS
from zorank.studio.requests import (
    Changes,
    GivenAnswer,
    GivenOrder,
    NewBranch,
    NewRun,
    UndoRounds,
)
from zorank.studio.responses import ERRORS
from zorank.studio.responses.catalog import JudgeInfo, MethodInfo, RendererInfo
from zorank.studio.responses.history import History
from zorank.studio.responses.rounds import Ahead, AnswerTaken, Candidates, RoundRef, WaitingRound
from zorank.studio.responses.runs import Invitation, RunCard, RunInfo, RunRef

router = APIRouter(responses=ERRORS)


@router.get("/renderers", response_model_exclude_unset=True)
def list_renderers(studio: CurrentStudio, _: Owner) -> list[RendererInfo]:
    """List the renderers and their options."""
    return [views.renderer_info(studio, kind) for kind in studio.renderers.values()]


@router.get("/methods")
def list_methods(studio: CurrentStudio, _: Owner) -> list[MethodInfo]:
    """List the methods that a new run may use."""
    return [views.method_info(method, studio.method) for method in METHODS.values()]


@router.get("/judges", response_model_exclude_unset=True)
def list_judges(studio: CurrentStudio, _: Owner) -> list[JudgeInfo]:
    """List the models that can pre-sort pictures for people to correct, and their options."""
    return views.judge_infos(studio)


@router.post("/runs", status_code=201)
def create_run(new: NewRun, studio: CurrentStudio, _: Owner) -> RunRef:
    """Create a run."""
    run_id = studio.create(new.settings())
    with studio.session(run_id) as session:
        studio.prepare(session)
    return RunRef(id=run_id)


@router.get("/runs", response_model_exclude_unset=True)
def list_runs(studio: CurrentStudio, _: Owner) -> list[RunCard]:
    """List the studio's runs, newest first."""
    return [views.run_card(studio, record) for record in studio.records()]


@router.get("/runs/{run_id}")
def show_run(run_id: ExistingRun, studio: CurrentStudio, access: Member) -> RunInfo:
    """Return one run; its owner also gets the model's state in words."""
    with studio.session(run_id) as session:
        return views.run_info(studio, session, access.role)


@router.patch("/runs/{run_id}")
def change_run(run_id: ExistingRun, changes: Changes, studio: CurrentStudio, _: Owner) -> RunRef:
    """Change a run's title, or how many answers close a round."""
    studio.update(run_id, title=changes.title, raters=changes.raters)
    return RunRef(id=run_id)


@router.delete("/runs/{run_id}", status_code=204)
def delete_run(run_id: ExistingRun, studio: CurrentStudio, _: Owner) -> None:
    """Delete a run, its log and its exhibits."""
    studio.delete(run_id)


@router.get("/runs/{run_id}/round")
def waiting_round(
    run_id: ExistingRun,
    studio: CurrentStudio,
    access: Member,
    rater: Annotated[str | None, Query(max_length=60)] = None,
) -> WaitingRound:
    """Return the round that waits for an answer."""
    with studio.session(run_id) as session:
        studio.prepare(session)  # does nothing, unless the studio was restarted or the run copied
        return views.waiting_round(studio, session, access.role, rater_name(access, rater))


@router.post("/runs/{run_id}/rounds/{index}/answer")
def answer_round(
    run_id: ExistingRun, index: Index, given: GivenAnswer, studio: CurrentStudio, access: Member
) -> AnswerTaken:
    """Answer the waiting round."""
    rater = rater_name(access, given.rater)
    if rater is None:
        raise InvalidInput("an answer through a rater's link needs a name; enter yours")
    waiting = studio.answer(run_id, index, given.ranking(), rater, given.key)
    return AnswerTaken(closed=waiting != index, index=waiting)


@router.post("/runs/{run_id}/rounds/{index}/draft")
def draft_answer(
    run_id: ExistingRun, index: Index, given: GivenOrder, studio: CurrentStudio, _: Member
) -> Ahead:
    """Render the round that would follow this answer, so that the page can load it in advance."""
    number = studio.previews.supersede(run_id)
    with studio.session(run_id) as session:
        following = studio.preview(session, index, given.ranking(), number)
        return Ahead(ahead=views.urls_ahead(studio, session, following))


@router.post("/runs/{run_id}/rounds/{index}/close")
def close_round(run_id: ExistingRun, index: Index, studio: CurrentStudio, _: Owner) -> AnswerTaken:
    """Close a round with the answers it has."""
    return AnswerTaken(closed=True, index=studio.close(run_id, index))


@router.get("/runs/{run_id}/rounds/{index}/candidates")
def show_candidates(
    run_id: ExistingRun, index: Index, studio: CurrentStudio, _: Owner
) -> Candidates:
    """Return the vectors of a round by screen position, for judges that are programs."""
    with studio.session(run_id) as session:
        slate, shown = session.slate(index)
        return Candidates(candidates=[slate[candidate].tolist() for candidate in shown])


@router.post("/runs/{run_id}/undo")
def undo(
    run_id: ExistingRun, studio: CurrentStudio, _: Owner, asked: UndoRounds | None = None
) -> RoundRef:
    """Undo answered rounds."""
    return RoundRef(index=studio.undo(run_id, (asked or UndoRounds()).rounds))


@router.post("/runs/{run_id}/branch", status_code=201)
def branch(
    run_id: ExistingRun, studio: CurrentStudio, _: Owner, asked: NewBranch | None = None
) -> RunRef:
    """Create a run that shares the first rounds of this one."""
    asked = asked or NewBranch()
    return RunRef(id=studio.branch(run_id, asked.round, asked.title))


@router.post("/runs/{run_id}/invite", status_code=201)
def invite(run_id: ExistingRun, request: Request, studio: CurrentStudio, _: Owner) -> Invitation:
    """Create a link for raters of this run; earlier links stop working."""
    path = f"/runs/{run_id}?token={studio.invite(run_id)}"
    return Invitation(url=request.app.state.guard.link(request, path))


@router.delete("/runs/{run_id}/invite", status_code=204)
def revoke_invitation(run_id: ExistingRun, studio: CurrentStudio, _: Owner) -> None:
    """Invalidate the link for raters of this run."""
    studio.revoke(run_id)


@router.get("/runs/{run_id}/history")
def history(run_id: ExistingRun, studio: CurrentStudio, access: Member) -> History:
    """Return a row for each answered round; the owner also gets raters and their agreement."""
    with studio.session(run_id) as session:
        return views.history(studio, session, access.role)


@router.get(
    "/runs/{run_id}/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
)
async def stream_events(
    run_id: ExistingRun, request: Request, studio: CurrentStudio, _: Member
) -> Response:
    """Stream server-sent events: new rounds, answers, rendering progress, the judge's order."""
    stream = events.stream(run_id, request, studio)
    headers = {"X-Accel-Buffering": "no"}  # nginx would keep events until it has a few kilobytes
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)
