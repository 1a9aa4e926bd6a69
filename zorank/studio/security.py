"""Request security: host check, origin check, token authentication, response headers.

The host check prevents DNS rebinding. The origin check and SameSite cookies prevent cross-site
request forgery.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from fastapi import Request, Response
from fastapi.responses import JSONResponse

from zorank.studio.access import Access, resolve

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "media-src 'self' blob:; connect-src 'self'; frame-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'self'"
)


class Guard:
    """Checks requests against the owner's token and the allowed host names."""

    def __init__(self, token: str, hosts: tuple[str, ...]) -> None:
        self.token = token
        self._hosts = hosts

    def refusal(self, request: Request) -> Response | None:
        """Return an error response for a request with a wrong host or origin, or None."""
        host = request.headers.get("host", "")
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if "*" not in self._hosts and name not in self._hosts:
            return JSONResponse(
                {"detail": f"the host {name!r} is not allowed; use the printed link"}, 400
            )
        origin = request.headers.get("origin")
        if origin and request.method not in ("GET", "HEAD") and _netloc(origin) != host:
            return JSONResponse({"detail": "requests from other sites are refused"}, 403)
        return None

    def protect(self, response: Response) -> None:
        """Add the security headers."""
        response.headers.setdefault("Content-Security-Policy", POLICY)
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        response.headers.setdefault("Referrer-Policy", "no-referrer")
        response.headers.setdefault("Cache-Control", "no-store")

    def access(self, request: Request) -> Access | None:
        """Return the access that a token grants, from the header, the query or a cookie."""
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
    except ValueError:  # not a URL
        return None


def cookie_names(request: Request) -> tuple[str, str]:
    """Return the owner's and the rater's cookie name; browsers share cookies between ports."""
    port = request.url.port or 80
    return f"zorank-owner-{port}", f"zorank-rater-{port}"
