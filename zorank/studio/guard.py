"""What every request must pass: the right host, the right origin, a token.

The host check stops pages that point a name of theirs at this machine; the origin check and the
SameSite cookies stop pages of other sites that send requests on somebody's behalf.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from fastapi import HTTPException, Request, Response
from fastapi.responses import JSONResponse

from zorank.studio.access import Access, resolve

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "media-src 'self' blob:; connect-src 'self'; frame-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'self'"
)


class Guard:
    """The owner's token and the names under which the studio may be addressed."""

    def __init__(self, token: str, hosts: tuple[str, ...]) -> None:
        self.token = token
        self._hosts = hosts

    def refusal(self, request: Request) -> Response | None:
        """A response for a request from the wrong place, or None."""
        host = request.headers.get("host", "")
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if "*" not in self._hosts and name not in self._hosts:
            return JSONResponse({"detail": f"this studio is not addressed as {name!r}"}, 400)
        origin = request.headers.get("origin")
        if origin and request.method not in ("GET", "HEAD") and _netloc(origin) != host:
            return JSONResponse({"detail": "requests from other sites are refused"}, 403)
        return None

    def protect(self, response: Response) -> None:
        """Add the headers that keep a page to itself."""
        response.headers.setdefault("Content-Security-Policy", POLICY)
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        response.headers.setdefault("Referrer-Policy", "no-referrer")
        response.headers.setdefault("Cache-Control", "no-store")

    def access(self, request: Request) -> Access | None:
        """What the request's token opens: from its header, its address or its cookies."""
        header = request.headers.get("authorization", "")
        given = header.removeprefix("Bearer ") if header.startswith("Bearer ") else None
        given = given or request.query_params.get("token")
        store = request.app.state.studio.store
        if given:
            return resolve(given, self.token, store)
        for name in cookie_names(request):
            access = resolve(request.cookies.get(name, ""), self.token, store)
            if access is not None:
                return access
        return None


def _netloc(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:  # no address at all
        return None


def cookie_names(request: Request) -> tuple[str, str]:
    """The owner's and the rater's cookie; browsers share cookies between ports, so each has it."""
    port = request.url.port or 80
    return f"zorank-owner-{port}", f"zorank-rater-{port}"


def anyone(request: Request) -> Access:
    """Whoever has a token."""
    access: Access | None = request.app.state.guard.access(request)
    if access is None:
        raise HTTPException(401, "open the link that the studio printed, or the one you were sent")
    return access


def owner(request: Request) -> Access:
    """Only the owner."""
    access = anyone(request)
    if access.role != "owner":
        raise HTTPException(403, "only the owner of this studio may do that")
    return access


def member(run_id: str, request: Request) -> Access:
    """The owner, or a rater of this run."""
    access = anyone(request)
    if not access.may_see(run_id):
        raise HTTPException(403, "this link opens another run")
    return access
