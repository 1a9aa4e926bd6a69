"""The JSON routes of the HTTP interface. Handlers only translate between HTTP and `Studio`.

To add a route: declare its body in requests.py and its response in the module of its topic
in responses/, add a handler here (`Owner` or `Member` says who may call it), put its logic into
`Studio` (studio.py) or, if it only describes state, into views.py. Routes that return files are in
media.py. To add the control that calls it, see static/controls.js.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from zorank._raters import Member as Invited
from zorank.errors import InvalidInput
from zorank.studio import views
from zorank.studio.access import Access, member_token
from zorank.studio.dependencies import (
    CurrentStudio,
    ExistingRun,
    Index,
    Member,
    Owner,
    Rater,
    StreamPlace,
    rater_name,
)
from zorank.studio.methods import METHODS
from zorank.studio.notifier import Notifier
from zorank.studio.requests import (
    Changes,
    ForgetRater,
    GivenAnswer,
    GivenOrder,
    NewBranch,
    NewInvitation,
    NewRun,
    UndoRounds,
)
from zorank.studio.responses import ERRORS
from zorank.studio.responses.catalog import JudgeInfo, MethodInfo, RendererInfo
from zorank.studio.responses.history import History
from zorank.studio.responses.people import PersonInfo, RaterExport, RaterForgotten
from zorank.studio.responses.rounds import Ahead, AnswerTaken, Candidates, Undone, WaitingRound
from zorank.studio.responses.runs import Invitation, RunCard, RunInfo, RunRef
from zorank.studio.sessions import Session
from zorank.studio.studio import Studio

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
    return RunRef(id=studio.create(new.settings()))


@router.get("/runs", response_model_exclude_unset=True)
def list_runs(studio: CurrentStudio, _: Owner) -> list[RunCard]:
    """List the studio's runs, newest first."""
    return [views.run_card(studio, record) for record in studio.records()]


@router.get("/runs/{run_id}")
def show_run(run_id: ExistingRun, studio: CurrentStudio, access: Member) -> RunInfo:
    """Return one run; its owner also gets the model's state in words."""
    with studio.session(run_id) as session:
        return views.run_info(studio, session, access.role, rater_name(access, None))


@router.patch("/runs/{run_id}")
def change_run(run_id: ExistingRun, changes: Changes, studio: CurrentStudio, _: Owner) -> RunRef:
    """Change a run's title, or what closes a round: the number of answers, or a deadline."""
    studio.update(run_id, title=changes.title, raters=changes.raters)
    if "deadline" in changes.model_fields_set:
        studio.set_deadline(run_id, changes.deadline)
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
        return views.waiting_round(studio, session, access.role, rater_name(access, rater))


@router.post("/runs/{run_id}/rounds/{index}/answer")
def answer_round(
    run_id: ExistingRun, index: Index, given: GivenAnswer, studio: CurrentStudio, access: Rater
) -> AnswerTaken:
    """Answer the waiting round."""
    rater = rater_name(access, given.rater)
    if rater is None:
        raise InvalidInput("an answer through a shared link needs a name; enter yours")
    session = studio.answer(run_id, index, given.ranking(), rater, given.key, access)
    return _taken(studio, session, index, access, rater)


@router.post("/runs/{run_id}/rounds/{index}/draft")
def draft_answer(
    run_id: ExistingRun, index: Index, given: GivenOrder, studio: CurrentStudio, _: Rater
) -> Ahead:
    """Render the round that would follow this answer, so that the page can load it in advance."""
    number = studio.previews.supersede(run_id)
    with studio.session(run_id) as session:
        following = studio.preview(session, index, given.ranking(), number)
        return Ahead(ahead=views.urls_ahead(studio, session, following))


@router.post("/runs/{run_id}/rounds/{index}/close")
def close_round(
    run_id: ExistingRun, index: Index, studio: CurrentStudio, access: Owner
) -> AnswerTaken:
    """Close a round with the answers it has."""
    return _taken(studio, studio.close(run_id, index), index, access, rater_name(access, None))


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
    run_id: ExistingRun, studio: CurrentStudio, access: Owner, asked: UndoRounds | None = None
) -> Undone:
    """Undo answered rounds."""
    session = studio.undo(run_id, (asked or UndoRounds()).rounds)
    with session.lock:
        waiting = views.waiting_round(studio, session, access.role, rater_name(access, None))
    return Undone(index=waiting.index, round=waiting)


@router.post("/runs/{run_id}/branch", status_code=201)
def branch(
    run_id: ExistingRun, studio: CurrentStudio, _: Owner, asked: NewBranch | None = None
) -> RunRef:
    """Create a run that shares the first rounds of this one."""
    asked = asked or NewBranch()
    return RunRef(id=studio.branch(run_id, asked.round, asked.title))


@router.post("/runs/{run_id}/invite", status_code=201)
def invite(run_id: ExistingRun, request: Request, studio: CurrentStudio, _: Owner) -> Invitation:
    """Create a link that raters share, who type their names; the earlier one stops working."""
    return Invitation(url=_link(request, run_id, studio.invite(run_id)))


@router.delete("/runs/{run_id}/invite", status_code=204)
def revoke_invitation(run_id: ExistingRun, studio: CurrentStudio, _: Owner) -> None:
    """Invalidate the link that raters of this run share."""
    studio.revoke(run_id)


@router.post("/runs/{run_id}/invitations", status_code=201)
def invite_by_name(
    run_id: ExistingRun,
    new: NewInvitation,
    request: Request,
    studio: CurrentStudio,
    _: Owner,
) -> PersonInfo:
    """Invite a person by name; other links keep working."""
    member = studio.people.invite(run_id, new.name, new.role)
    invited = _everyone(run_id, request, studio)
    return next(person for person in invited if person.id == member.id)


@router.get("/runs/{run_id}/invitations")
def list_invitations(
    run_id: ExistingRun, request: Request, studio: CurrentStudio, _: Owner
) -> list[PersonInfo]:
    """List the people who are invited by name, with their links."""
    return [person for person in _everyone(run_id, request, studio) if person.id]


@router.delete("/runs/{run_id}/invitations/{which}", status_code=204)
def remove_invitation(
    run_id: ExistingRun,
    which: Annotated[str, Path(max_length=200)],
    studio: CurrentStudio,
    _: Owner,
) -> None:
    """Invalidate the link of one person, by the invitation's id or the person's name."""
    studio.people.revoke(run_id, which)


@router.get("/runs/{run_id}/people")
def list_people(
    run_id: ExistingRun, request: Request, studio: CurrentStudio, _: Owner
) -> list[PersonInfo]:
    """List who is invited by name, and who else has answered."""
    return _everyone(run_id, request, studio)


@router.get("/runs/{run_id}/people/export")
def export_person(
    run_id: ExistingRun,
    name: Annotated[str, Query(max_length=200)],
    studio: CurrentStudio,
    _: Owner,
) -> RaterExport:
    """Return all data of one person: answers, times, invitation."""
    return RaterExport(**studio.people.export(run_id, name))


@router.post("/runs/{run_id}/people/forget")
def forget_person(
    run_id: ExistingRun, asked: ForgetRater, studio: CurrentStudio, _: Owner
) -> RaterForgotten:
    """Replace a person's name by a pseudonym, or remove their answers; their link ends."""
    done = studio.people.forget(run_id, asked.name, asked.remove)
    return RaterForgotten(
        pseudonym=done.pseudonym, answers=done.answers, emptied=list(done.emptied)
    )


@router.get("/runs/{run_id}/history")
def history(run_id: ExistingRun, studio: CurrentStudio, access: Member) -> History:
    """Return a row for each answered round; the owner also gets raters and their agreement."""
    with studio.session(run_id) as session:
        return views.history(studio, session, access.role)


@router.get("/runs/{run_id}/events", response_class=EventSourceResponse)
async def stream_events(
    run_id: ExistingRun,
    request: Request,
    access: Member,
    place: StreamPlace,
    last_event_id: Annotated[str | None, Header(max_length=60)] = None,
) -> AsyncIterator[ServerSentEvent]:
    """Stream server-sent events: new rounds, answers, rendering progress, the judge's order.

    Events describe the current state. A client that reconnects with `Last-Event-ID` gets those
    that have changed since.
    """
    notifier: Notifier = request.app.state.notifier

    def may_follow() -> bool:
        found: Access | None = request.app.state.guard.access(request)
        return found is not None and found.may_see(run_id)

    events = notifier.follow(run_id, access.role == "owner", may_follow, last_event_id)
    place.push_async_callback(events.aclose)
    async for event in events:
        yield ServerSentEvent(raw_data=event.data, event=event.name, id=notifier.id_of(event))


def _everyone(run_id: str, request: Request, studio: Studio) -> list[PersonInfo]:
    def link(member: Invited) -> str:
        return _link(request, run_id, member_token(request.app.state.guard.token, run_id, member))

    with studio.session(run_id) as session:
        return studio.people.everyone(session, link)


def _link(request: Request, run_id: str, token: str) -> str:
    link: str = request.app.state.guard.link(request, f"/runs/{run_id}?token={token}")
    return link


def _taken(
    studio: Studio, session: Session, index: int, access: Access, rater: str | None
) -> AnswerTaken:
    """Describe what followed a stored answer; a failure there does not concern the answer."""
    with session.lock:
        if session.unfinished:
            return AnswerTaken(closed=False, index=index, round=None)
        waiting = views.waiting_round(studio, session, access.role, rater)
    return AnswerTaken(closed=waiting.index != index, index=waiting.index, round=waiting)
