"""Request security: hosts, origins, tokens, cookies, body sizes, response headers.

`Guard` holds the rules, `GuardMiddleware` applies them to every request before its body is read.
The host check prevents DNS rebinding. The origin check and SameSite cookies prevent cross-site
request forgery.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import aclosing
from functools import partial
from urllib.parse import urlsplit

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from zorank.errors import StoreError
from zorank.protocols import Store
from zorank.renderers.style.photos import LARGEST_FILE
from zorank.studio.access import Access, invited, is_owner, resolve
from zorank.studio.address import DEFAULT_PORTS, PublicURL, split_host
from zorank.studio.cookies import LIFETIME, SessionCookies
from zorank.studio.error_text import shown_text
from zorank.studio.guesses import PERIOD, WrongTokens
from zorank.studio.request_log import RequestObserver

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "media-src 'self' blob:; connect-src 'self'; frame-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'self'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
"""The headers of every response that does not set them itself."""
HEALTH = "/healthz"
"""The path that everybody may read under any host name: load balancers use addresses."""
OPEN_PATHS = ("/static/", "/openapi.json")
"""Paths that everybody may read: the files of the pages, the description of the interface."""
LARGEST_BODY = 256 * 1024
UPLOADS = {"/api/photos": LARGEST_FILE, "/api/runs": 4 * 1024 * 1024}
"""Paths to which only the owner may send larger bodies, and their limits in bytes: photos, and
runs that start at a vector."""
BODY_SECONDS = 30.0
"""Seconds in which the whole body of a request must arrive."""
INVITED_ONLY = "open the link that the studio printed, or the one you were sent"

Refuse = Callable[[Request, int, str], Response]
"""Makes the response for a request that is refused, from its status and a sentence."""


class Guard:
    """Checks requests against the owner's token and the allowed host names.

    Args:
        token: the owner's token.
        hosts: the allowed host names; "*" allows any.
        store: keeps the invitations of raters.
        public: the address at which people open the studio, if it is not the server's own.
    """

    def __init__(
        self, token: str, hosts: tuple[str, ...], store: Store, public: PublicURL | None = None
    ) -> None:
        self.token = token
        self.public = public
        self.prefix = "" if public is None else public.prefix
        self._hosts = hosts if public is None else (*hosts, public.host)
        self._store = store
        self._cookies = SessionCookies(token, partial(invited, store=store))

    def placed(self, scope: Scope) -> Scope:
        """Return a request's scope as under the public URL.

        A proxy may remove the prefix from the path or leave it; the result has it.
        """
        scope = {**scope, "state": {**scope.get("state", {})}, "root_path": self.prefix}
        if self.public is not None and self._is_public(HTTPConnection(scope)):
            scope["scheme"] = self.public.scheme
        path = scope["path"]
        if path == self.prefix:
            path += "/"
        elif not path.startswith(f"{self.prefix}/"):
            path = self.prefix + path
        return {**scope, "path": path}

    def refusal(self, request: Request) -> tuple[int, str] | None:
        """Return status and sentence for a request with a wrong host or origin, or None."""
        host = request.headers.get("host", "")
        name, _ = split_host(host)
        if "*" not in self._hosts and name not in self._hosts:
            return 400, f"the host {name!r} is not allowed; use the printed link"
        origin = request.headers.get("origin")
        if not origin or request.method in ("GET", "HEAD"):
            return None
        public = self.public is not None and origin.lower() == self.public.origin
        if public or (_netloc(origin) == host and not self._is_public(request)):
            return None
        return 403, "requests from other sites are refused"

    async def identify(self, request: Request) -> Access | None:
        """Return the access of a request; only that of raters and viewers reads the store."""
        if (access := self._owner(request)) is not None:
            return access
        given = given_token(request) or request.cookies.get(self._cookie(request, "rater"))
        return await run_in_threadpool(self.access, request) if given else None

    def access(self, connection: HTTPConnection) -> Access | None:
        """Return the access that a token grants, from the header, the query or a cookie."""
        if (access := self._owner(connection)) is not None:
            return access
        if given := given_token(connection):
            return resolve(given, self.token, self._store)
        value = connection.cookies.get(self._cookie(connection, "rater"), "")
        return self._cookies.rater(value, self._server(connection))

    def enter(self, request: Request, response: Response, access: Access) -> None:
        """Set the cookie that grants this access."""
        response.set_cookie(
            self._cookie(request, "owner" if access.role == "owner" else "rater"),
            self._cookies.issue(access, self._server(request)),
            max_age=LIFETIME,
            path=self.prefix or "/",
            secure=self._scheme(request) == "https" or self._is_https,
            httponly=True,
            samesite="lax",
        )

    def link(self, request: Request, path: str) -> str:
        """Return the address that people open for a path of the studio."""
        if self.public is not None:
            return f"{self.public}{path}"
        return f"{request.url.scheme}://{request.url.netloc}{path}"

    @property
    def _is_https(self) -> bool:
        return self.public is not None and self.public.scheme == "https"

    def _owner(self, connection: HTTPConnection) -> Access | None:
        if given := given_token(connection):
            return Access("owner") if is_owner(given, self.token) else None
        value = connection.cookies.get(self._cookie(connection, "owner"), "")
        return self._cookies.owner(value, self._server(connection))

    def _is_public(self, connection: HTTPConnection) -> bool:
        """Whether a request names the public URL's host and port."""
        if self.public is None:
            return False
        name, port = split_host(connection.headers.get("host", ""))
        usual = DEFAULT_PORTS[self.public.scheme]
        return (name, port or usual) == (self.public.host, self.public.port)

    def _cookie(self, connection: HTTPConnection, role: str) -> str:
        """Return a cookie's name; it has the port, because browsers share cookies of ports."""
        _, port = split_host(connection.headers.get("host", ""))
        return f"zorank-{role}-{port or DEFAULT_PORTS[self._scheme(connection)]}"

    def _scheme(self, connection: HTTPConnection) -> str:
        return "https" if connection.scope.get("scheme") == "https" else "http"

    def _server(self, connection: HTTPConnection) -> str:
        """Return an identifier of this server: its public URL, else its port."""
        if self.public is not None:
            return str(self.public)
        return f"port {(connection.scope.get('server') or ('', None))[1]}"


class GuardMiddleware:
    """Refuses what `Guard` does not allow, before the body is read, and limits the body.

    Handlers find the access in `request.state.access`.
    """

    def __init__(
        self,
        app: ASGIApp,
        guard: Guard,
        refuse: Refuse,
        observer: RequestObserver,
        wrong_tokens: WrongTokens,
    ) -> None:
        self.app, self.guard = app, guard
        self._refuse, self._observer = refuse, observer
        self._wrong_tokens = wrong_tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(self.guard.placed(scope), receive)
        watch = self._observer.watch(request.scope, _with_headers(send))
        failed = True
        try:
            await self._serve(request, receive, watch.send)
            failed = False
        finally:
            watch.end(failed)

    async def _serve(self, request: Request, receive: Receive, send: Send) -> None:
        refused = await self._refusal(request)
        if refused is None:
            try:
                async with asyncio.timeout(BODY_SECONDS):
                    body = await _body(request, self._largest(request))
            except ClientDisconnect:
                return
            except TimeoutError:
                refused = 408, "the request's body did not arrive in time; try again"
            else:
                if body is not None:
                    await self.app(request.scope, _replayed(body, receive), send)
                    return
                refused = 413, self._too_large(request)
        status, sentence = refused
        response = self._refuse(request, status, sentence)
        if status == 429:
            response.headers["Retry-After"] = f"{PERIOD:.0f}"
        await response(request.scope, receive, send)

    def _largest(self, request: Request) -> int:
        """Return how many bytes a body may have."""
        access: Access | None = getattr(request.state, "access", None)
        path = request.scope["path"].removeprefix(self.guard.prefix)
        is_owner = access is not None and access.role == "owner"
        return UPLOADS.get(path, LARGEST_BODY) if is_owner else LARGEST_BODY

    def _too_large(self, request: Request) -> str:
        most = self._largest(request)
        advice = "" if most == LARGEST_BODY else f"; at most {most // 2**20} MiB are taken"
        return "the request's body is too large" + advice

    async def _refusal(self, request: Request) -> tuple[int, str] | None:
        if request.scope["path"] == f"{self.guard.prefix}{HEALTH}":
            return None
        return self.guard.refusal(request) or await self._authenticate(request)

    async def _authenticate(self, request: Request) -> tuple[int, str] | None:
        """Identify the sender of a request; return status and sentence if it is refused."""
        try:
            access = await self.guard.identify(request)
        except StoreError as error:
            return 503, shown_text(error)
        request.state.access = access
        path = request.scope["path"].removeprefix(self.guard.prefix)
        if access is not None or path.startswith(OPEN_PATHS):
            return None
        # A valid token is never refused: others may share the address, for example of a proxy.
        address = request.client.host if request.client else ""
        if given_token(request) and self._wrong_tokens.add(address):
            return 429, "this address has sent too many wrong tokens; wait a minute"
        return 401, INVITED_ONLY


def given_token(connection: HTTPConnection) -> str | None:
    """Return the token in the header or in the query, if there is one."""
    header = connection.headers.get("authorization", "")
    given = header.removeprefix("Bearer ") if header.startswith("Bearer ") else None
    return given or connection.query_params.get("token") or None


def _netloc(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:  # not a URL
        return None


def _with_headers(send: Send) -> Send:
    async def protected(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return protected


async def _body(request: Request, largest: int) -> bytes | None:
    """Return the whole body; None if it is too large, whether or not its length is declared."""
    declared = request.headers.get("content-length", "0")
    if not re.fullmatch(r"[0-9]{1,9}", declared) or int(declared) > largest:
        return None
    received = bytearray()
    async with aclosing(request.stream()) as stream:
        async for chunk in stream:
            received += chunk
            if len(received) > largest:
                return None
    return bytes(received)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a function that gives the body that was read, and then what follows it."""
    waiting = [body]

    async def replay() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return replay
