"""Rank things that already exist: `rank_items` asks a judge for orders of a few at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from zorank._arrays import is_real, is_whole
from zorank.errors import InvalidInput, short
from zorank.optimizers.rank_items import ENOUGH, ItemsState, RankItems
from zorank.run import Run
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zorank.protocols import Store
    from zorank.types import Answer
    from zorank.types import Order as Ranks

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Order(Generic[T]):
    """The order of a set of things, and how certain it is.

    Attributes:
        items: the things, as they were given.
        order: their indices, best first.
        scores: the posterior mean of each thing's utility, by index; higher is better. A
            difference of 1 means that the better one wins 73% of comparisons.
        sd: the posterior standard deviation of each.
        ahead: for each place but the last, the probability that its thing is better than the next.
        certainty: the expected share of pairs in the right order.
        rounds: how many slates were ranked.
    """

    items: Sequence[T]
    order: NDArray[np.int64]
    scores: Vector
    sd: Vector
    ahead: Vector
    certainty: float
    rounds: int

    @property
    def ranked(self) -> list[T]:
        """The things, best first."""
        return [self.items[i] for i in self.order]

    @property
    def is_settled(self) -> bool:
        """Whether 95% of pairs are expected to be in the right order."""
        return self.certainty >= ENOUGH


def order_of(run: Run, items: Sequence[T]) -> Order[T]:
    """Return the order that a run of rank-items has found of these things."""
    state = run.state
    if not isinstance(state, ItemsState):
        raise InvalidInput(
            f"run {run.name!r} searches a space with {run.record.optimizer}; only runs of "
            f"{RankItems.name} have an order"
        )
    found = state.posterior
    order = found.order()
    if len(items) != len(order):
        raise InvalidInput(f"run {run.name!r} ranks {len(order)} items, found {len(items)}")
    answered = sum(line.answer is not None for line in run.rounds())
    return Order(
        items,
        order,
        scores=found.mean.copy(),
        sd=np.sqrt(found.variance),
        ahead=found.probability(order[:-1], order[1:]),
        certainty=state.certainty,
        rounds=answered,
    )


def rank_items(
    items: Sequence[T],
    judge: Callable[[list[T]], Answer | Ranks],
    *,
    m: int = 6,
    rounds: int | None = None,
    certainty: float = ENOUGH,
    seed: int = 0,
    store: Store | str | None = None,
    name: str | None = None,
) -> Order[T]:
    """Order things that can be compared but not scored, showing the judge a few at a time.

    Which ones are shown depends on what is still uncertain. It ends when the order is certain
    enough, or after a number of rounds.

    Args:
        items: the things, two or more, of any type.
        judge: takes a list of m things and returns the positions in this list, best first: [2, 0]
            means that the third is best, the first follows, and the others are worse. It may also
            return a `Ranking`.
        m: how many things are shown at once.
        rounds: the largest number of rounds; None stands for 2 n log₂ n / m, at least 10.
        certainty: the expected share of pairs in the right order at which it ends.
        seed: of all random draws.
        store: where the answers are stored; None keeps them in memory.
        name: the run's name in the store. The same name continues an interrupted run.
    """
    things = list(items)
    n = len(things)
    if n < 2:
        raise InvalidInput(f"rank_items needs at least two items, found {n}")
    if not callable(judge):
        raise InvalidInput(
            "judge must be a function that takes a list of items and returns their positions, "
            f"best first, found {short(judge)}"
        )
    if not is_real(certainty) or not 0.5 <= certainty <= 1:
        raise InvalidInput(f"certainty must be a number from 0.5 to 1, found {short(certainty)}")
    if rounds is not None and (not is_whole(rounds) or rounds < 0):
        raise InvalidInput(f"rounds must be a whole number from 0, found {short(rounds)}")
    optimizer = RankItems(items=n, m=m)
    most = max(10, math.ceil(2 * n * math.log2(n) / m)) if rounds is None else int(rounds)
    run = Run(optimizer, [0.0], seed, store, name)
    while len(run.history) < most and run.state.certainty < certainty:
        shown = [things[index] for index in slate_items(run)]
        run.tell(judge(shown))
    return order_of(run, things)


def slate_items(run: Run) -> list[int]:
    """Return the indices of the things on the slate that waits for an answer."""
    return [int(x[0]) for x in run.ask()]


__all__ = ["Order", "order_of", "rank_items", "slate_items"]
