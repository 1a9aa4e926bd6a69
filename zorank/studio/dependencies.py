"""FastAPI dependencies of the handlers: the studio, the run, and who sends the request.

They are coroutines, because FastAPI runs other functions in threads, which takes longer.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Annotated

from fastapi import Depends, HTTPException, Path, Request
from fastapi.concurrency import run_in_threadpool

from zorank.studio.access import Access
from zorank.studio.names import OWNER_NAME, name_key
from zorank.studio.security import INVITED_ONLY
from zorank.studio.stream_places import StreamPlaces
from zorank.studio.studio import Studio

RunId = Annotated[str, Path(pattern=r"^[\w-]{1,64}$")]
Index = Annotated[int, Path(ge=0, le=10**6)]


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


async def member(run_id: str, request: Request) -> Access:
    """Require the owner's token or one for raters of this run."""
    access = anyone(request)
    if not access.may_see(run_id):
        raise HTTPException(403, "this link opens another run")
    return access


async def rater(run_id: str, request: Request) -> Access:
    """Require the owner's token or one that may answer in this run."""
    access = await member(run_id, request)
    if access.role == "viewer":
        raise HTTPException(
            403, "your link is for watching, not for answering; ask the owner for a rater's link"
        )
    return access


Owner = Annotated[Access, Depends(owner)]
Member = Annotated[Access, Depends(member)]
Rater = Annotated[Access, Depends(rater)]


async def current_studio(request: Request) -> Studio:
    """Return the application's studio."""
    studio: Studio = request.app.state.studio
    return studio


CurrentStudio = Annotated[Studio, Depends(current_studio)]


async def existing_run(run_id: RunId, _: Member) -> str:
    """Return the id of a run that the token opens; `Studio` refuses one that does not exist."""
    # Membership is checked first: without a token the response must not reveal which runs exist.
    return run_id


ExistingRun = Annotated[str, Depends(existing_run)]


async def stream_place(
    run_id: ExistingRun, request: Request, studio: CurrentStudio, access: Member
) -> AsyncIterator[AsyncExitStack]:
    """Require that this client may open another event stream, which is counted until it ends.

    The run is looked up first: once the stream has begun, its status cannot be 404 any more.
    Returns what is closed at the end. FastAPI does not close a generator whose client disconnects.
    """
    await run_in_threadpool(studio.meta, run_id)
    places: StreamPlaces = request.app.state.stream_places
    address = request.client.host if request.client else ""
    client = None if access.role == "owner" else (access.run, access.grant, address)
    with places.taken(client):
        async with AsyncExitStack() as stack:
            yield stack


StreamPlace = Annotated[AsyncExitStack, Depends(stream_place)]


def rater_name(access: Access, given: str | None) -> str | None:
    """Return the name under which an answer is stored; None for a rater without a valid one.

    A named link answers for its own person only.
    """
    if access.role == "owner":
        return given or OWNER_NAME
    if access.name is not None:
        if given and name_key(given) != name_key(access.name):
            raise HTTPException(
                403, f"your link answers for {access.name} only; leave the rater's name out"
            )
        return access.name
    return given or None
