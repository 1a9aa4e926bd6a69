"""The people of a run: invites them by name, lists their answers, and forgets them.

An invitation is an entry of the run's metadata; there is one key for each, so people can be
invited in several processes at once. Its link is made from the owner's token and the invitation's
id (access.py). An invitation that is removed never comes back: the same name gets a new id.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any, Literal

from zorank._raters import (
    MEMBER,
    Forgotten,
    Given,
    Member,
    export_rater,
    forget_rater,
    given_answers,
    members_of,
)
from zorank.errors import InvalidInput
from zorank.protocols import Store
from zorank.studio.access import new_invitation
from zorank.studio.models.people import PersonInfo
from zorank.studio.names import OWNER_NAME, check_name, name_key
from zorank.studio.sessions import NotFound, Session
from zorank.types import Json


class People:
    """Invites, lists and forgets people.

    Args:
        store: where the runs are.
        meta: returns the current metadata of a run; raises `NotFound` if there is none.
        changed: called with the id of a run whose people have changed.
    """

    def __init__(
        self, store: Store, meta: Callable[[str], Json], changed: Callable[[str], None]
    ) -> None:
        self._store = store
        self._meta = meta
        self._changed = changed

    def share(self, run: str) -> str:
        """Return a new token for the link that raters share; earlier ones stop working."""
        self._meta(run)
        token, digest = new_invitation(run)
        self._store.change_meta(run, {"invitation": digest})
        self._changed(run)
        return token

    def unshare(self, run: str) -> None:
        """Invalidate the link that raters share."""
        self._meta(run)
        self._store.change_meta(run, {}, dropped=["invitation"])
        self._changed(run)

    def invite(self, run: str, name: str, role: Literal["rater", "viewer"]) -> Member:
        """Invite a person by name; the links of others stay as they are."""
        given = {one.rater for one in given_answers(self._store.audit(run))} - {OWNER_NAME}
        check_name(name, [*taken_names(self._meta(run)), *given])
        member = Member(secrets.token_hex(6), name, role, time.time())
        self._store.change_meta(run, member.to_meta())
        others = [m for m in members_of(self._meta(run)) if m.id != member.id]
        if any(name_key(m.name) == name_key(name) for m in others):  # in another process, just now
            self._store.change_meta(run, {}, dropped=[MEMBER + member.id])
            raise InvalidInput(
                f"{name!r} was invited twice at the same moment; look at the list, and try again"
            )
        self._changed(run)
        return member

    def revoke(self, run: str, which: str) -> None:
        """Remove the invitation of this id or name; its link stops working at once."""
        key = name_key(which)
        for member in members_of(self._meta(run)):
            if which == member.id or key == name_key(member.name):
                self._store.change_meta(run, {}, dropped=[MEMBER + member.id])
                self._changed(run)
                return
        raise NotFound(f"nobody named {which!r} is invited to this run")

    def export(self, run: str, name: str) -> dict[str, Any]:
        """Return all data of one person."""
        self._meta(run)
        return export_rater(self._store, run, name)

    def forget(self, run: str, name: str, remove: bool) -> Forgotten:
        """Replace a person's name by a pseudonym, or remove their answers; end their link."""
        self._meta(run)
        done = forget_rater(self._store, run, name, remove)
        self._changed(run)
        return done

    def everyone(self, session: Session, link: Callable[[Member], str]) -> list[PersonInfo]:
        """Describe who is invited, and who else has answered."""
        given = [g for g in given_answers(self._store.audit(session.run.name)) if not g.undone_at]
        members = {member.name: member for member in members_of(session.meta)}
        names = dict.fromkeys([*members, *(one.rater for one in given)])
        return [
            _described(
                session, name, members.get(name), [g for g in given if g.rater == name], link
            )
            for name in names
        ]


def check_rater(name: str, invited: str | None, is_owner: bool, session: Session) -> None:
    """Raise unless an answer may be stored under this name.

    Args:
        name: who answers.
        invited: the name in the answer's link, if it has one.
        is_owner: whether the owner sent it, perhaps for somebody else: then it may have the name
            of an invited person.
        session: the run.
    """
    if name == invited or (is_owner and name == OWNER_NAME):
        return
    taken = taken_names(session.meta)
    same = {name} if is_owner else set()
    # Who has answered this round before may be the same person, who then gets a clear refusal.
    others = [ballot.rater for ballot in session.ballots if ballot.rater != name]
    check_name(name, [other for other in (*taken, *others) if other not in same])


def taken_names(meta: Json) -> list[str]:
    """Return the names that nobody else may use in a run: invited ones and pseudonyms."""
    return [*(member.name for member in members_of(meta)), *meta.get("forgotten", ())]


def _described(
    session: Session,
    name: str,
    member: Member | None,
    given: Sequence[Given],
    link: Callable[[Member], str],
) -> PersonInfo:
    known = session.rater_agreements().get(name)
    unnamed: Literal["owner", "guest"] = "owner" if name == OWNER_NAME else "guest"
    return PersonInfo(
        name=name,
        role=unnamed if member is None else member.role,
        id=None if member is None else member.id,
        url=None if member is None else link(member),
        created_at=None if member is None else member.created_at,
        answers=len(given),
        last_answer_at=max((one.given_at for one in given), default=None),
        has_answered=any(ballot.rater == name for ballot in session.ballots),
        seconds=median(g.given_at - g.shown_at for g in given) if given else None,
        agreement=None if known is None else known.share,
    )
