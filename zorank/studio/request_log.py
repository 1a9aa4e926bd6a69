"""One record for each request: for the metrics, and at level info a line in the log.

The log never has a token: it has no query, no cookies and no headers, and anything in a path that
looks like a token is replaced.
"""

from __future__ import annotations

import logging
import re
import time
from urllib.parse import quote

from starlette.types import Message, Scope, Send

from zorank.studio.metrics import Metrics

LOG = logging.getLogger("zorank.requests")
CLIENT_CLOSED_REQUEST = 499
"""The status of a request whose client disconnected before the response."""
LONGEST_PATH = 200
SECRET = re.compile(r"(?<=token=).*|(?<=[\w-]\.)[\w-]{24,}|(?<=[?]).*", re.IGNORECASE | re.DOTALL)
HIDDEN = "…"


class RequestObserver:
    """Counts and logs requests.

    Args:
        token: the owner's token, which never appears in the log.
        metrics: counts the requests.
    """

    def __init__(self, token: str, metrics: Metrics) -> None:
        self._metrics = metrics
        self._token = token

    def watch(self, scope: Scope, send: Send) -> RequestWatch:
        """Begin to watch a request. The scope gets its route and access later."""
        return RequestWatch(self, scope, send)

    def record(self, scope: Scope, status: int, seconds: float) -> None:
        """Record a request when its response begins."""
        self._metrics.count(route_of(scope), status, seconds)
        if LOG.isEnabledFor(logging.INFO):
            access = scope.get("state", {}).get("access")
            fields = {
                "method": quote(scope["method"])[:20],
                "path": self.safe_path(scope["path"]),
                "status": status,
                "milliseconds": round(1000 * seconds, 1),
                "role": "none" if access is None else access.role,
            }
            words = "%(method)s %(path)s %(status)s %(milliseconds)s ms %(role)s"
            LOG.info(words, fields, extra={"fields": fields})

    def safe_path(self, path: str) -> str:
        """Return a path for the log: without tokens and in one line."""
        path = SECRET.sub(HIDDEN, path.replace(self._token, HIDDEN))
        return quote(path[:LONGEST_PATH], safe=f"/{HIDDEN}")


class RequestWatch:
    """One request: its response is sent through `send`, and `end` is called in any case."""

    def __init__(self, observer: RequestObserver, scope: Scope, send: Send) -> None:
        self._observer = observer
        self._scope = scope
        self._send = send
        self._began = time.perf_counter()
        self._recorded = False

    async def send(self, message: Message) -> None:
        """Send a part of the response."""
        if message["type"] == "http.response.start":
            self._record(message["status"])
        await self._send(message)

    def end(self, failed: bool) -> None:
        """Record a request without a response: it failed, or its client disconnected."""
        self._record(500 if failed else CLIENT_CLOSED_REQUEST)

    def _record(self, status: int) -> None:
        if not self._recorded:
            self._recorded = True
            self._observer.record(self._scope, status, time.perf_counter() - self._began)


def route_of(scope: Scope) -> str:
    """Return the template of a request's route; the same one for all that have none."""
    path = scope["path"].removeprefix(scope["root_path"])
    if path.startswith("/static/"):
        return "/static"
    template = getattr(scope.get("route"), "path", "")
    if not template:
        return "none"
    is_bare = path.startswith("/api/") and not template.startswith("/api/")
    return f"/api{template}" if is_bare else str(template)
