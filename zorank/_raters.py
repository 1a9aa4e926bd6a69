"""The data of one person in a store: answers, times and invitation; export and removal.

A person's name stands in answered lines, in ballots and in their invitation. `forget_rater` edits
all of them in one transaction, undone answers included, so a log never names a person in part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeGuard

from zorank import _slate_log
from zorank._edited_looks import fitted_slates
from zorank.errors import InvalidInput, StaleAnswer, ZorankError, unknown_name
from zorank.protocols import Store, uses_looks
from zorank.run import Run
from zorank.stores import MemoryStore
from zorank.types import Answer, Audit, Ballot, Edit, Json, Poll, Ranking, Round, RunRecord, Values

MEMBER = "member:"
"""The prefix of the keys of `meta` that hold invitations; one key each, so that none is lost."""

ATTEMPTS = 20
"""How often an edit is tried again because another one came first."""


@dataclass(frozen=True)
class Member:
    """A person who was invited to a run by name."""

    id: str
    name: str
    role: Literal["rater", "viewer"]
    created_at: float

    def to_meta(self) -> dict[str, Any]:
        """Return the entry of `meta` that holds the invitation."""
        return {MEMBER + self.id: asdict(self)}


def members_of(meta: Json) -> list[Member]:
    """Return the people who were invited to a run by name, in the order of their invitations."""
    found = (member_in(meta, key.removeprefix(MEMBER)) for key in meta if key.startswith(MEMBER))
    return sorted((m for m in found if m is not None), key=lambda m: (m.created_at, m.id))


def member_in(meta: Json, member_id: str) -> Member | None:
    """Return the invitation of this id, or None."""
    kept = meta.get(MEMBER + member_id)
    return Member(**kept) if is_member(kept) else None


def is_member(kept: Any) -> TypeGuard[dict[str, Any]]:
    """Return whether an entry of `meta` holds an invitation, and is not damaged."""
    return (
        isinstance(kept, dict)
        and kept.keys() == {"id", "name", "role", "created_at"}
        and isinstance(kept["id"], str)
        and isinstance(kept["name"], str)
        and kept["role"] in ("rater", "viewer")
        and isinstance(kept["created_at"], int | float)
    )


@dataclass(frozen=True)
class Given:
    """An answer of one person.

    Attributes:
        index: the round.
        rater: who gave it.
        answer: their ranking.
        weight: of their ballot.
        shown_at: when the round was first shown.
        given_at: when they answered.
        undone_at: when it was undone; None if it stands.
    """

    index: int
    rater: str
    answer: Answer
    weight: float
    shown_at: float
    given_at: float
    undone_at: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "answer": self.answer.to_json()}


def given_answers(audit: Audit) -> list[Given]:
    """Return every answer of every person, in the order in which they were given.

    A ballot's time comes from the ballot as it was cast. A branch copies the log without it; there
    the time is that of the round's answer.
    """
    cast = {(c.index, c.ballot.rater, c.undone_at is None, c.cast_at): c for c in audit.ballots}
    found = []
    for line, undone_at in audit.rounds:
        for ballot in _ballots_in(line):
            key = (line.index, ballot.rater, undone_at is None)
            own = [k for k in cast if k[:3] == key and k[3] >= line.shown_at]
            at = cast.pop(min(own)).cast_at if own else line.answered_at or line.shown_at
            answer = line.answer if isinstance(line.answer, Values) else ballot.ranking
            given = (line.index, ballot.rater, answer, ballot.weight)
            found.append(Given(*given, line.shown_at, at, undone_at))
    for waiting in cast.values():  # of rounds that were not answered
        at, ballot = waiting.cast_at, waiting.ballot
        shown = [r.shown_at for r, _ in audit.rounds if r.index == waiting.index]
        shown_at = max((s for s in shown if s <= at), default=at)
        given = (waiting.index, ballot.rater, ballot.ranking, ballot.weight)
        found.append(Given(*given, shown_at, at, waiting.undone_at))
    return sorted(found, key=lambda one: one.given_at)


def export_rater(store: Store, run: str, rater: str) -> dict[str, Any]:
    """Return all data of one person in a run as plain JSON values.

    Raises:
        InvalidInput: if the run has no data of such a person.
    """
    given, members = given_answers(store.audit(run)), members_of(store.record(run).meta)
    _check_known(rater, given, members)
    return {
        "run": run,
        "rater": rater,
        "invitations": [asdict(member) for member in members if member.name == rater],
        "answers": [one.to_json() for one in given if one.rater == rater],
    }


@dataclass(frozen=True)
class Forgotten:
    """What `forget_rater` did.

    Attributes:
        pseudonym: the name that the person's answers have now; None if they were removed.
        answers: the number of answers that were renamed or removed.
        emptied: the rounds whose answer is "no difference" now.
    """

    pseudonym: str | None
    answers: int
    emptied: tuple[int, ...] = ()


def forget_rater(store: Store, run: str, rater: str, remove: bool = False) -> Forgotten:
    """Replace a person's name by a pseudonym in a run, or remove their answers.

    Their invitation is removed, so that their link stops working. A round that only they answered
    becomes "no difference" if their answers are removed: the log keeps its length, and the later
    slates are those that were shown. The states after a removed answer are other ones.

    Raises:
        InvalidInput: if the run has no data of such a person, or if the run needs the answers:
            it has not recorded its slates, or needs the values.
    """
    for _ in range(ATTEMPTS):
        meta, given = store.record(run).meta, given_answers(store.audit(run))
        _check_known(rater, given, members_of(meta))
        pseudonym = None if remove else _pseudonym(rater, given, meta)
        edit = _edit(rater, pseudonym)
        before = store.rounds(run)
        if remove:
            slates = _fitted_slates(store, run, before, edit)
            edit = replace(edit, slates=slates, end=before[-1] if before else None)
        try:
            store.rewrite(run, edit, meta.get("edits", 0))
        except StaleAnswer:
            continue
        own = sum(one.rater == rater for one in given)
        pairs = [(line, edit.line(line)) for line in before]
        emptied = tuple(a.index for a, b in pairs if a.answer != b.answer and b.rater is None)
        return Forgotten(pseudonym, own, emptied)
    raise StaleAnswer(f"run {run!r} is being edited by another program; try again")


def _ballots_in(line: Round) -> Iterator[Ballot]:
    """Yield the answers of a line by person; one without a name belongs to nobody."""
    if isinstance(line.answer, Poll):
        yield from line.answer.ballots
    elif line.answer is not None and line.rater:
        ranking = Ranking() if isinstance(line.answer, Values) else line.answer
        yield Ballot(line.rater, ranking)


def _check_known(rater: str, given: Iterable[Given], members: Iterable[Member]) -> None:
    known = dict.fromkeys([*(one.rater for one in given), *(m.name for m in members)])
    if rater not in known:
        raise unknown_name("rater", rater, known)


def _pseudonym(rater: str, given: Sequence[Given], meta: Json) -> str:
    """Return a name that nobody in the run has: "rater 3" for the third who answered."""
    raters = list(dict.fromkeys(one.rater for one in given))
    used = {*raters, *meta.get("forgotten", ()), *(m.name for m in members_of(meta))}
    number = raters.index(rater) + 1 if rater in raters else len(raters) + 1
    taken = {" ".join(name.casefold().split()) for name in used}
    while f"rater {number}" in taken:
        number += 1
    return f"rater {number}"


def _edit(rater: str, pseudonym: str | None) -> Edit:
    def ballot(one: Ballot) -> Ballot | None:
        if one.rater != rater:
            return one
        return None if pseudonym is None else replace(one, rater=pseudonym)

    def line(one: Round) -> Round:
        if isinstance(one.answer, Poll):
            left = tuple(b for b in map(ballot, one.answer.ballots) if b is not None)
            if left == one.answer.ballots:
                return one
            names = ", ".join(b.rater for b in left) or None
            return replace(one, answer=Poll(left) if left else Ranking(), rater=names)
        if one.rater != rater:
            return one
        if pseudonym is None:
            return replace(one, answer=Ranking.no_difference(), rater=None)
        return replace(one, rater=pseudonym)

    def meta(kept: Json) -> Json:
        dropped = {MEMBER + member.id for member in members_of(kept) if member.name == rater}
        names = [*kept.get("forgotten", ()), *([pseudonym] if pseudonym else [])]
        left = {key: value for key, value in kept.items() if key not in dropped}
        return {**left, "forgotten": names} if names else left

    return Edit(line, ballot, meta)


def _fitted_slates(store: Store, run: str, lines: Sequence[Round], edit: Edit) -> dict[str, Json]:
    """Return the slates that must change for the run to replay without the removed answers.

    Raises:
        InvalidInput: if the run does not replay without them.
    """
    edited = [edit.line(line) for line in lines]
    changed = [a.index for a, b in zip(lines, edited, strict=True) if a != b]
    if not changed:
        return {}
    advice = "replace the name instead, without removing the answers"
    if any(isinstance(lines[index].answer, Values) for index in changed):
        raise InvalidInput(f"run {run!r} needs the values that this person gave; {advice}")
    later = lines[changed[0] + 1 :]
    if not all(_slate_log.has_design(line.slate) for line in later):
        raise InvalidInput(
            f"run {run!r} has not recorded its slates, so those after round {changed[0]} would no "
            f"longer be the ones that were shown; {advice}"
        )
    record = store.record(run)
    try:
        after = _opened(record, edited)
        if not uses_looks(after.optimizer):
            return {}
        slates = fitted_slates(_opened(record, lines), after)
        if slates:
            _opened(record, [replace(x, slate=slates.get(x.key, x.slate)) for x in edited])
    except ZorankError as error:
        raise InvalidInput(
            f"run {run!r} cannot be replayed without these answers: {error}; {advice}"
        ) from error
    return slates


def _opened(record: RunRecord, lines: Sequence[Round]) -> Run:
    """Open a copy of a run with this log."""
    copy = MemoryStore()
    copy.create(record, lines)
    return Run.open(copy, record.name)
