"""Who may do what: the owner everything, a rater only to rank in one run.

The owner's token is in the link that the studio prints. A rater's token names its run and carries
a secret of which the store keeps only a digest, so reading the database gives nobody access.
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
    """What a token opens: everything, or ranking in one run."""

    role: Literal["owner", "rater"]
    run: str | None = None

    def may_see(self, run: str) -> bool:
        """Whether this opens a run at all."""
        return self.role == "owner" or self.run == run


def new_token() -> str:
    """A token that cannot be guessed."""
    return secrets.token_urlsafe(24)


def new_invitation(run: str) -> tuple[str, str]:
    """A rater's token for a run, and the digest to keep."""
    secret = new_token()
    return f"{run}.{secret}", _digest(secret)


def resolve(token: str, owner_token: str, store: Store) -> Access | None:
    """What a token opens, or None."""
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
