"""The routes that return files: exhibits as soon as they are rendered, and downloads."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse
from pydantic import AfterValidator

from zorank.errors import ZorankError
from zorank.studio import drift, exhibits, exports
from zorank.studio.dependencies import (
    CurrentStudio,
    Index,
    MembersRun,
    OpenRun,
    Owner,
    OwnersRun,
)
from zorank.studio.models import ERRORS
from zorank.studio.models.history import Drift, DriftReport
from zorank.studio.models.runs import RunExport
from zorank.studio.sessions import Session
from zorank.types import Exhibit, Vector

router = APIRouter(responses=ERRORS)


def _file(
    media_type: str, description: str = "Successful Response"
) -> dict[int | str, dict[str, Any]]:
    """Return the documentation of a response that is a file of this type."""
    return {200: {"description": description, "content": {media_type: {}}}}


def _fixed_size(size: int | None) -> int | None:
    """Return the smallest of the fixed sizes that is not below this one."""
    return None if size is None else next(fixed for fixed in SIZES if fixed >= size)


EXHIBIT = _file("*/*", "The exhibit, in its renderer's media type")
SIZES = (64, 128, 256, 512, 1024, 2048)
"""Pixels per side. Arbitrary sizes would let one client fill the cache and the render queue."""

Size = Annotated[
    int | None,
    Query(
        ge=SIZES[0],
        le=SIZES[-1],
        description="pixels per side, rounded up to " + ", ".join(map(str, SIZES)),
    ),
    AfterValidator(_fixed_size),
]
CLIENT_CLOSED_REQUEST = 499
"""The status that servers log for a client that disconnected; nobody receives it."""


@router.get("/renderers/{name}/sample", response_class=Response, responses=EXHIBIT)
async def show_sample(name: str, request: Request, studio: CurrentStudio, _: Owner) -> Response:
    """Return an example picture of a renderer."""
    with _render_errors():
        future = await run_in_threadpool(exhibits.sample, studio, name)
        [exhibit] = await _exhibits(request, [future])
    return Response(exhibit.data, media_type=exhibit.media_type)


@router.get(
    "/runs/{run_id}/rounds/{index}/exhibits/{position}",
    response_class=Response,
    responses=EXHIBIT,
)
async def show_exhibit(
    run: MembersRun,
    index: Index,
    position: Annotated[int, Path(ge=0, le=63)],
    request: Request,
    v: Annotated[str | None, Query(max_length=24)] = None,
) -> Response:
    """Return the exhibit at a screen position of a round, as soon as it is rendered.

    `v` identifies the candidate; with it, a previewed exhibit can be loaded before its round.
    """

    def candidate(session: Session) -> Vector:
        if v in session.ahead:
            return session.ahead[v]
        slate, shown = session.slate(index)
        if position >= len(shown):
            raise HTTPException(404, f"round {index} has positions 0 to {len(shown) - 1}")
        return slate[shown[position]]

    return await send_rendered(request, run, candidate)


@router.get("/runs/{run_id}/rounds/{index}/offline", response_class=HTMLResponse)
async def offline_round(run: OwnersRun, index: Index, request: Request) -> Response:
    """Return one slate as a page that works offline; its answer can be imported later."""

    def request_round() -> tuple[list[Future[Exhibit]], str, str | None, str]:
        with run.session() as session:
            slate, shown = session.slate(index)
            title = session.meta["title"]
            key = session.waiting.key if index == session.waiting.index else None
            futures = exhibits.of_all(
                run.studio, session, [slate[candidate] for candidate in shown]
            )
            return futures, title, key, slate.question

    futures, title, key, question = await run_in_threadpool(request_round)
    with _render_errors():
        made = await _exhibits(request, futures)
    page = await run_in_threadpool(exports.offline_page, title, index, key, question, made)
    return _download(page.encode(), "text/html", f"{run.id}-round-{index}.html")


@router.get("/runs/{run_id}/best", response_class=Response, responses=EXHIBIT)
async def show_best(run: MembersRun, request: Request, size: Size = None) -> Response:
    """Return the best exhibit so far."""
    return await send_rendered(request, run, lambda session: session.run.best(), size)


@router.get("/runs/{run_id}/start", response_class=Response, responses=EXHIBIT)
async def show_start(run: MembersRun, request: Request, size: Size = None) -> Response:
    """Return the exhibit that was picked to start from."""
    return await send_rendered(request, run, _start, size)


@router.get("/runs/{run_id}/bests/{index}", response_class=Response, responses=EXHIBIT)
async def show_best_after(
    run: MembersRun, index: Index, request: Request, size: Size = None
) -> Response:
    """Return the best exhibit after a round."""
    return await send_rendered(request, run, partial(_best_after, index), size)


@router.get("/runs/{run_id}/journey", response_class=Response, responses=_file("image/webp"))
def show_journey(run: OwnersRun) -> Response:
    """Return an animation from the start to the best."""
    with run.session() as session:
        stations = [step.best for step in session.steps if step.moved]
        renderer = session.renderer
    if not stations:
        raise HTTPException(404, "no start has been picked yet")
    with _render_errors():
        moving = exports.journey(renderer, stations)
    return _download(moving, "image/webp", f"{run.id}-journey.webp", attach=False)


@router.get("/runs/{run_id}/drift")
async def show_drift(run: OwnersRun, request: Request) -> DriftReport:
    """Return whether the latents are still Gaussian noise, and how much the picture changed."""

    def measure() -> tuple[list[dict[str, Any]], list[Future[Exhibit]]]:
        with run.session() as session:
            bests = {step.line.index: step.best for step in session.steps if step.moved}
        # Outside of the lock: the renderer may have to load its model first.
        measured = drift.measure(session.renderer, bests)
        ends = list(bests.values())[:: max(len(bests) - 1, 1)] if measured else []
        return measured, exhibits.of_all(run.studio, session, ends)

    with _render_errors():
        measured, futures = await run_in_threadpool(measure)
        shown = await _exhibits(request, futures)
    change = drift.picture_change(*shown) if len(shown) == 2 else None
    rounds = [Drift(**found) for found in measured]
    text = drift.drift_text(measured, change)
    return DriftReport(rounds=rounds, change=change, words=text)


@router.get("/runs/{run_id}/vector", responses={200: {"model": list[float]}})
def show_vector(run: OwnersRun) -> Response:
    """Return the best point as a JSON list."""
    with run.session() as session:
        data = json.dumps(session.run.best().tolist())
    return _download(data.encode(), "application/json", f"{run.id}-vector.json")


@router.get(
    "/runs/{run_id}/keepsake",
    response_class=Response,
    responses=_file("application/octet-stream"),
)
def show_keepsake(run: OwnersRun) -> Response:
    """Return the best in the renderer's own file format."""
    with run.session() as session:
        name, export = session.renderer.export_name, session.renderer.export
        if name is None or export is None:
            raise HTTPException(
                404, "this renderer has no file format of its own; download the vector"
            )
        with _render_errors():
            data = bytes(export(session.run.best()))
    return _download(data, "application/octet-stream", f"{run.id}-{name}")


@router.get("/runs/{run_id}/export", responses={200: {"model": RunExport}})
def export(run: OwnersRun) -> Response:
    """Return everything that is needed to make the run again, as `zorank runs export` does."""
    with run.session() as session:
        data = json.dumps(session.run.export(), indent=2)
    return _download(data.encode(), "application/json", f"{run.id}.json")


def _start(session: Session) -> Vector:
    if session.start is None:
        raise HTTPException(404, "no start has been picked yet")
    return session.start


def _best_after(index: int, session: Session) -> Vector:
    if index >= len(session.steps):
        raise HTTPException(404, f"round {index} has not been answered")
    return session.steps[index].best


async def send_rendered(
    request: Request, run: OpenRun, choose: Callable[[Session], Vector], size: int | None = None
) -> Response:
    """Return the exhibit of the candidate that `choose` names, as soon as it is rendered."""

    def request_exhibit() -> Future[Exhibit]:
        with run.session() as session:
            return exhibits.of(run.studio, session, choose(session), size)

    future = await run_in_threadpool(request_exhibit)
    with _render_errors():
        [exhibit] = await _exhibits(request, [future])
    headers = {"Cache-Control": "private, max-age=31536000, immutable"}
    if exhibit.media_type.startswith("text/"):
        # A text may contain a user's markup: it gets no scripts, no network and no origin.
        headers["Content-Security-Policy"] = (
            "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"
        )
    return Response(exhibit.data, media_type=exhibit.media_type, headers=headers)


async def _exhibits(request: Request, futures: Sequence[Future[Exhibit]]) -> list[Exhibit]:
    """Wait for exhibits, and cancel their requests if the client disconnects or one fails."""
    disconnect = asyncio.create_task(_disconnect(request))
    try:
        made = []
        for future in futures:
            rendered = asyncio.wrap_future(future)
            either: list[asyncio.Future[Any]] = [rendered, disconnect]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not rendered.done():
                raise HTTPException(CLIENT_CLOSED_REQUEST, "the client disconnected")
            made.append(rendered.result())
        return made
    finally:
        disconnect.cancel()
        for future in futures:
            future.cancel()  # does nothing if it is done


async def _disconnect(request: Request) -> None:
    """Wait until the client disconnects."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


@contextmanager
def _render_errors() -> Iterator[None]:
    """Turn any error of a renderer into a 503 with one sentence."""
    try:
        yield
    except (ZorankError, HTTPException):
        raise
    except MemoryError as error:
        raise HTTPException(503, "there is not enough memory to render this; try again") from error
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise HTTPException(503, f"this could not be rendered ({said:.200}); try again") from error


def _download(data: bytes, media_type: str, file: str, attach: bool = True) -> Response:
    kind = "attachment" if attach else "inline"
    plain = re.sub(r"[^\w.-]", "_", file, flags=re.ASCII)  # headers are ASCII
    headers = {"Content-Disposition": f'{kind}; filename="{plain}"'}
    return Response(data, media_type=media_type, headers=headers)
