"""FastAPI dependencies of the handlers: the studio, the run, and who sends the request.

`OwnersRun`, `RatersRun` and `MembersRun` say who may call a route of a run. Each is a single
coroutine: FastAPI runs other functions in threads, and resolves nested dependencies one by one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Depends, HTTPException, Path, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError

from zorank.studio.access import RUN_ID, Access
from zorank.studio.names import OWNER_NAME, name_key
from zorank.studio.security import INVITED_ONLY
from zorank.studio.seen import Seen
from zorank.studio.sessions import Session
from zorank.studio.stream_places import StreamPlaces
from zorank.studio.studio import Studio

Index = Annotated[int, Path(ge=0, le=10**6)]


@dataclass(frozen=True)
class OpenRun:
    """The run that a request is about, and the access of its sender."""

    id: str
    studio: Studio
    access: Access

    def session(self) -> AbstractContextManager[Session]:
        """Lock the run in its state at this request; `Studio` refuses one that does not exist."""
        return self.studio.session(self.id, self.access.seen)

    def rater(self, given: str | None = None) -> str | None:
        """Return the name under which an answer is stored; None for a rater without one.

        A named link answers for its own person only.
        """
        access = self.access
        if access.role == "owner":
            return given or OWNER_NAME
        if access.name is not None:
            if given and name_key(given) != name_key(access.name):
                raise HTTPException(
                    403, f"your link answers for {access.name} only; leave the rater's name out"
                )
            return access.name
        return given or None


def anyone(request: Request) -> Access:
    """Require a valid token."""
    access: Access | None = request.state.access  # the guard has resolved it
    if access is None:
        raise HTTPException(401, INVITED_ONLY)
    return access


async def owner(request: Request) -> Access:
    """Require the owner's token."""
    access = anyone(request)
    if access.role != "owner":
        raise HTTPException(403, "only the owner of this studio may do that")
    return access


async def members_run(run_id: str, request: Request) -> OpenRun:
    """Require the owner's token or one for this run."""
    # Membership is checked first: without a token the response must not reveal which runs exist.
    access = anyone(request)
    if not access.may_see(run_id):
        raise HTTPException(403, "this link opens another run")
    if not RUN_ID.fullmatch(run_id):
        wrong = f"String should match pattern '^{RUN_ID.pattern}$'"
        raise RequestValidationError([{"loc": ("path", "run_id"), "msg": wrong}])
    seen = access.seen or Seen()
    return OpenRun(run_id, request.app.state.studio, replace(access, seen=seen))


async def raters_run(run_id: str, request: Request) -> OpenRun:
    """Require the owner's token or one that may answer in this run."""
    run = await members_run(run_id, request)
    if run.access.role == "viewer":
        raise HTTPException(
            403, "your link is for watching, not for answering; ask the owner for a rater's link"
        )
    return run


async def owners_run(run_id: str, request: Request) -> OpenRun:
    """Require the owner's token."""
    run = await members_run(run_id, request)
    await owner(request)
    return run


Owner = Annotated[Access, Depends(owner)]
OwnersRun = Annotated[OpenRun, Depends(owners_run)]
MembersRun = Annotated[OpenRun, Depends(members_run)]
RatersRun = Annotated[OpenRun, Depends(raters_run)]


async def current_studio(request: Request) -> Studio:
    """Return the application's studio."""
    studio: Studio = request.app.state.studio
    return studio


CurrentStudio = Annotated[Studio, Depends(current_studio)]


async def stream_place(run: MembersRun, request: Request) -> AsyncIterator[AsyncExitStack]:
    """Require that this client may open another event stream, which is counted until it ends.

    The run is looked up first: once the stream has begun, its status cannot be 404 any more.
    Returns what is closed at the end. FastAPI does not close a generator whose client disconnects.
    """
    access = run.access
    seen = access.seen is not None and access.seen.snapshot is not None
    if not (seen or run.studio.is_loaded(run.id)):
        await run_in_threadpool(run.studio.meta, run.id)
    places: StreamPlaces = request.app.state.stream_places
    address = request.client.host if request.client else ""
    client = None if access.role == "owner" else (access.run, access.grant, address)
    with places.taken(client):
        async with AsyncExitStack() as stack:
            yield stack


StreamPlace = Annotated[AsyncExitStack, Depends(stream_place)]
