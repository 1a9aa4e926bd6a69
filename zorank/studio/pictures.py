"""The interface's exhibits and downloads: what a run looks like, as soon as it is rendered."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query, Response
from fastapi.concurrency import run_in_threadpool

from zorank.errors import ZorankError
from zorank.studio import drift, exports
from zorank.studio.forms import Index, Member, Owner, Run, TheStudio
from zorank.studio.responses import Drift, DriftShown
from zorank.studio.sessions import Session, Studio
from zorank.types import Exhibit, Vector

router = APIRouter(responses={401: {}, 403: {}, 404: {}, 409: {}, 413: {}, 503: {}})

Size = Annotated[int | None, Query(ge=64, le=2048)]


@router.get("/renderers/{name}/sample")
async def show_sample(name: str, studio: TheStudio, _: Owner) -> Response:
    """A picture to know a renderer by."""
    with _explained():
        future = await run_in_threadpool(studio.sample, name)
        exhibit: Exhibit = await asyncio.shield(asyncio.wrap_future(future))
    return Response(exhibit.data, media_type=exhibit.media_type)


@router.get("/runs/{run_id}/rounds/{index}/exhibits/{position}")
async def show_exhibit(
    run_id: Run,
    index: Index,
    position: Annotated[int, Path(ge=0, le=63)],
    studio: TheStudio,
    _: Member,
    v: Annotated[str | None, Query(max_length=24)] = None,
) -> Response:
    """What stands at a screen position of a round, as soon as it is rendered.

    `v` names the candidate; with it, what a draft said lies ahead can be loaded before its round.
    """

    def candidate(session: Session) -> Vector:
        if v in session.ahead:
            return session.ahead[v]
        slate, shown = studio.slate(session, index)
        if position >= len(shown):
            raise HTTPException(404, f"round {index} shows {len(shown)} candidates")
        return slate[shown[position]]

    return await _rendered(studio, run_id, candidate)


@router.get("/runs/{run_id}/rounds/{index}/offline")
def offline_round(run_id: Run, index: Index, studio: TheStudio, _: Owner) -> Response:
    """One slate as a page that needs no server; its answer can be imported later."""
    with studio.session(run_id) as session:
        slate, shown = studio.slate(session, index)
        futures = [studio.exhibit(session, slate[candidate]) for candidate in shown]
        title = studio.meta(run_id)["title"]
    with _explained():
        exhibits = [future.result(timeout=120) for future in futures]
    page = exports.offline_page(title, index, slate.question, exhibits)
    return _download(page.encode(), "text/html", f"{run_id}-round-{index}.html")


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
        if index >= len(session.steps):
            raise HTTPException(404, f"round {index} has not been answered")
        return session.steps[index].best

    return await _rendered(studio, run_id, best, size)


@router.get("/runs/{run_id}/journey")
def show_journey(run_id: Run, studio: TheStudio, _: Owner) -> Response:
    """The way from the start to the best, as an animated picture."""
    with studio.session(run_id) as session:
        stations = [step.best for step in session.steps if step.moved]
        renderer = session.renderer
    if not stations:
        raise HTTPException(404, "no start has been picked yet")
    with _explained():
        moving = exports.journey(renderer, stations)
    return _download(moving, "image/webp", f"{run_id}-journey.webp", attach=False)


@router.get("/runs/{run_id}/drift")
async def show_drift(run_id: Run, studio: TheStudio, _: Owner) -> DriftShown:
    """Whether a renderer's noise still is noise, and how much the picture has changed."""

    def look() -> tuple[list[dict[str, Any]], list[Any]]:
        with studio.session(run_id) as session:
            bests = {step.line.index: step.best for step in session.steps if step.moved}
        # Not under the lock: a renderer may have to load its model first.
        measured = drift.measure(session.renderer, bests)
        ends = list(bests.values())[:: max(len(bests) - 1, 1)] if measured else []
        return measured, [studio.exhibit(session, end) for end in ends]

    with _explained():
        measured, futures = await run_in_threadpool(look)
        shown = [await asyncio.shield(asyncio.wrap_future(future)) for future in futures]
    change = drift.picture_change(*shown) if len(shown) == 2 else None
    rounds = [Drift(**found) for found in measured]
    return DriftShown(rounds=rounds, change=change, words=drift.words(measured, change))


@router.get("/runs/{run_id}/vector")
def show_vector(run_id: Run, studio: TheStudio, _: Owner) -> Response:
    """The best point as a JSON list."""
    with studio.session(run_id) as session:
        data = json.dumps(session.run.best().tolist())
    return _download(data.encode(), "application/json", f"{run_id}-vector.json")


@router.get("/runs/{run_id}/keepsake")
def show_keepsake(run_id: Run, studio: TheStudio, _: Owner) -> Response:
    """The best as a file of its renderer's own, for use elsewhere."""
    with studio.session(run_id) as session:
        name, export = session.renderer.export_name, session.renderer.export
        if name is None or export is None:
            raise HTTPException(404, "what this run makes has no file of its own; take its vector")
        with _explained():
            data = bytes(export(session.run.best()))
    return _download(data, "application/octet-stream", f"{run_id}-{name}")


@router.get("/runs/{run_id}/export")
def export(run_id: Run, studio: TheStudio, _: Owner) -> Response:
    """The run as a recipe that makes it again anywhere: the same as `zorank runs export`."""
    with studio.session(run_id) as session:
        data = json.dumps(session.run.export(), indent=2)
    return _download(data.encode(), "application/json", f"{run_id}.json")


async def _rendered(studio: Studio, run_id: str, choose: Any, size: int | None = None) -> Response:
    def request_exhibit() -> Any:
        with studio.session(run_id) as session:
            return studio.exhibit(session, choose(session), size)

    future = await run_in_threadpool(request_exhibit)
    with _explained():
        exhibit: Exhibit = await asyncio.shield(asyncio.wrap_future(future))
    headers = {"Cache-Control": "private, max-age=31536000, immutable"}
    if exhibit.media_type.startswith("text/"):
        # A text may hold markup of a user's own: it gets no scripts, no network and no origin.
        headers["Content-Security-Policy"] = (
            "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"
        )
    return Response(exhibit.data, media_type=exhibit.media_type, headers=headers)


@contextmanager
def _explained() -> Iterator[None]:
    """Whatever a renderer raises becomes a sentence, and the round stays answerable."""
    try:
        yield
    except ZorankError:
        raise
    except MemoryError as error:
        raise HTTPException(503, "there is not enough memory to render this; try again") from error
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise HTTPException(503, f"this could not be rendered ({said:.200}); try again") from error


def _download(data: bytes, media_type: str, file: str, attach: bool = True) -> Response:
    kind = "attachment" if attach else "inline"
    plain = re.sub(r"[^\w.-]", "_", file, flags=re.ASCII)  # a header takes no other letters
    headers = {"Content-Disposition": f'{kind}; filename="{plain}"'}
    return Response(data, media_type=media_type, headers=headers)
