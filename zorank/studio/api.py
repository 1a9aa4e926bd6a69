"""The studio's HTTP interface: JSON in, JSON or an exhibit out. It only translates."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field, StringConstraints

from zorank.errors import InvalidInput
from zorank.studio import keepsakes
from zorank.studio.access import Access
from zorank.studio.guard import member, owner
from zorank.studio.sessions import Session, Studio
from zorank.studio.views import (
    best_so_far,
    describe_renderer,
    describe_run,
    history_rows,
    media_type_of,
    versioned,
)
from zorank.types import Exhibit, Ranking, Vector

router = APIRouter(responses={401: {}, 403: {}, 404: {}, 409: {}, 413: {}, 503: {}})

Name = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=60, pattern=r"^[^\x00-\x1f]*$"
    ),
]
RunId = Annotated[str, Path(pattern=r"^[\w-]{1,64}$")]
Index = Annotated[int, Path(ge=0, le=10**6)]
Owner = Annotated[Access, Depends(owner)]
Member = Annotated[Access, Depends(member)]
Groups = Annotated[list[list[int] | int], Field(max_length=64)]

# A rater must never be able to pass for the owner.
OWNER_NAME = "owner"


class NewRun(BaseModel):
    """What to make."""

    renderer: Name
    m: int = Field(default=6, ge=3, le=24)
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    options: dict[str, str | int | float | bool] = Field(default_factory=dict, max_length=32)
    title: str = Field(default="", max_length=120, pattern=r"^[^\x00-\x1f]*$")
    raters: int = Field(default=1, ge=1, le=1000)


class Changes(BaseModel):
    """What can be changed in a run without changing its numbers."""

    title: Name | None = None
    raters: int | None = Field(default=None, ge=1, le=1000)


class GivenOrder(BaseModel):
    """Screen positions, best first; an inner list is a tie; empty is "no difference"."""

    order: Groups = Field(default_factory=list)
    worst: Groups = Field(default_factory=list)

    def ranking(self) -> Ranking:
        """The order as a ranking of screen positions."""
        return Ranking.of(self.order, self.worst)


class GivenAnswer(GivenOrder):
    """An order, and who gives it."""

    rater: Name | None = None


class UndoRounds(BaseModel):
    """How many rounds to take back."""

    rounds: int = Field(default=1, ge=1, le=10**6)


class NewBranch(BaseModel):
    """How many rounds a branch keeps; all if nothing is said."""

    round: int | None = Field(default=None, ge=0, le=10**6)
    title: str = Field(default="", max_length=120, pattern=r"^[^\x00-\x1f]*$")


def _studio(request: Request) -> Studio:
    studio: Studio = request.app.state.studio
    return studio


TheStudio = Annotated[Studio, Depends(_studio)]


def _existing(run_id: RunId, studio: TheStudio, _: Member) -> str:
    # Membership is checked first: who has no token must not learn which runs there are.
    try:
        if "renderer" in studio.meta(run_id):
            return run_id
    except InvalidInput:
        pass
    raise HTTPException(404, "there is no such run; it may have been deleted")


Run = Annotated[str, Depends(_existing)]


@router.get("/renderers")
def list_renderers(studio: TheStudio, _: Owner) -> list[dict[str, Any]]:
    """What can be made, and with which options."""
    return [describe_renderer(name, make) for name, make in studio.renderers.items()]


@router.post("/runs", status_code=201)
def create_run(new: NewRun, studio: TheStudio, _: Owner) -> dict[str, str]:
    """A new run."""
    run_id = studio.create(new.renderer, new.m, new.seed, new.options, new.title, new.raters)
    with studio.session(run_id) as session:
        studio.look(session)
    return {"id": run_id}


@router.get("/runs")
def list_runs(studio: TheStudio, _: Owner) -> list[dict[str, Any]]:
    """The studio's runs, newest first."""
    return [describe_run(studio, record) for record in studio.records()]


@router.get("/runs/{run_id}")
def show_run(run_id: Run, studio: TheStudio, access: Member) -> dict[str, Any]:
    """One run."""
    record = studio.store.record(run_id)
    with studio.session(run_id) as session:
        start = session.start
    return {
        **describe_run(studio, record),
        "role": access.role,
        "optimizer": {"name": record.optimizer, **record.options},
        "raters_needed": studio.needed(run_id),
        "start": None if start is None else versioned(f"/api/runs/{run_id}/start", start),
    }


@router.patch("/runs/{run_id}")
def change_run(run_id: Run, changes: Changes, studio: TheStudio, _: Owner) -> dict[str, str]:
    """Change a run's title or how many answers close a round."""
    studio.update(run_id, title=changes.title, raters=changes.raters)
    return {"id": run_id}


@router.delete("/runs/{run_id}", status_code=204)
def delete_run(run_id: Run, studio: TheStudio, _: Owner) -> None:
    """Forget a run, its log and its exhibits."""
    studio.delete(run_id)


@router.get("/runs/{run_id}/round")
def waiting_round(
    run_id: Run,
    studio: TheStudio,
    access: Member,
    rater: Annotated[str | None, Query(max_length=60)] = None,
) -> dict[str, Any]:
    """The round that waits for an answer."""
    with studio.session(run_id) as session:
        studio.look(session)
        index, slate, shown = session.waiting.index, session.run.ask(), session.shown
        cast = [ballot.rater for ballot in studio.store.ballots(run_id, index)]
        media_type = media_type_of(session)
        exhibits = [
            {
                "position": position,
                "url": versioned(
                    f"/api/runs/{run_id}/rounds/{index}/exhibits/{position}", slate[candidate]
                ),
                "media_type": media_type,
                "current": slate.question == "best" and candidate == 0,
            }
            for position, candidate in enumerate(shown)
        ]
        best = best_so_far(run_id, session, media_type)
    return {
        "index": index,
        "question": slate.question,
        "exhibits": exhibits,
        "best": best,
        "answered_by": cast,
        "waiting_for": max(studio.needed(run_id) - len(cast), 0),
        "you_answered": _rater_name(access, rater) in cast,
    }


@router.post("/runs/{run_id}/rounds/{index}/answer")
def answer_round(
    run_id: Run, index: Index, given: GivenAnswer, studio: TheStudio, access: Member
) -> dict[str, Any]:
    """Answer the waiting round."""
    rater = _rater_name(access, given.rater)
    if rater is None:
        raise InvalidInput("say who you are: an answer through a rater's link needs a name")
    waiting = studio.answer(run_id, index, given.ranking(), rater)
    return {"closed": waiting != index, "index": waiting}


@router.post("/runs/{run_id}/rounds/{index}/draft", status_code=204)
def draft_answer(
    run_id: Run, index: Index, given: GivenOrder, studio: TheStudio, _: Member
) -> None:
    """Say what the answer will probably be, so that what follows can be rendered ahead."""
    studio.draft(run_id, index, given.ranking())


@router.post("/runs/{run_id}/rounds/{index}/close")
def close_round(run_id: Run, index: Index, studio: TheStudio, _: Owner) -> dict[str, Any]:
    """Close a round with the answers it has."""
    return {"closed": True, "index": studio.close(run_id, index)}


@router.get("/runs/{run_id}/rounds/{index}/exhibits/{position}")
async def show_exhibit(
    run_id: Run,
    index: Index,
    position: Annotated[int, Path(ge=0, le=63)],
    studio: TheStudio,
    _: Member,
) -> Response:
    """What stands at a screen position of a round, as soon as it is rendered."""

    def candidate(session: Session) -> Vector:
        slate, shown = studio.slate(session, index)
        if position >= len(shown):
            raise HTTPException(404, f"round {index} shows {len(shown)} candidates")
        return slate[shown[position]]

    return await _rendered(studio, run_id, candidate)


@router.get("/runs/{run_id}/rounds/{index}/candidates")
def show_candidates(run_id: Run, index: Index, studio: TheStudio, _: Owner) -> dict[str, Any]:
    """The vectors behind the screen positions of a round, for judges that are programs."""
    with studio.session(run_id) as session:
        slate, shown = studio.slate(session, index)
        return {"candidates": [slate[candidate].tolist() for candidate in shown]}


@router.get("/runs/{run_id}/rounds/{index}/offline")
def offline_round(run_id: Run, index: Index, studio: TheStudio, _: Owner) -> Response:
    """One slate as a page that needs no server; its answer can be imported later."""
    with studio.session(run_id) as session:
        slate, shown = studio.slate(session, index)
        futures = [studio.exhibit(session, slate[candidate]) for candidate in shown]
        title = studio.meta(run_id)["title"]
    exhibits = [future.result(timeout=120) for future in futures]
    page = keepsakes.offline_page(title, index, slate.question, exhibits)
    return _download(page.encode(), "text/html", f"{run_id}-round-{index}.html")


@router.post("/runs/{run_id}/undo")
def undo(
    run_id: Run, studio: TheStudio, _: Owner, asked: UndoRounds | None = None
) -> dict[str, Any]:
    """Take back answered rounds, exactly."""
    return {"index": studio.undo(run_id, (asked or UndoRounds()).rounds)}


@router.post("/runs/{run_id}/branch", status_code=201)
def branch(
    run_id: Run, studio: TheStudio, _: Owner, asked: NewBranch | None = None
) -> dict[str, str]:
    """A new run that shares the first rounds of this one."""
    asked = asked or NewBranch()
    return {"id": studio.branch(run_id, asked.round, asked.title)}


@router.post("/runs/{run_id}/invite", status_code=201)
def invite(run_id: Run, request: Request, studio: TheStudio, _: Owner) -> dict[str, str]:
    """A link for raters of this run; earlier ones stop working."""
    token = studio.invite(run_id)
    return {"url": f"{request.url.scheme}://{request.url.netloc}/runs/{run_id}?token={token}"}


@router.delete("/runs/{run_id}/invite", status_code=204)
def revoke_invitation(run_id: Run, studio: TheStudio, _: Owner) -> None:
    """No rater's link opens this run any more."""
    studio.revoke(run_id)


@router.get("/runs/{run_id}/history")
def history(run_id: Run, studio: TheStudio, access: Member) -> dict[str, Any]:
    """What happened, a row for each answered round; the owner also sees who agrees with whom."""
    with studio.session(run_id) as session:
        rows = history_rows(run_id, studio, session)
        known = studio.rater_records(session)
    answers: dict[str, int] = {}
    for row in rows:
        for name in row["raters"]:
            answers[name] = answers.get(name, 0) + 1
    raters = [
        {
            "name": name,
            "answers": count,
            "agreement": known[name].share if name in known else None,
            "weight": known[name].weight if name in known else 1.0,
        }
        for name, count in answers.items()
    ]
    if access.role != "owner":
        return {"rows": [{**row, "raters": []} for row in rows], "raters": []}
    return {"rows": rows, "raters": raters}


Size = Annotated[int | None, Query(ge=64, le=2048)]


@router.get("/runs/{run_id}/best")
async def show_best(run_id: Run, studio: TheStudio, _: Member, size: Size = None) -> Response:
    """The best picture so far."""
    return await _rendered(studio, run_id, lambda session: session.run.best(), size)


@router.get("/runs/{run_id}/start")
async def show_start(run_id: Run, studio: TheStudio, _: Member, size: Size = None) -> Response:
    """The picture that was picked to start from."""

    def start(session: Session) -> Vector:
        if session.start is None:
            raise HTTPException(404, "no start has been picked yet")
        return session.start

    return await _rendered(studio, run_id, start, size)


@router.get("/runs/{run_id}/bests/{index}")
async def show_best_after(
    run_id: Run, index: Index, studio: TheStudio, _: Member, size: Size = None
) -> Response:
    """The best picture after a round."""

    def best(session: Session) -> Vector:
        if index >= len(session.milestones):
            raise HTTPException(404, f"round {index} has not been answered")
        return session.milestones[index].best

    return await _rendered(studio, run_id, best, size)


@router.get("/runs/{run_id}/journey")
def show_journey(run_id: Run, studio: TheStudio, _: Owner) -> Response:
    """The way from the start to the best, as an animated picture."""
    with studio.session(run_id) as session:
        stations = [milestone.best for milestone in session.milestones if milestone.moved]
        renderer = session.renderer
    if not stations:
        raise HTTPException(404, "no start has been picked yet")
    moving = keepsakes.journey(renderer, stations)
    return _download(moving, "image/webp", f"{run_id}-journey.webp", attach=False)


@router.get("/runs/{run_id}/vector")
def show_vector(run_id: Run, studio: TheStudio, _: Owner) -> Response:
    """The best point as a JSON list."""
    with studio.session(run_id) as session:
        data = json.dumps(session.run.best().tolist())
    return _download(data.encode(), "application/json", f"{run_id}-vector.json")


@router.get("/runs/{run_id}/export")
def export(run_id: Run, studio: TheStudio, _: Owner) -> Response:
    """The run as a recipe that makes it again anywhere: the same as `zorank runs export`."""
    with studio.session(run_id) as session:
        data = json.dumps(session.run.export(), indent=2)
    return _download(data.encode(), "application/json", f"{run_id}.json")


@router.get("/runs/{run_id}/events")
async def events(run_id: Run, request: Request, studio: TheStudio, _: Member) -> Response:
    """Server-sent events: the round changed, somebody answered, a picture is ready."""
    stream = _events(run_id, request, studio)
    return StreamingResponse(stream, media_type="text/event-stream")


async def _events(run_id: str, request: Request, studio: Studio) -> AsyncIterator[str]:
    told: dict[str, Any] = {}
    while not await request.is_disconnected():
        try:
            news = await run_in_threadpool(_news, run_id, studio)
        except InvalidInput:  # the run was deleted
            return
        for event, data in news.items():
            if told.get(event) != data:
                yield f"event: {event}\ndata: {json.dumps(data)}\n\n"
        told = news
        await asyncio.sleep(0.5)


def _news(run_id: str, studio: Studio) -> dict[str, Any]:
    with studio.session(run_id) as session:
        index, slate = session.waiting.index, session.run.ask()
        cast = [ballot.rater for ballot in studio.store.ballots(run_id, index)]
        size = getattr(session.renderer, "size", 0)
        done = studio.gallery.ready(run_id, slate, size)
    waiting_for = max(studio.needed(run_id) - len(cast), 0)
    return {
        "round": {"index": index},
        "ballots": {"answered_by": cast, "waiting_for": waiting_for},
        "exhibit": {"round": index, "done": done, "of": len(slate)},
    }


async def _rendered(studio: Studio, run_id: str, choose: Any, size: int | None = None) -> Response:
    def request_exhibit() -> Any:
        with studio.session(run_id) as session:
            return studio.exhibit(session, choose(session), size)

    future = await run_in_threadpool(request_exhibit)
    try:
        exhibit: Exhibit = await asyncio.shield(asyncio.wrap_future(future))
    except MemoryError as error:
        raise HTTPException(503, "there is not enough memory to render this; try again") from error
    except Exception as error:  # whatever a renderer raises, the round stays answerable
        said = f"{type(error).__name__}: {error}"
        raise HTTPException(503, f"this could not be rendered ({said:.200}); try again") from error
    headers = {"Cache-Control": "private, max-age=31536000, immutable"}
    if exhibit.media_type.startswith("text/"):
        # A text may hold markup of a user's own: it gets no scripts, no network and no origin.
        headers["Content-Security-Policy"] = (
            "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"
        )
    return Response(exhibit.data, media_type=exhibit.media_type, headers=headers)


def _rater_name(access: Access, given: str | None) -> str | None:
    if access.role == "owner":
        return given or OWNER_NAME
    return given if given and given.casefold() != OWNER_NAME else None


def _download(data: bytes, media_type: str, file: str, attach: bool = True) -> Response:
    kind = "attachment" if attach else "inline"
    headers = {"Content-Disposition": f'{kind}; filename="{file}"'}
    return Response(data, media_type=media_type, headers=headers)
