"""The application factory: a studio behind tokens, with pages and a JSON interface."""

from __future__ import annotations

from collections.abc import Callable
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
from zorank.studio.address import PublicURL
from zorank.studio.judging import Panel
from zorank.studio.methods import MethodSpec
from zorank.studio.security import Guard, GuardMiddleware
from zorank.studio.sessions import NotFound
from zorank.studio.studio import Studio
from zorank.studio.urls import Urls

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
    public_url: str | None = None,
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
        public_url: the address at which people open the studio behind a proxy, with its path.
    """
    app = FastAPI(title="zorank studio", version=__version__, docs_url=None, redoc_url=None)
    app.state.studio = Studio(store, renderers, workers, panel, method)
    public = None if public_url is None else PublicURL.parse(public_url)
    app.state.guard = Guard(token, hosts, store, public)
    app.state.studio.urls = Urls(app.state.guard.prefix)
    app.state.closing = False
    app.add_middleware(GuardMiddleware, guard=app.state.guard, refuse=pages.refused)
    app.include_router(api.router, prefix="/api")
    app.include_router(media.router, prefix="/api")
    app.include_router(pages.router)
    app.mount("/static", StaticFiles(directory=FOLDER / "static"), name="static")
    for error, status in STATUSES.items():
        app.add_exception_handler(error, _as_detail(status))
    app.add_exception_handler(RequestValidationError, _unprocessable)
    return app


def _as_detail(status: int) -> Callable[[Request, Exception], Response]:
    def handler(_: Request, error: Exception) -> Response:
        return JSONResponse({"detail": str(error)}, status)

    return handler


def _unprocessable(_: Request, error: Exception) -> Response:
    first: dict[str, Any] = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    where = " ".join(str(part) for part in first.get("loc", ())[1:]) or "the request"
    said = str(first.get("msg", "is invalid"))
    return JSONResponse({"detail": f"{where}: {said[:1].lower()}{said[1:]}"}, 422)
