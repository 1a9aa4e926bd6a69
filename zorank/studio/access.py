"""Tokens and roles: the owner may do everything, a rater may rank in one run.

The owner's token is in the link that the studio prints. A rater's token contains the run's id and
a secret. The store keeps only a digest of the secret, so the database grants no access.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from typing import Literal

from zorank.errors import InvalidInput
from zorank.protocols import Store

RUN_ID = re.compile(r"[\w-]{1,64}")


@dataclass(frozen=True)
class Access:
    """The role that a token grants, and for a rater the run."""

    role: Literal["owner", "rater"]
    run: str | None = None

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
    if compare_digest(token.encode(), owner_token.encode()):
        return Access("owner")
    run, _, secret = token.partition(".")
    if not RUN_ID.fullmatch(run):
        return None
    try:
        kept = store.record(run).meta.get("invitation")
    except InvalidInput:
        return None
    if secret and isinstance(kept, str) and compare_digest(_digest(secret), kept):
        return Access("rater", run)
    return None


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
