"""The answers that a judge can give to a slate. Frozen; they validate themselves.

A `Ranking` is a stack of levels, best first: the named groups, then everything that was not
named, then the groups named worst. Two candidates on one level tie. This covers "the best k of m
in order", ties, best-and-worst, a single pair and "no difference". The comparison graph of the
paper (section 2.2) has an edge from every candidate to every candidate on a lower level.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from zorank._arrays import as_vector, is_real, is_whole
from zorank._orders import (
    Group,
    check_distinct,
    check_slate_size,
    groups_by_value,
    read_groups,
    read_items,
)
from zorank.errors import InvalidInput, short

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Order: TypeAlias = Sequence[int | Sequence[int]]
"""A ranking as a plain list, best first; an inner list is a tie."""


@dataclass(frozen=True)
class Ranking:
    """An order of some of a slate's positions, best first; usually made with `Ranking.of`.

    Attributes:
        best: the named groups, best first; positions in one group tie.
        worst: groups below everything that is not named, best first, so the last is the worst.
        among: the positions that were compared; None means the whole slate.
    """

    best: tuple[Group, ...] = ()
    worst: tuple[Group, ...] = ()
    among: Group | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "best", read_groups(self.best))
        object.__setattr__(self, "worst", read_groups(self.worst))
        named = self.named
        check_distinct(named)
        if self.among is not None:
            compared = read_groups(self.among)
            among = tuple(group[0] for group in compared)
            if any(len(group) > 1 for group in compared):
                raise InvalidInput(
                    f"`among` must be a list of positions without ties, found {short(self.among)}"
                )
            if not among:
                raise InvalidInput(
                    "a ranking must compare at least one position, found an empty `among`"
                )
            check_distinct(among)
            outside = sorted(set(named) - set(among))
            if outside:
                raise InvalidInput(
                    f"position {outside[0]} is ranked but is not among the positions shown, "
                    f"{short(list(among))}"
                )
            object.__setattr__(self, "among", among)

    @classmethod
    def of(
        cls, order: Iterable[int | Iterable[int]], worst: Iterable[int | Iterable[int]] = ()
    ) -> Ranking:
        """Return a ranking, best first: in `of([2, [0, 5]])` 2 is best, and 0 and 5 tie."""
        return cls(read_groups(order), read_groups(worst))

    @classmethod
    def from_values(cls, values: ArrayLike, top: int | None = None) -> Ranking:
        """Rank values, smaller is better, and name only the best `top`.

        Equal values tie. A tie at the cut is named as a whole, so that the ranking does not
        depend on the order of the candidates.
        """
        return ranking_by_value(as_vector(values, "values").tolist(), top)

    @classmethod
    def pair(cls, winner: int, loser: int) -> Ranking:
        """Return a single comparison; the other positions are not compared."""
        return cls(((winner,), (loser,)), among=(winner, loser))

    @classmethod
    def best_worst(cls, best: int, worst: int) -> Ranking:
        """Return a ranking with one position best, one worst, and the others tied in between."""
        return cls(((best,),), ((worst,),))

    @classmethod
    def no_difference(cls) -> Ranking:
        """Return the answer of a judge who sees no difference: a graph without edges."""
        return cls()

    @property
    def named(self) -> Group:
        """All named positions, best first."""
        return tuple(chain.from_iterable(chain(self.best, self.worst)))

    def check(self, m: int) -> None:
        """Raise unless this ranking fits a slate of m candidates."""
        check_slate_size(m)
        positions = self.named if self.among is None else self.among
        if max(positions, default=0) >= m:
            position = next(p for p in positions if p >= m)
            raise InvalidInput(
                f"position {short(position)} is not on a slate of {m}; "
                f"positions run from 0 to {m - 1}"
            )

    def completed(self, m: int) -> Ranking:
        """Return an equal ranking that names all m positions, if only the last one is missing.

        The missing position already has a level of its own, so the comparisons are the same.
        """
        check_slate_size(m)
        rest = set(range(m)) - set(self.named)
        if len(rest) != 1 or not self.best or self.worst or self.among is not None:
            return self
        return replace(self, best=(*self.best, tuple(rest)))

    def levels(self, m: int) -> NDArray[np.int64]:
        """Return the level of each of m positions: 0 is best, -1 was not compared."""
        self.check(m)
        unnamed = len(self.best)
        levels = [unnamed if self.among is None else -1] * m
        for position in self.among or ():
            levels[position] = unnamed
        for level, group in enumerate((*self.best, (), *self.worst)):
            for position in group:
                levels[position] = level
        return np.array(levels, dtype=np.int64)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; `answer_from_json` reads them."""
        data: dict[str, Any] = {"order": [list(g) for g in self.best]}
        if self.worst:
            data["worst"] = [list(g) for g in self.worst]
        if self.among is not None:
            data["among"] = list(self.among)
        return data


def ranking_by_value(values: Sequence[float], top: int | None = None) -> Ranking:
    """Rank as `Ranking.from_values` does; the values are known to be finite floats.

    The groups are valid by construction, so the ranking does not check them.
    """
    depth = len(values) if top is None else _depth(top, len(values))
    ranking = object.__new__(Ranking)
    ranking.__dict__.update(best=groups_by_value(values, depth), worst=(), among=None)
    return ranking


MAX_WEIGHT = 1e6
"""The largest weight of a ballot."""


@dataclass(frozen=True)
class Ballot:
    """One rater's ranking and its weight."""

    rater: str
    ranking: Ranking
    weight: float = 1.0

    def __post_init__(self) -> None:
        ranking: Any = self.ranking
        if not isinstance(ranking, Ranking):
            object.__setattr__(self, "ranking", Ranking.of(ranking))
        rater: Any = self.rater
        if not isinstance(rater, str):
            raise InvalidInput(f"the rater of a ballot must be a text, found {short(rater)}")
        weight: Any = self.weight
        if not is_real(weight) or not 0 <= weight <= MAX_WEIGHT:
            raise InvalidInput(
                f"the weight of rater {short(rater)} must be from 0 to {MAX_WEIGHT:g}, "
                f"found {short(weight)}"
            )
        if not isinstance(weight, (int, float)):  # such as a number of NumPy
            object.__setattr__(self, "weight", float(weight))


@dataclass(frozen=True)
class Poll:
    """Several raters' rankings of one slate: the weighted sum of their comparison graphs."""

    ballots: tuple[Ballot, ...]

    def __post_init__(self) -> None:
        given: Any = self.ballots
        ballots = read_items(given, "a poll") if isinstance(given, Iterable) else ()
        if not ballots or not all(isinstance(b, Ballot) for b in ballots):
            raise InvalidInput(f"a poll must be a list of ballots, found {short(self.ballots)}")
        object.__setattr__(self, "ballots", ballots)

    def check(self, m: int) -> None:
        """Raise unless every ballot fits a slate of m candidates."""
        for ballot in self.ballots:
            ballot.ranking.check(m)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; `answer_from_json` reads them."""
        return {
            "ballots": [
                {"rater": b.rater, "weight": b.weight, "ranking": b.ranking.to_json()}
                for b in self.ballots
            ]
        }


@dataclass(frozen=True)
class Values:
    """The candidates' values, smaller is better, for baselines that need more than an order."""

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(as_vector(self.values, "values").tolist()))

    def check(self, m: int) -> None:
        """Raise unless there is one value for each of m candidates."""
        check_slate_size(m)
        if len(self.values) != m:
            raise InvalidInput(f"a slate of {m} needs {m} values, found {len(self.values)}")

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; `answer_from_json` reads them."""
        return {"values": list(self.values)}


Answer: TypeAlias = Ranking | Poll | Values


def as_ranking(answer: Ranking | Values) -> Ranking:
    """Return an answer as a ranking; equal values tie."""
    return Ranking.from_values(answer.values) if isinstance(answer, Values) else answer


def ballots_of(answer: Answer) -> tuple[Ballot, ...]:
    """Return the ballots of a poll; any other answer is one ballot without a rater's name."""
    return answer.ballots if isinstance(answer, Poll) else (Ballot("", as_ranking(answer)),)


def answer_from_json(data: Mapping[str, Any]) -> Answer:
    """Return the answer that `to_json` wrote."""
    try:
        if "values" in data:
            return Values(tuple(data["values"]))
        if "ballots" in data:
            return Poll(
                tuple(
                    Ballot(b["rater"], ranking_from_json(b["ranking"]), b["weight"])
                    for b in data["ballots"]
                )
            )
        return ranking_from_json(data)
    except (LookupError, TypeError) as error:
        raise InvalidInput(
            f"expected an answer as to_json writes it, found {short(data)}"
        ) from error


def ranking_from_json(data: Mapping[str, Any]) -> Ranking:
    """Return the ranking that `to_json` wrote."""
    if not isinstance(data, Mapping) or "order" not in data:
        raise InvalidInput(f"expected a ranking as to_json writes it, found {short(data)}")
    return Ranking(data["order"], data.get("worst", ()), data.get("among"))


def _depth(top: Any, m: int) -> int:
    if type(top) is int and 1 <= top <= m:  # the usual case
        return top
    if not is_whole(top) or not 1 <= int(top) <= m:
        raise InvalidInput(f"the best k of {m} needs k from 1 to {m}, found {short(top)}")
    return int(top)
