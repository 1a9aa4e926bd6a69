"""Routes about the people of a run: links, roles, what each has done, export and removal."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from zorank._raters import Member
from zorank.studio.access import member_token
from zorank.studio.dependencies import OpenRun, OwnersRun
from zorank.studio.models import ERRORS
from zorank.studio.models.people import (
    ForgetRater,
    Invitation,
    NewInvitation,
    PersonInfo,
    RaterExport,
    RaterForgotten,
)
from zorank.studio.security import Guard

router = APIRouter(responses=ERRORS)


@router.post("/runs/{run_id}/invite", status_code=201)
def invite(run: OwnersRun, request: Request) -> Invitation:
    """Create a link that raters share, who type their names; the earlier one stops working."""
    return Invitation(url=_link(request, run, run.studio.people.share(run.id)))


@router.delete("/runs/{run_id}/invite", status_code=204)
def revoke_invitation(run: OwnersRun) -> None:
    """Invalidate the link that raters of this run share."""
    run.studio.people.unshare(run.id)


@router.post("/runs/{run_id}/invitations", status_code=201)
def invite_by_name(run: OwnersRun, new: NewInvitation, request: Request) -> PersonInfo:
    """Invite a person by name; other links keep working."""
    member = run.studio.people.invite(run.id, new.name, new.role)
    return next(person for person in _everyone(run, request) if person.id == member.id)


@router.get("/runs/{run_id}/invitations")
def list_invitations(run: OwnersRun, request: Request) -> list[PersonInfo]:
    """List the people who are invited by name, with their links."""
    return [person for person in _everyone(run, request) if person.id]


@router.delete("/runs/{run_id}/invitations/{which}", status_code=204)
def remove_invitation(run: OwnersRun, which: Annotated[str, Path(max_length=200)]) -> None:
    """Invalidate the link of one person, by the invitation's id or the person's name."""
    run.studio.people.revoke(run.id, which)


@router.get("/runs/{run_id}/people")
def list_people(run: OwnersRun, request: Request) -> list[PersonInfo]:
    """List who is invited by name, and who else has answered."""
    return _everyone(run, request)


@router.get("/runs/{run_id}/people/export")
def export_person(run: OwnersRun, name: Annotated[str, Query(max_length=200)]) -> RaterExport:
    """Return all data of one person: answers, times, invitation."""
    return RaterExport(**run.studio.people.export(run.id, name))


@router.post("/runs/{run_id}/people/forget")
def forget_person(run: OwnersRun, asked: ForgetRater) -> RaterForgotten:
    """Replace a person's name by a pseudonym, or remove their answers; their link ends."""
    done = run.studio.people.forget(run.id, asked.name, asked.remove)
    return RaterForgotten(
        pseudonym=done.pseudonym, answers=done.answers, emptied=list(done.emptied)
    )


def _everyone(run: OpenRun, request: Request) -> list[PersonInfo]:
    guard: Guard = request.app.state.guard

    def link(member: Member) -> str:
        return _link(request, run, member_token(guard.token, run.id, member))

    with run.session() as session:
        return run.studio.people.everyone(session, link)


def _link(request: Request, run: OpenRun, token: str) -> str:
    guard: Guard = request.app.state.guard
    return guard.link(request, f"/runs/{run.id}?token={token}")
