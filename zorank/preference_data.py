"""The answers of a run as data: one row for each candidate, or for each preference between two.

A log has one line for each round, and a poll has several ballots in one line. Here every rater's
answer is a `Judgement`. Its rows say at which place each candidate is, its pairs which candidate
was preferred to which: the edges of the comparison graph (`zorank.estimators`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank._records import check_flags
from zorank.answers import as_ranking
from zorank.errors import required_by
from zorank.slates import Slate
from zorank.types import Audit, Matrix, Poll, Ranking, Round, Values, Vector

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["COLUMNS", "Judgement", "Pair", "candidate_id", "judgements", "pairs", "rows"]

COLUMNS: Mapping[str, tuple[type, str]] = {
    "round": (int, "the round, from 0"),
    "question": (str, "what was asked: rank, best, start, compare or values"),
    "rater": (str, "who answered; empty if nobody was named"),
    "position": (int, "the candidate's position on the slate, from 0"),
    "candidate": (str, "an identifier: equal coordinates have equal identifiers"),
    "place": (int, "1 is best, and candidates that tie share a place; empty if not compared"),
    "tie_group": (int, "candidates of one group tie, 0 is the best group; empty if not compared"),
    "named": (bool, "whether the rater named it; others are only known to be worse or better"),
    "compared": (bool, "whether it was among the candidates that the rater compared"),
    "shown": (int, "how many candidates the slate has"),
    "value": (float, "its value, smaller is better, if the answer was values"),
    "weight": (float, "the weight of the rater's ballot"),
    "shown_at": (float, "when the round was first shown, in seconds since 1970"),
    "answered_at": (float, "when the rater answered, in seconds since 1970"),
    "seconds": (float, "the time between the two"),
}
"""The columns of a table of rows: type and meaning of each. `x`, the coordinates, follow."""


@dataclass(frozen=True)
class Pair:
    """A preference between two candidates of one round.

    Attributes:
        round: the index of the round.
        rater: who answered; None if nobody was named.
        winner: the position of the preferred candidate on the slate.
        loser: the position of the other one.
        shown_at: when the round was first shown, in seconds since 1970.
        answered_at: when the rater answered.
        weight: the weight of the rater's ballot.
        tie: whether the rater put both on one level; then neither won.
    """

    round: int
    rater: str | None
    winner: int
    loser: int
    shown_at: float
    answered_at: float | None = None
    weight: float = 1.0
    tie: bool = False


@dataclass(frozen=True, eq=False)
class Judgement:
    """One rater's answer to one slate; the other attributes are those of `Pair`.

    Attributes:
        answer: the rater's own; never a poll.
        slate: what was shown.
    """

    round: int
    rater: str | None
    answer: Ranking | Values
    weight: float
    shown_at: float
    answered_at: float | None
    slate: Slate

    @property
    def seconds(self) -> float | None:
        """The time from showing the round to the answer."""
        return None if self.answered_at is None else self.answered_at - self.shown_at

    def pairs(self, ties: bool = False) -> Iterator[Pair]:
        """Yield every strict preference, those of the best candidate first, and ties if wanted.

        Candidates that the rater did not name are on one level, too. They count as a tie only in
        an answer that names none, which says "no difference".
        """
        ranking = as_ranking(self.answer)
        levels, named = ranking.levels(len(self.slate)).tolist(), set(ranking.named)
        compared = sorted(
            (p for p, level in enumerate(levels) if level >= 0), key=levels.__getitem__
        )
        more = (self.shown_at, self.answered_at, self.weight)
        for winner, loser in combinations(compared, 2):
            tie = levels[winner] == levels[loser]
            if not tie or (ties and (not named or named >= {winner, loser})):
                yield Pair(self.round, self.rater, winner, loser, *more, tie)


def judgements(lines: Iterable[tuple[Round, Slate, Any]], audit: Audit) -> Iterator[Judgement]:
    """Yield every rater's answer, round by round.

    Args:
        lines: answered lines with their slates, as `Run.replay` yields them.
        audit: when each ballot was cast. A branch has no ballots; there the time is that of the
            round's answer.
    """
    cast = {(c.index, c.ballot.rater): c.cast_at for c in audit.ballots if c.undone_at is None}
    for line, slate, _ in lines:
        answer, at = line.answer, line.answered_at
        if isinstance(answer, Poll):
            for one in answer.ballots:
                own = cast.get((line.index, one.rater), at)
                given = (line.index, one.rater, one.ranking, one.weight)
                yield Judgement(*given, line.shown_at, own, slate)
        elif answer is not None:
            yield Judgement(line.index, line.rater, answer, 1.0, line.shown_at, at, slate)


def pairs(answers: Iterable[Judgement], ties: bool = False) -> list[Pair]:
    """Return every preference in these answers."""
    check_flags(ties=ties)
    return [pair for answer in answers for pair in answer.pairs(ties)]


def rows(answers: Iterable[Judgement]) -> Iterator[dict[str, Any]]:
    """Yield a row for every answer and candidate: `COLUMNS`, and `x`, its coordinates."""
    for answer, candidates in with_candidates(answers):
        m = len(candidates)
        ranking = as_ranking(answer.answer)
        levels, named = ranking.levels(m), set(ranking.named)
        sizes = np.bincount(levels[levels >= 0])
        places = (1 + np.cumsum(sizes) - sizes).tolist()
        values = answer.answer.values if isinstance(answer.answer, Values) else [None] * m
        for position, level in enumerate(levels.tolist()):
            yield {
                "round": answer.round,
                "question": answer.slate.question,
                "rater": answer.rater,
                "position": position,
                "candidate": candidate_id(candidates[position]),
                "place": places[level] if level >= 0 else None,
                "tie_group": level if level >= 0 else None,
                "named": position in named,
                "compared": level >= 0,
                "shown": m,
                "value": values[position],
                "weight": float(answer.weight),
                "shown_at": answer.shown_at,
                "answered_at": answer.answered_at,
                "seconds": answer.seconds,
                "x": candidates[position],
            }


def with_candidates(answers: Iterable[Judgement]) -> Iterator[tuple[Judgement, Matrix]]:
    """Yield every answer with the candidates of its slate, (m, d), computed once a round."""
    slate, candidates = None, np.empty((0, 0))
    for answer in answers:
        if answer.slate is not slate:
            slate, candidates = answer.slate, np.asarray(answer.slate, dtype=np.float64)
        yield answer, candidates


def candidate_id(candidate: Vector) -> str:
    """Return 16 hexadecimal digits that depend on the coordinates alone."""
    numbers = np.asarray(candidate, dtype="<f8") + 0.0  # −0 is 0
    return hashlib.sha256(numbers.tobytes()).hexdigest()[:16]


def to_frame(answers: Iterable[Judgement]) -> DataFrame:
    """Return the rows as a pandas DataFrame; `x` has an array in each row."""
    with required_by("a DataFrame", "pandas", "export"):
        import pandas

    frame = pandas.DataFrame(list(rows(answers)), columns=[*COLUMNS, "x"])
    return frame.astype({"place": "Int64", "tie_group": "Int64", "value": float})
