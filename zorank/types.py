"""The answers a judge can give, and the lines of a run's log. Frozen; they validate themselves.

A `Ranking` is a stack of levels, best first: the named groups, then everything that was not
named, then the groups named worst. Two candidates on one level tie. That single picture covers
"the best k of m in order", ties, best-and-worst, a pair and "no difference"; the comparison graph
of the paper (section 2.2) has an edge from every candidate to every one on a lower level.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from zorank.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Vector: TypeAlias = "NDArray[np.float64]"
Group: TypeAlias = tuple[int, ...]
Order: TypeAlias = Sequence[int | Sequence[int]]
"""A ranking as a plain list, best first; an inner list is a tie."""


TAKEN_OVER = 1 << 22
"""A start of more numbers is not copied but frozen: a second copy may not fit."""


def as_start(x0: ArrayLike, keep_float32: bool) -> Vector:
    """A start as `as_vector` makes it, frozen; float32 may stay, a large array is taken over."""
    kind: Any = np.float64
    if keep_float32 and getattr(x0, "dtype", None) == np.float32:
        kind = np.float32
    if not (isinstance(x0, np.ndarray) and x0.size > TAKEN_OVER and _is_whole(x0, kind)):
        x0 = as_vector(x0, "x0").astype(kind, copy=False)
    x0.setflags(write=False)
    return x0


def _is_whole(x: NDArray[Any], kind: Any) -> bool:
    """Whether it is a finite vector of this kind that owns its numbers."""
    parts = range(0, x.size, TAKEN_OVER)
    return (
        type(x) is np.ndarray
        and x.ndim == 1
        and x.base is None
        and x.dtype == kind
        and all(bool(np.isfinite(x[i : i + TAKEN_OVER]).all()) for i in parts)
    )


def as_vector(x: ArrayLike, name: str) -> Vector:
    """A one-dimensional, finite float64 copy of x, or an error that names what is wrong."""
    try:
        numbers = np.asarray(x)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} must be a sequence of numbers, found {_short(x)}") from error
    if numbers.dtype.kind not in "biuf":
        raise InvalidInput(f"{name} must be a sequence of real numbers, found {_short(x)}")
    vector = np.array(numbers, dtype=np.float64)
    if vector.ndim != 1 or vector.size == 0:
        raise InvalidInput(
            f"{name} must be a vector with at least one number, found shape {vector.shape}"
        )
    finite = np.isfinite(vector)
    if not finite.all():
        i = int(np.argmin(finite))
        raise InvalidInput(f"{name} must be finite, found {vector[i]} at position {i}")
    return vector


@dataclass(frozen=True)
class Ranking:
    """An order of some of a slate's positions, best first; see `of` for the usual way to make one.

    Attributes:
        best: the named groups, best first; positions in one group tie.
        worst: groups below everything that is not named, best first, so the last is the worst.
        among: the positions this answer speaks of; None means the whole slate.
    """

    best: tuple[Group, ...] = ()
    worst: tuple[Group, ...] = ()
    among: Group | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "best", _groups(self.best))
        object.__setattr__(self, "worst", _groups(self.worst))
        named = self.named
        _no_repeats(named)
        if self.among is not None:
            among = tuple(p for (p,) in _groups(self.among))
            if not among:
                raise InvalidInput("an answer speaks of at least one position, found none")
            _no_repeats(among)
            outside = sorted(set(named) - set(among))
            if outside:
                raise InvalidInput(
                    f"position {outside[0]} is ranked but is not among the positions shown, "
                    f"{list(among)}"
                )
            object.__setattr__(self, "among", among)

    @classmethod
    def of(
        cls, order: Iterable[int | Iterable[int]], worst: Iterable[int | Iterable[int]] = ()
    ) -> Ranking:
        """Best first; an inner list is a tie: `of([2, [0, 5]])` is "2, then 0 and 5 alike"."""
        return cls(_groups(order), _groups(worst))

    @classmethod
    def from_values(cls, values: ArrayLike, top: int | None = None) -> Ranking:
        """The ranking of these values, smaller is better, cut after the best `top`.

        Equal values tie. A tie across the cut is named whole, so that the answer does not depend
        on the order in which the candidates were listed.
        """
        v = as_vector(values, "values")
        depth = v.size if top is None else _depth(top, v.size)
        order = np.argsort(v, kind="stable")
        groups: list[list[int]] = []
        for rank, position in enumerate(order.tolist()):
            if rank and v[position] == v[order[rank - 1]]:
                groups[-1].append(position)
            elif rank < depth:
                groups.append([position])
            else:
                break
        return cls(tuple(tuple(g) for g in groups))

    @classmethod
    def pair(cls, winner: int, loser: int) -> Ranking:
        """A single comparison: nothing is said of the rest of the slate."""
        return cls(((winner,), (loser,)), among=(winner, loser))

    @classmethod
    def best_worst(cls, best: int, worst: int) -> Ranking:
        """One is best, one is worst, the rest lie between them."""
        return cls(((best,),), ((worst,),))

    @classmethod
    def no_difference(cls) -> Ranking:
        """The judge sees no difference: a graph without edges."""
        return cls()

    @property
    def named(self) -> Group:
        """Every position named, best first."""
        return tuple(p for group in (*self.best, *self.worst) for p in group)

    def check(self, m: int) -> None:
        """Raise unless this ranking fits a slate of m candidates."""
        if m < 1:
            raise InvalidInput("an empty slate cannot be ranked; show at least one candidate")
        for position in self.among if self.among is not None else self.named:
            if position >= m:
                raise InvalidInput(
                    f"position {position} is not on a slate of {m}; "
                    f"positions run from 0 to {m - 1}"
                )

    def completed(self, m: int) -> Ranking:
        """The same ranking with every position named, if only the last of m is missing.

        The one that is left has a level of its own already, so both rankings say the same.
        """
        rest = set(range(m)) - set(self.named)
        if len(rest) != 1 or not self.best or self.worst or self.among is not None:
            return self
        return replace(self, best=(*self.best, tuple(rest)))

    def levels(self, m: int) -> NDArray[np.int64]:
        """The level of each of m positions, 0 the best; -1 for those it does not speak of."""
        self.check(m)
        levels = np.full(m, len(self.best), dtype=np.int64)
        if self.among is not None:
            levels[:] = -1
            levels[list(self.among)] = len(self.best)
        for level, group in enumerate(self.best):
            levels[list(group)] = level
        for level, group in enumerate(self.worst, start=len(self.best) + 1):
            levels[list(group)] = level
        return levels

    def to_json(self) -> dict[str, Any]:
        """What `answer_from_json` reads back."""
        data: dict[str, Any] = {"order": [list(g) for g in self.best]}
        if self.worst:
            data["worst"] = [list(g) for g in self.worst]
        if self.among is not None:
            data["among"] = list(self.among)
        return data


HEAVIEST_BALLOT = 1e6


@dataclass(frozen=True)
class Ballot:
    """One rater's ranking and what it counts."""

    rater: str
    ranking: Ranking
    weight: float = 1.0

    def __post_init__(self) -> None:
        ranking: Any = self.ranking
        if not isinstance(ranking, Ranking):
            object.__setattr__(self, "ranking", Ranking.of(ranking))
        is_number = isinstance(self.weight, (int, float)) and not isinstance(self.weight, bool)
        if not (is_number and 0 <= self.weight <= HEAVIEST_BALLOT):
            raise InvalidInput(
                f"the weight of rater {self.rater!r} must be from 0 to {HEAVIEST_BALLOT:g}, "
                f"found {self.weight!r}"
            )


@dataclass(frozen=True)
class Poll:
    """Several raters' rankings of one slate: their comparison graphs, weighted and added up."""

    ballots: tuple[Ballot, ...]

    def __post_init__(self) -> None:
        ballots = () if isinstance(self.ballots, Ballot) else tuple(self.ballots)
        if not ballots or not all(isinstance(b, Ballot) for b in ballots):
            raise InvalidInput(f"a poll is a list of ballots, found {_short(self.ballots)}")
        object.__setattr__(self, "ballots", ballots)

    def check(self, m: int) -> None:
        """Raise unless every ballot fits a slate of m candidates."""
        for ballot in self.ballots:
            ballot.ranking.check(m)

    def to_json(self) -> dict[str, Any]:
        """What `answer_from_json` reads back."""
        return {
            "ballots": [
                {"rater": b.rater, "weight": b.weight, "ranking": b.ranking.to_json()}
                for b in self.ballots
            ]
        }


@dataclass(frozen=True)
class Values:
    """The candidates' values, smaller is better: for baselines that need more than an order."""

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(as_vector(self.values, "values").tolist()))

    def check(self, m: int) -> None:
        """Raise unless there is one value for each of m candidates."""
        if len(self.values) != m:
            raise InvalidInput(f"a slate of {m} needs {m} values, found {len(self.values)}")

    def to_json(self) -> dict[str, Any]:
        """What `answer_from_json` reads back."""
        return {"values": list(self.values)}


Answer: TypeAlias = Ranking | Poll | Values


def answer_from_json(data: Mapping[str, Any]) -> Answer:
    """The answer that `to_json` wrote."""
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
    except (KeyError, TypeError) as error:
        raise InvalidInput(f"{_short(data)} is not an answer in zorank's JSON form") from error


@dataclass(frozen=True)
class Exhibit:
    """A candidate as a judge sees or hears it: a picture, a clip, a sound, a text."""

    media_type: str
    data: bytes


@dataclass(frozen=True)
class Round:
    """A line of a run's log.

    Two lines are equal if they say the same of the same round; `key` and `slate` do not count.

    Attributes:
        index: the round's number, from 0.
        answer: None while the slate waits for its answer.
        rater: who answered.
        shown_at: when it was first asked, in seconds since 1970.
        answered_at: when it was answered.
        note: what else is worth keeping (a true value, a remark); never told to the optimizer.
        key: what tells this showing of the round from any other, before an undo or after it.
        slate: what was shown, in the form of `zorank._slate_log`; None if it was not recorded:
            replay then asks the optimizer again, which gives the same slate bit for bit.
    """

    index: int
    shown_at: float
    answer: Answer | None = None
    rater: str | None = None
    answered_at: float | None = None
    note: Mapping[str, Any] = field(default_factory=dict)
    key: str = field(default="", compare=False)
    slate: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, eq=False)
class RunRecord:
    """What makes a run the run it is, beside its log: enough to start it again anywhere.

    `meta` is what its application keeps with it, such as a title; it changes no number.
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

    def __post_init__(self) -> None:
        self.x0.setflags(write=False)


def ranking_from_json(data: Mapping[str, Any]) -> Ranking:
    """The ranking that `to_json` wrote."""
    among = data.get("among")
    return Ranking(
        _groups(data["order"]),
        _groups(data.get("worst", ())),
        None if among is None else tuple(among),
    )


def _groups(order: Iterable[int | Iterable[int]]) -> tuple[Group, ...]:
    unordered = (str, bytes, set, frozenset, Mapping)
    is_order = isinstance(order, Iterable) and not isinstance(order, unordered)
    if not is_order or _is_scalar(order):
        raise InvalidInput(f"an order is a list of positions, best first; found {order!r}")
    groups = (
        (_position(item),)
        if isinstance(item, (str, bytes)) or not isinstance(item, Iterable) or _is_scalar(item)
        else tuple(_position(p) for p in item)
        for item in order
    )
    return tuple(g for g in groups if g)


def _is_scalar(item: object) -> bool:
    return isinstance(item, np.ndarray) and item.ndim == 0


def _position(p: Any) -> int:
    p = p.item() if _is_scalar(p) else p
    if isinstance(p, (bool, np.bool_)) or not isinstance(p, Integral):
        raise InvalidInput(f"a position is a whole number from 0, found {p!r}")
    if p < 0:
        raise InvalidInput(f"position {p} is negative; positions count from 0")
    return int(p)


def _no_repeats(positions: Group) -> None:
    seen: set[int] = set()
    for p in positions:
        if p in seen:
            raise InvalidInput(f"position {p} is named more than once; name each at most once")
        seen.add(p)


def _depth(top: Any, m: int) -> int:
    is_count = isinstance(top, Integral) and not isinstance(top, bool)
    if not is_count or not 1 <= int(top) <= m:
        raise InvalidInput(f"the best k of {m} needs k from 1 to {m}, found {top!r}")
    return int(top)


def _short(x: object, limit: int = 60) -> str:
    text = repr(x)
    return text if len(text) <= limit else text[: limit - 1] + "…"
