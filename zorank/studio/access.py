"""Tokens and roles: the owner may do everything; a rater may rank in one run, a viewer may look.

The owner's token is in the link that the studio prints. A named link contains the run's id, the
invitation's id and a secret. The secret is derived from the owner's token, so the store keeps no
secret, and the owner can see the link again. The shared link of a run contains its id and a random
secret, of which the store keeps a digest.
"""

from __future__ import annotations

import re
import secrets
import time
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import pbkdf2_hmac, sha256
from hmac import compare_digest, digest
from typing import Literal

from zorank._raters import Member, member_in
from zorank.errors import InvalidInput
from zorank.protocols import Store
from zorank.studio.seen import Seen
from zorank.types import Json

RUN_ID = re.compile(r"[\w-]{1,64}")
STRETCHED = 100_000
"""Rounds of the key derivation: whoever has a link should not guess a short owner's token."""

Role = Literal["owner", "rater", "viewer"]


@dataclass(frozen=True)
class Access:
    """The role that a token grants; for others than the owner, the run and the person.

    Attributes:
        role: what its holder may do.
        run: the only run that it opens; None for the owner.
        name: the name in a named link; None for the owner and for a shared link.
        member: the id of a named link; else empty.
        grant: what its cookie is bound to: the cookie ends with the link.
        seen: the snapshot that was read to resolve the access.
    """

    role: Role
    run: str | None = None
    name: str | None = None
    member: str = ""
    grant: str = field(default="", repr=False, compare=False)
    seen: Seen | None = field(default=None, repr=False, compare=False)

    def is_valid(self, meta: Json) -> bool:
        """Whether its link still exists, given the current metadata of its run."""
        if self.role == "owner":
            return True
        if self.member:
            return member_in(meta, self.member) is not None
        return meta.get("invitation") == self.grant

    def may_see(self, run: str) -> bool:
        """Whether this role may read a run."""
        return self.role == "owner" or self.run == run


OWNER = Access("owner")


def new_token() -> str:
    """Return a random token of 192 bits."""
    return secrets.token_urlsafe(24)


def new_invitation(run: str) -> tuple[str, str]:
    """Return a token for the shared link of a run, and the digest to store."""
    secret = new_token()
    return f"{run}.{secret}", _digest(secret)


def member_token(owner_token: str, run: str, member: Member) -> str:
    """Return the token of a named link."""
    return f"{run}.{member.id}.{_member_secret(owner_token, run, member.id)}"


def resolve(token: str, owner_token: str, store: Store) -> Access | None:
    """Return the access that a token grants, or None."""
    if is_owner(token, owner_token):
        return Access("owner")
    run, _, rest = token.partition(".")
    member_id, dot, secret = rest.partition(".")
    access = invited(run, member_id if dot else "", store) if rest else None
    if access is None:
        return None
    if dot:
        expected = _member_secret(owner_token, run, member_id)
        return access if compare_digest(secret.encode(), expected.encode()) else None
    return access if compare_digest(_digest(rest), access.grant) else None


def is_owner(token: str, owner_token: str) -> bool:
    """Whether this is the owner's token."""
    return compare_digest(token.encode(), owner_token.encode())


def invited(run: str, member_id: str, store: Store) -> Access | None:
    """Return the access of a named link, or of the shared one; None if it does not exist."""
    if not RUN_ID.fullmatch(run):
        return None
    now = time.perf_counter()
    try:
        seen = Seen(now, store.snapshot(run))
    except InvalidInput:
        return None
    meta = {} if seen.snapshot is None else seen.snapshot.meta
    if member_id:
        member = member_in(meta, member_id)
        if member is None:
            return None
        return Access(member.role, run, member.name, member_id, f"member {member_id}", seen)
    kept = meta.get("invitation")
    return Access("rater", run, grant=kept, seen=seen) if isinstance(kept, str) else None


def _member_secret(owner_token: str, run: str, member_id: str) -> str:
    signed = digest(_link_key(owner_token), f"{run}\n{member_id}".encode(), "sha256")
    return urlsafe_b64encode(signed[:24]).decode()


@lru_cache(maxsize=8)
def _link_key(owner_token: str) -> bytes:
    return pbkdf2_hmac("sha256", owner_token.encode(), b"zorank named links", STRETCHED)


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
