"""Tokens and roles: the owner may do everything, a rater may rank in one run.

The owner's token is in the link that the studio prints. A rater's token contains the run's id and
a secret. The store keeps only a digest of the secret, so the database grants no access.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from typing import Literal

from zorank.errors import InvalidInput
from zorank.protocols import Store

RUN_ID = re.compile(r"[\w-]{1,64}")


@dataclass(frozen=True)
class Access:
    """The role that a token grants, and for a rater the run and the digest of the invitation."""

    role: Literal["owner", "rater"]
    run: str | None = None
    grant: str = field(default="", repr=False, compare=False)

    def may_see(self, run: str) -> bool:
        """Whether this role may read a run."""
        return self.role == "owner" or self.run == run


def new_token() -> str:
    """Return a random token of 192 bits."""
    return secrets.token_urlsafe(24)


def new_invitation(run: str) -> tuple[str, str]:
    """Return a rater's token for a run, and the digest to store."""
    secret = new_token()
    return f"{run}.{secret}", _digest(secret)


def resolve(token: str, owner_token: str, store: Store) -> Access | None:
    """Return the access that a token grants, or None."""
    if is_owner(token, owner_token):
        return Access("owner")
    run, _, secret = token.partition(".")
    kept = invitation_digest(run, store) if secret else None
    if kept is not None and compare_digest(_digest(secret), kept):
        return Access("rater", run, kept)
    return None


def is_owner(token: str, owner_token: str) -> bool:
    """Whether this is the owner's token."""
    return compare_digest(token.encode(), owner_token.encode())


def invitation_digest(run: str, store: Store) -> str | None:
    """Return the digest of a run's invitation; None without one, or without such a run."""
    if not RUN_ID.fullmatch(run):
        return None
    try:
        kept = store.record(run).meta.get("invitation")
    except InvalidInput:
        return None
    return kept if isinstance(kept, str) else None


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
