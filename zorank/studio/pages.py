"""The HTML pages; their scripts load everything else through the JSON interface."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from fastapi.templating import Jinja2Templates

from zorank.errors import InvalidInput, StoreError
from zorank.studio.access import RUN_ID, Access
from zorank.studio.error_text import shown_text

router = APIRouter(include_in_schema=False)
templates = Jinja2Templates(
    directory=Path(__file__).parent / "templates",
    context_processors=[lambda request: {"root": request.scope["root_path"]}],
)
REFUSALS = {
    401: (
        "Invalid link",
        "Open the link that the studio printed when it started, or the one you were sent. "
        "After 30 days, or an upgrade of the studio, you have to open it again.",
    ),
    429: ("Too many attempts", "Wait a minute, then open your link again."),
}
"""Heading and text of the page for a refused request, by status."""


@router.get("/")
def home(request: Request) -> Response:
    """Show the owner's runs."""
    items = _only_ranks_items(request)
    return _page(request, "home.html", "zorank studio", owner_only=True, items=items)


@router.get("/new")
def new(request: Request) -> Response:
    """Show the form for a new run."""
    start = request.app.state.studio.start
    text = start if isinstance(start, str) else "the vector of --start" if start else ""
    items = _only_ranks_items(request)
    return _page(request, "new.html", "New run", owner_only=True, start=text, items=items)


@router.get("/runs/{run_id}")
def run(run_id: str, request: Request) -> Response:
    """Show the ranking page."""
    return _run_page(request, "run.html", run_id)


@router.get("/runs/{run_id}/result")
def result(run_id: str, request: Request) -> Response:
    """Show the result page."""
    return _run_page(request, "result.html", run_id)


def refused(request: Request, status: int, sentence: str) -> Response:
    """Refuse a request: with JSON on the paths of the interface, with a page on all others."""
    if request.scope["path"].startswith(f"{request.scope['root_path']}/api/"):
        return JSONResponse({"detail": sentence}, status)
    heading, text = REFUSALS.get(status, ("Not possible", _as_text(sentence)))
    return _message(request, status, heading, text)


def _run_page(request: Request, template: str, run_id: str) -> Response:
    # Only those who may see a run learn whether it exists.
    try:
        meta = _meta(request, run_id) if request.state.access.may_see(run_id) else {"title": ""}
    except StoreError as error:
        return _message(request, 503, "This run cannot be read", shown_text(error))
    if "title" not in meta:
        return _message(request, 404, "No such run", "It may have been deleted.")
    kind = request.app.state.studio.renderers.get(meta.get("renderer"))
    items = kind is not None and kind.ranks_items
    return _page(request, template, str(meta["title"]), run_id=run_id, items=items)


def _meta(request: Request, run_id: str) -> dict[str, Any]:
    """Return the studio's data about a run; nothing if there is none."""
    if not RUN_ID.fullmatch(run_id):
        return {}
    try:
        found: dict[str, Any] = request.app.state.studio.meta(run_id)
    except InvalidInput:
        return {}
    return found


def _only_ranks_items(request: Request) -> bool:
    """Whether all runs rank things that exist, so that pages do not speak of making any."""
    return all(kind.ranks_items for kind in request.app.state.studio.renderers.values())


def _page(
    request: Request, template: str, title: str, owner_only: bool = False, **context: Any
) -> Response:
    access: Access = request.state.access
    if "token" in request.query_params:
        return _enter(request, access)
    run_id = context.get("run_id")
    if (owner_only and access.role != "owner") or (run_id and not access.may_see(run_id)):
        return _message(request, 403, "No access", "Your link opens another run.")
    values = {"title": title, "role": access.role, **context}
    return templates.TemplateResponse(request, template, values)


def _enter(request: Request, access: Access) -> Response:
    """Exchange the token in the URL, which people copy, for a cookie."""
    own = f"{request.scope['root_path']}/runs/{access.run}"
    path = request.scope["path"] if access.role == "owner" else own
    response = RedirectResponse(path, status_code=303)
    request.app.state.guard.enter(request, response, access)
    return response


def _message(request: Request, status: int, heading: str, text: str) -> Response:
    access: Access | None = getattr(request.state, "access", None)
    role = "rater" if access is None else access.role
    shown = {"heading": heading, "text": text, "status": status}
    values = {"title": heading, "role": role, **shown}
    return templates.TemplateResponse(request, "message.html", values, status_code=status)


def _as_text(sentence: str) -> str:
    return f"{sentence[:1].upper()}{sentence[1:]}."
