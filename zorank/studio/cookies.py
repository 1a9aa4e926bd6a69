"""Session cookies: signed values that stand for an access, valid for one server.

A cookie contains no token, because browsers send cookies to every port of a host. Its signature
covers the server's address and, for a rater or a viewer, the link: a cookie works at no other
server, and ends with its link. The key comes from the owner's token, so cookies
survive a restart, and any number of processes with the same token accept them.
"""

from __future__ import annotations

import hmac
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass

from zorank.studio.access import RUN_ID, Access

LIFETIME = 30 * 24 * 3600
"""Seconds after which a cookie expires."""
PURPOSE = b"zorank studio: key of session cookies, version 1"


@dataclass(frozen=True)
class Claim:
    """The readable part of a cookie; a signature must confirm it."""

    run: str
    expires: int
    member: str = ""

    def encode(self) -> str:
        """Return the claim in characters that a cookie may have; a run's name may have others."""
        return (
            urlsafe_b64encode(f"{self.expires}:{self.run}:{self.member}".encode())
            .decode()
            .rstrip("=")
        )

    @classmethod
    def decode(cls, text: str) -> Claim | None:
        """Return the claim of a cookie, or None if this is not a claim."""
        try:
            padded = text + "=" * (-len(text) % 4)
            claimed = urlsafe_b64decode(padded.encode("ascii")).decode()
            expires, run, member = claimed.split(":")
            return cls(run, int(expires), member) if not run or RUN_ID.fullmatch(run) else None
        except ValueError:  # not ASCII, not base64, not UTF-8, not three parts, not a number
            return None


class SessionCookies:
    """Makes and checks the values of cookies.

    Args:
        token: the owner's token.
        invited: returns the access of a run's link, by the id of its member or "" for the shared
            link; None if there is no such link.
        now: the clock.
    """

    def __init__(
        self,
        token: str,
        invited: Callable[[str, str], Access | None],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._key = hmac.digest(token.encode(), PURPOSE, "sha256")
        self._invited = invited
        self._now = now

    def issue(self, access: Access, server: str) -> str:
        """Return the value of a cookie that grants this access at this server."""
        text = Claim(access.run or "", int(self._now()) + LIFETIME, access.member).encode()
        return f"{text}.{self._signature(text, access.grant, server)}"

    def owner(self, value: str, server: str) -> Access | None:
        """Return the owner's access if the cookie is the owner's. Reads no store."""
        claim, text, signature = self._split(value)
        if claim is None or claim.run:
            return None
        return Access("owner") if self._is_signed(text, signature, "", server) else None

    def rater(self, value: str, server: str) -> Access | None:
        """Return a rater's access if the cookie's invitation is still valid. Reads the store."""
        claim, text, signature = self._split(value)
        if claim is None or not claim.run:
            return None
        access = self._invited(claim.run, claim.member)
        if access is None or not self._is_signed(text, signature, access.grant, server):
            return None
        return access

    def _split(self, value: str) -> tuple[Claim | None, str, str]:
        text, _, signature = value.partition(".")
        claim = Claim.decode(text)
        expired = claim is not None and claim.expires < self._now()
        return None if expired else claim, text, signature

    def _is_signed(self, text: str, signature: str, grant: str, server: str) -> bool:
        right = self._signature(text, grant, server)
        return hmac.compare_digest(signature.encode(), right.encode())

    def _signature(self, text: str, grant: str, server: str) -> str:
        signed = "\n".join((server, grant, text)).encode()
        return hmac.digest(self._key, signed, "sha256").hex()
