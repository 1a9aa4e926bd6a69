"""The address at which people open the studio, if a proxy gives it another than its own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from zorank.errors import InvalidInput

EXAMPLE = "https://example.org/rank"
DEFAULT_PORTS = {"http": 80, "https": 443}
NAME = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\]")
SEGMENT = re.compile(r"[A-Za-z0-9_~-][A-Za-z0-9._~-]*")
OWN_PATHS = ("api", "new", "runs", "static", "openapi.json")
"""The first segments of the studio's paths. As a prefix, one of them would be ambiguous."""


@dataclass(frozen=True)
class PublicURL:
    """A checked address: scheme, host and path prefix.

    Attributes:
        scheme: http or https.
        host: the name or address in lower case; IPv6 addresses have brackets.
        port: the port that browsers use.
        prefix: the path below which the studio is, such as "/rank"; "" for the whole host.
    """

    scheme: Literal["http", "https"]
    host: str
    port: int
    prefix: str = ""

    @classmethod
    def parse(cls, text: str) -> PublicURL:
        """Read an address; raise InvalidInput if the studio cannot be there."""
        try:
            parts = urlsplit(text.strip())
            port, name = parts.port, parts.hostname
        except ValueError as error:
            raise _invalid(text, f"is not a URL ({error})") from error
        if parts.scheme not in ("http", "https"):
            raise _invalid(text, "does not begin with http:// or https://")
        scheme: Literal["http", "https"] = "https" if parts.scheme == "https" else "http"
        host = f"[{name}]" if name and ":" in name else name or ""
        if not host:
            raise _invalid(text, "names no host")
        if not NAME.fullmatch(host):
            raise _invalid(text, f"has the host {host!r}, which is not a name in ASCII letters")
        if port == 0:
            raise _invalid(text, "has the port 0, at which nothing can be opened")
        if parts.query or parts.fragment or parts.username is not None:
            raise _invalid(text, "has more than a host and a path")
        return cls(scheme, host, port or DEFAULT_PORTS[scheme], _prefix(text, parts))

    @property
    def netloc(self) -> str:
        """The host, with the port if it is not the scheme's own."""
        usual = self.port == DEFAULT_PORTS[self.scheme]
        return self.host if usual else f"{self.host}:{self.port}"

    @property
    def origin(self) -> str:
        """The value that browsers send as Origin."""
        return f"{self.scheme}://{self.netloc}"

    def __str__(self) -> str:
        return f"{self.origin}{self.prefix}"


def split_host(header: str) -> tuple[str, int | None]:
    """Return name and port of a Host header; the port is None if there is none or no number."""
    name, colon, port = header.rpartition(":")
    if not colon or header.endswith("]"):
        return header.lower(), None
    return name.lower(), int(port) if port.isascii() and port.isdigit() else None


def _prefix(text: str, parts: SplitResult) -> str:
    path = parts.path.rstrip("/")
    segments = path.split("/")[1:]
    if not all(SEGMENT.fullmatch(segment) for segment in segments):
        raise _invalid(text, f"has the path {parts.path!r}; use letters, digits, -, _ and ~")
    if segments and segments[0] in OWN_PATHS:
        taken = f"has a path that begins with /{segments[0]}, as paths of the studio do"
        raise _invalid(text, taken)
    return path


def _invalid(text: str, problem: str) -> InvalidInput:
    return InvalidInput(f"the public URL {text!r} {problem}; give one such as {EXAMPLE}")
