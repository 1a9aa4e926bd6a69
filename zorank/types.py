"""Exhibits, the lines of a run's log, and the names of all basic types.

A log consists of one `RunRecord` and any number of `Round`s. Both are frozen, as is everything
here. Answers are defined in `zorank.answers` and array types in `zorank._arrays`; import both from
here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from zorank import _mimebundle
from zorank._arrays import Array32, Matrix, Vector, Vector32, Vectors, as_start, as_vector
from zorank._orders import Group
from zorank.answers import (
    Answer,
    Ballot,
    Order,
    Poll,
    Ranking,
    Values,
    answer_from_json,
    ranking_from_json,
)

__all__ = [
    "Answer",
    "Array32",
    "Audit",
    "Ballot",
    "CastBallot",
    "Edit",
    "Exhibit",
    "Group",
    "Json",
    "Matrix",
    "Order",
    "Poll",
    "Ranking",
    "Round",
    "RunRecord",
    "Snapshot",
    "Values",
    "Vector",
    "Vector32",
    "Vectors",
    "answer_from_json",
    "as_start",
    "as_vector",
    "ranking_from_json",
]

Json: TypeAlias = Mapping[str, Any]
"""A JSON object."""


@dataclass(frozen=True)
class Exhibit:
    """A candidate as a judge sees or hears it: a picture, a clip, a sound, a text.

    Attributes:
        media_type: such as "image/png".
        data: the content of the file.
    """

    media_type: str
    data: bytes

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return _mimebundle.of_exhibit(self)


@dataclass(frozen=True)
class Round:
    """A line of a run's log: one slate and its answer.

    `key` and `slate` are not compared by ==.

    Attributes:
        index: the round's number, from 0.
        answer: None while the round waits for its answer.
        rater: who answered.
        shown_at: when the slate was first shown, in seconds since 1970.
        answered_at: when it was answered.
        note: additional data such as a true value; the optimizer never sees it.
        key: a unique identifier, new whenever the round is shown again after an undo.
        slate: the slate in the JSON form of `zorank._slate_log`; None if it was not recorded.
            A replay then asks the optimizer again, which gives the same slate bit for bit.
    """

    index: int
    shown_at: float
    answer: Answer | None = None
    rater: str | None = None
    answered_at: float | None = None
    note: Json = field(default_factory=dict)
    key: str = field(default="", compare=False)
    slate: Json | None = field(default=None, compare=False, repr=False)

    def answered(self, answer: Answer, rater: str | None, at: float, note: Json) -> Round:
        """Return this line with an answer."""
        return Round(self.index, self.shown_at, answer, rater, at, note, self.key, self.slate)


@dataclass(frozen=True)
class Snapshot:
    """A run's metadata, the end of its log, and the ballots for its waiting round, read at once.

    Keys are unique and answered lines keep theirs. So a log with the same end and the same number
    of edits is unchanged as a whole.

    Attributes:
        meta: the run's metadata.
        index: the index of the log's last line; -1 if the log is empty.
        key: the key of the last line.
        waits: whether the last line waits for its answer.
        ballots: the ballots for the waiting round, in the order in which they were cast.
    """

    meta: Json
    index: int = -1
    key: str = ""
    waits: bool = False
    ballots: tuple[Ballot, ...] = ()

    @property
    def edits(self) -> int:
        """How often the log was edited, for example to forget a rater."""
        return int(self.meta.get("edits", 0))

    def ends_with(self, line: Round | None) -> bool:
        """Whether the last line of the log is this one; None stands for an empty log."""
        if line is None:
            return self.index == -1
        found = (line.index, line.key, line.answer is None)
        return found == (self.index, self.key, self.waits)


@dataclass(frozen=True)
class CastBallot:
    """A ballot for round `index`, when it was cast, and when it was undone, if it was."""

    index: int
    ballot: Ballot
    cast_at: float
    undone_at: float | None = None


@dataclass(frozen=True)
class Audit:
    """All lines and ballots that a store has of a run, undone ones included.

    Attributes:
        rounds: the lines without their slates, and when each was undone; None if it was not.
        ballots: in the order in which they were cast.
    """

    rounds: tuple[tuple[Round, float | None], ...]
    ballots: tuple[CastBallot, ...]


@dataclass(frozen=True)
class Edit:
    """Pure functions that change the raters' names and answers in a run's log.

    Attributes:
        line: returns a line with another answer, rater or note; the rest must stay as it is.
        ballot: returns a ballot with another rater, or None to remove it.
        meta: returns the run's metadata.
        slates: new records of slates, by the keys of their lines.
        end: the last line of the log that `slates` was made for; None if it fits any log.
    """

    line: Callable[[Round], Round]
    ballot: Callable[[Ballot], Ballot | None]
    meta: Callable[[Json], Json] = lambda meta: meta
    slates: Mapping[str, Json] = field(default_factory=dict)
    end: Round | None = None

    def fits(self, key: str, waits: bool) -> bool:
        """Return whether a log whose last line has this key is the one of the edit."""
        return self.end is None or (self.end.key, self.end.answer is None) == (key, waits)


@dataclass(frozen=True, eq=False)
class RunRecord:
    """The configuration of a run: with the log, everything that its results depend on.

    Attributes:
        name: unique in a store.
        optimizer: the optimizer's name in the registry.
        options: the optimizer's settings.
        revision: the optimizer's revision when the run was created.
        x0: the start; made read-only.
        seed: the seed of all random draws.
        version: the version of zorank that created the run.
        created_at: in seconds since 1970.
        meta: data of the application, such as a title; it has no influence on results.
        problem: why the stored run cannot be read; only in a list of runs, else empty.
    """

    name: str
    optimizer: str
    options: Mapping[str, Any]
    revision: int
    x0: Vector
    seed: int
    version: str
    created_at: float
    meta: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""

    def __post_init__(self) -> None:
        self.x0.setflags(write=False)
