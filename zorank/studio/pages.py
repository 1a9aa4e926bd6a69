"""The HTML pages; their scripts load everything else through the JSON interface."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from fastapi.templating import Jinja2Templates

from zorank.errors import InvalidInput, StoreError
from zorank.studio.access import RUN_ID
from zorank.studio.security import cookie_names

router = APIRouter(include_in_schema=False)
templates = Jinja2Templates(directory=Path(__file__).parent / "templates")


@router.get("/")
def home(request: Request) -> Response:
    """Show the owner's runs."""
    return _page(request, "home.html", "zorank studio", owner_only=True)


@router.get("/new")
def new(request: Request) -> Response:
    """Show the form for a new run."""
    return _page(request, "new.html", "New run", owner_only=True)


@router.get("/runs/{run_id}")
def run(run_id: str, request: Request) -> Response:
    """Show the ranking page."""
    return _run_page(request, "run.html", run_id)


@router.get("/runs/{run_id}/result")
def result(run_id: str, request: Request) -> Response:
    """Show the result page."""
    return _run_page(request, "result.html", run_id)


def _run_page(request: Request, template: str, run_id: str) -> Response:
    if not RUN_ID.fullmatch(run_id):
        return _message(request, 404, "No such run", "It may have been deleted.")
    try:
        title = request.app.state.studio.meta(run_id)["title"]
    except (InvalidInput, KeyError):
        return _message(request, 404, "No such run", "It may have been deleted.")
    except StoreError as error:
        return _message(request, 503, "This run cannot be read", error.public)
    return _page(request, template, title, run_id=run_id)


def _page(
    request: Request, template: str, title: str, owner_only: bool = False, **context: Any
) -> Response:
    guard = request.app.state.guard
    access = guard.access(request)
    if access is None:
        text = "Open the link that the studio printed when it started, or the one you were sent."
        return _message(request, 401, "Invalid link", text)
    if token := request.query_params.get("token"):
        return _enter(request, access.role, token, access.run)
    run_id = context.get("run_id")
    if (owner_only and access.role != "owner") or (run_id and not access.may_see(run_id)):
        return _message(request, 403, "No access", "Your link opens another run.")
    values = {"title": title, "role": access.role, **context}
    return templates.TemplateResponse(request, template, values)


def _enter(request: Request, role: str, token: str, run: str | None) -> Response:
    """Move the token from the URL, which people copy, into a cookie."""
    path = request.url.path if role == "owner" else f"/runs/{run}"
    response = RedirectResponse(path, status_code=303)
    owner_cookie, rater_cookie = cookie_names(request)
    name = owner_cookie if role == "owner" else rater_cookie
    response.set_cookie(name, token, httponly=True, samesite="lax", max_age=30 * 24 * 3600)
    return response


def _message(request: Request, status: int, heading: str, text: str) -> Response:
    access = request.app.state.guard.access(request)
    role = "rater" if access is None else access.role
    values = {"title": heading, "role": role, "heading": heading, "text": text}
    return templates.TemplateResponse(request, "message.html", values, status_code=status)
