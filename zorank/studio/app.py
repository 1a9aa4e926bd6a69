"""The application factory: a studio behind tokens, with pages and a JSON interface."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
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
)
from zorank.protocols import Store
from zorank.renderers.interface import Offered
from zorank.studio import api, media, pages
from zorank.studio.events import current_events
from zorank.studio.judging import Panel
from zorank.studio.methods import MethodSpec
from zorank.studio.notifier import Notifier
from zorank.studio.security import Guard
from zorank.studio.sessions import NotFound
from zorank.studio.studio import Studio

FOLDER = Path(__file__).parent
STATUSES: dict[type[Exception], int] = {
    StaleAnswer: 409,
    ReplayError: 409,
    NotFound: 404,
    InvalidInput: 422,
    StoreError: 503,
    MissingExtra: 503,
    RenderError: 503,
}


def create_app(
    store: Store,
    renderers: Offered,
    token: str,
    hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]"),
    workers: int = 2,
    panel: Panel | None = None,
    method: MethodSpec | None = None,
) -> FastAPI:
    """Create the studio as an ASGI application.

    Args:
        store: where runs are stored; the application keeps only caches beside it.
        renderers: name → a renderer, or a callable that makes one, such as its class.
        token: the owner's token.
        hosts: the allowed host names; "*" allows any.
        workers: number of rendering threads.
        panel: the available judges, and the default one.
        method: the method of new runs that name none.
    """
    app = FastAPI(
        title="zorank studio",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=_listening,
    )
    studio = app.state.studio = Studio(store, renderers, workers, panel, method)
    notifier = app.state.notifier = Notifier(partial(current_events, studio))
    studio.on_change = notifier.touch
    app.state.guard = Guard(token, hosts)
    app.add_middleware(_BodyLimit)
    app.middleware("http")(_guarded)
    app.include_router(api.router, prefix="/api")
    app.include_router(media.router, prefix="/api")
    app.include_router(pages.router)
    app.mount("/static", StaticFiles(directory=FOLDER / "static"), name="static")
    for error, status in STATUSES.items():
        app.add_exception_handler(error, _as_detail(status))
    app.add_exception_handler(RequestValidationError, _unprocessable)
    return app


@asynccontextmanager
async def _listening(app: FastAPI) -> AsyncIterator[None]:
    """Push changes that other processes make to the store, while the application runs."""
    studio: Studio = app.state.studio
    notifier: Notifier = app.state.notifier
    stop = studio.store.listen(lambda run: studio.changed_elsewhere(run, notifier.followed))
    try:
        yield
    finally:
        stop()
        studio.deadlines.end()
        notifier.close()


async def _guarded(
    request: Request, call_next: Callable[[Request], Awaitable[Response]]
) -> Response:
    guard: Guard = request.app.state.guard
    refusal = guard.refusal(request)
    response = refusal if refusal is not None else await call_next(request)
    guard.protect(response)
    return response


def _as_detail(status: int) -> Callable[[Request, Exception], Response]:
    def handler(_: Request, error: Exception) -> Response:
        return JSONResponse({"detail": str(error)}, status)

    return handler


def _unprocessable(_: Request, error: Exception) -> Response:
    first: dict[str, Any] = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    where = " ".join(str(part) for part in first.get("loc", ())[1:]) or "the request"
    said = str(first.get("msg", "is invalid"))
    return JSONResponse({"detail": f"{where}: {said[:1].lower()}{said[1:]}"}, 422)


class _BodyLimit:
    """Rejects large request bodies, with or without a Content-Length header."""

    LARGEST = 256 * 1024

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared.isdigit() or int(declared) > self.LARGEST:
            refusal = JSONResponse({"detail": "the request's body is too large"}, 413)
            await refusal(scope, receive, send)
            return
        received = 0

        async def counted() -> Any:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.LARGEST:
                return {"type": "http.disconnect"}
            return message

        await self.app(scope, counted, send)
