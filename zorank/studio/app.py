"""The application factory: a studio behind tokens, with pages and a JSON interface."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles

from zorank._version import __version__
from zorank.errors import (
    InvalidInput,
    MissingExtra,
    RenderError,
    ReplayError,
    StaleAnswer,
    StoreError,
    TooManyRequests,
    UnknownName,
)
from zorank.protocols import Store
from zorank.renderers.interface import Offered
from zorank.studio import media, operations, pages, routes
from zorank.studio.address import PublicURL
from zorank.studio.error_text import shown_text
from zorank.studio.events import current_events
from zorank.studio.guesses import WrongTokens
from zorank.studio.judging import Panel
from zorank.studio.limits import Limits
from zorank.studio.methods import MethodSpec
from zorank.studio.metrics import Metrics
from zorank.studio.notifier import Notifier
from zorank.studio.numbers import Numbers
from zorank.studio.operations import HealthCheck
from zorank.studio.render_pool import RenderLimits
from zorank.studio.request_log import RequestObserver
from zorank.studio.security import Guard, GuardMiddleware
from zorank.studio.sessions import NoAccess, NotFound
from zorank.studio.shared_exhibits import SharedExhibits
from zorank.studio.shared_place import SharedPlace
from zorank.studio.stored_runs import NO_SUCH_RUN
from zorank.studio.stream_places import StreamPlaces
from zorank.studio.studio import Studio
from zorank.studio.urls import Urls

FOLDER = Path(__file__).parent
STATUSES: dict[type[Exception], int] = {
    StaleAnswer: 409,
    ReplayError: 409,
    NotFound: 404,
    NoAccess: 401,
    InvalidInput: 422,
    StoreError: 503,
    MissingExtra: 503,
    RenderError: 503,
    TooManyRequests: 429,
}
RETRY_AFTER = 2
"""Seconds after which a client that gets a 429 may try again."""
LAST_SECONDS = 1.0
"""How long the end of the application waits for exhibits that are being rendered."""


def create_app(
    store: Store,
    renderers: Offered,
    token: str,
    hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]"),
    workers: int = 3,
    panel: Panel | None = None,
    method: MethodSpec | None = None,
    limits: RenderLimits | None = None,
    public_url: str | None = None,
    server_limits: Limits | None = None,
    place: SharedPlace | None = None,
    start: str | Sequence[float] | None = None,
) -> FastAPI:
    """Create the studio as an ASGI application.

    Args:
        store: where runs are stored; the application keeps only caches beside it.
        renderers: name → a renderer, or a callable that makes one, such as its class.
        token: the owner's token.
        hosts: the allowed host names; "*" allows any.
        workers: number of rendering threads; if there are several, one run uses all but one.
        panel: the available judges, and the default one.
        method: the method of new runs that name none.
        limits: bounds of the memory that rendering takes.
        public_url: the address at which people open the studio behind a proxy, with its path.
        server_limits: bounds of the loaded runs and of the event streams.
        place: the place among several server processes of one studio; None for a single one.
        start: the start of runs that name none: a text such as "seed:1234", or a vector.
    """
    bounds = server_limits or Limits()
    app = FastAPI(
        title="zorank studio",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # a redirect would repeat the port that the client named
        lifespan=_listening,
    )
    studio = app.state.studio = Studio(
        *(store, renderers, workers, panel, method, limits, bounds.runs),
        shared=SharedExhibits.at(place, limits or RenderLimits()),
        start=start,
    )
    notifier = app.state.notifier = Notifier(partial(current_events, studio))
    studio.on_change = notifier.touch
    app.state.stream_places = StreamPlaces(bounds)
    studio.has_pages = notifier.is_followed
    public = None if public_url is None else PublicURL.parse(public_url)
    guard = app.state.guard = Guard(token, hosts, store, public)
    studio.urls = Urls(guard.prefix)
    metrics = app.state.metrics = Metrics(Numbers(place), studio, notifier)
    observer = RequestObserver(token, metrics)
    app.state.health = HealthCheck(store)
    app.add_middleware(
        GuardMiddleware,
        guard=guard,
        refuse=pages.refused,
        observer=observer,
        wrong_tokens=WrongTokens(token, place),
    )
    for router in (*routes.ROUTERS, media.router):
        app.include_router(router, prefix="/api")
    app.include_router(operations.router)
    app.include_router(pages.router)
    app.mount("/static", StaticFiles(directory=FOLDER / "static"), name="static")
    for error, status in STATUSES.items():
        app.add_exception_handler(error, _as_detail(status))
    app.add_exception_handler(UnknownName, _unknown)
    app.add_exception_handler(RequestValidationError, _unprocessable)
    return app


@asynccontextmanager
async def _listening(app: FastAPI) -> AsyncIterator[None]:
    """Push changes that other processes make to the store, while the application runs."""
    studio: Studio = app.state.studio
    notifier: Notifier = app.state.notifier
    stop = studio.store.listen(lambda run: studio.changed_elsewhere(run, notifier.followed))
    publishing = asyncio.create_task(app.state.metrics.keep_published())
    try:
        yield
    finally:
        publishing.cancel()
        stop()
        studio.deadlines.end()
        notifier.close()
        # A renderer that reports progress is stopped by the next report.
        await asyncio.to_thread(studio.render_pool.close, LAST_SECONDS)


def _as_detail(status: int) -> Callable[[Request, Exception], Response]:
    def handler(_: Request, error: Exception) -> Response:
        headers = {"Retry-After": str(RETRY_AFTER)} if status == 429 else None
        return JSONResponse({"detail": shown_text(error)}, status, headers)

    return handler


def _unknown(_: Request, error: Exception) -> Response:
    """Answer 404 for an unknown run, without the names of other runs."""
    if isinstance(error, UnknownName) and error.kind == "run":
        return JSONResponse({"detail": NO_SUCH_RUN}, 404)
    return JSONResponse({"detail": str(error)}, 422)


def _unprocessable(_: Request, error: Exception) -> Response:
    first: dict[str, Any] = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    if first.get("type") == "json_invalid":
        return JSONResponse({"detail": "the body of the request is not valid JSON"}, 422)
    where = " ".join(str(part) for part in first.get("loc", ())[1:]) or "the request"
    said = str(first.get("msg", "is invalid"))
    return JSONResponse({"detail": f"{where}: {said[:1].lower()}{said[1:]}"}, 422)
