"""Methods that order n items from noisy comparisons, for `zorank bench items`.

A ranker says which items to show next, takes their order, and returns its order of all items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from zorank.errors import required_by
from zorank.items import slate_items
from zorank.optimizers.rank_items import RankItems
from zorank.optimizers.rank_items.edges import Edges
from zorank.optimizers.rank_items.model import Posterior, fit
from zorank.run import Run
from zorank.types import Ranking

Items = list[int]


class Ranker(Protocol):
    """Orders a finite set."""

    def ask(self) -> Items | None:
        """Return the items to compare next; None if it has finished."""
        ...

    def tell(self, ranked: Items) -> None:
        """Take these items, best first."""
        ...

    def order(self) -> Items:
        """Return all items, best first."""
        ...


class Active:
    """rank-items itself, m at a time."""

    def __init__(self, n: int, m: int, seed: int) -> None:
        self._run = Run(RankItems(items=n, m=m), [0.0], seed)

    def ask(self) -> Items:
        """Return the slate of rank-items."""
        return slate_items(self._run)

    def tell(self, ranked: Items) -> None:
        """Tell the run."""
        shown = slate_items(self._run)
        self._run.tell(Ranking.of([shown.index(item) for item in ranked]))

    def order(self) -> Items:
        """Return the items by posterior mean."""
        return [int(i) for i in self._run.state.posterior.order()]

    @property
    def certainty(self) -> float:
        """The expected share of pairs in the right order."""
        return float(self._run.state.certainty)


class Random:
    """Random slates; the model of rank-items orders the items, so that only the choice differs."""

    def __init__(self, n: int, m: int, seed: int) -> None:
        self._n, self._m = n, m
        self._draws = np.random.default_rng([seed, 1])
        self._deck: Items = []
        self._edges = Edges.empty()

    def ask(self) -> Items:
        """Deal m items of a shuffled deck, so that all are shown equally often."""
        if len(self._deck) < self._m:
            self._deck = self._draws.permutation(self._n).tolist()
        self._shown, self._deck = self._deck[: self._m], self._deck[self._m :]
        return self._shown

    def tell(self, ranked: Items) -> None:
        """Keep the comparisons."""
        order = [self._shown.index(item) for item in ranked]
        self._edges = self._edges.add(Ranking.of(order), np.array(self._shown))

    def order(self) -> Items:
        """Fit the model and return the items by posterior mean."""
        found = Posterior.prior(self._n)
        for _ in range(10):  # the spread converges
            found = fit(self._edges, self._n, found)
        return [int(i) for i in found.order()]


class TrueSkill:
    """TrueSkill (Herbrich et al., 2006), the package of this name, with a static skill (τ = 0).

    The item of the largest σ is compared with the items of the best match quality with it, as in
    leagues. Choosing by quality alone would always choose the same pair.
    """

    def __init__(self, n: int, m: int, seed: int) -> None:
        with required_by("TrueSkill", "trueskill", "peers"):
            import trueskill
        self._env: Any = trueskill.TrueSkill(tau=0.0, draw_probability=0.0)
        self._ratings = [self._env.create_rating() for _ in range(n)]
        self._m = m
        self._draws = np.random.default_rng([seed, 2])

    def ask(self) -> Items:
        """Return the least certain item and its best matches; equal ones at random."""
        shuffled = self._draws.permutation(len(self._ratings)).tolist()
        first = max(shuffled, key=lambda i: self._ratings[i].sigma)
        quality = {i: self._quality(first, i) for i in shuffled if i != first}
        return [first, *sorted(quality, key=lambda i: -quality[i])[: self._m - 1]]

    def tell(self, ranked: Items) -> None:
        """Rate the items."""
        teams = [(self._ratings[i],) for i in ranked]
        for i, (rating,) in zip(ranked, self._env.rate(teams), strict=True):
            self._ratings[i] = rating

    def order(self) -> Items:
        """Return the items by mean skill."""
        return sorted(range(len(self._ratings)), key=lambda i: -self._ratings[i].mu)

    def _quality(self, i: int, j: int) -> float:
        """Return the match quality of two items: the relative probability of a draw."""
        a, b, beta = self._ratings[i], self._ratings[j], self._env.beta
        spread = 2 * beta**2 + a.sigma**2 + b.sigma**2
        apart = (a.mu - b.mu) ** 2
        return float(np.sqrt(2 * beta**2 / spread) * np.exp(-apart / (2 * spread)))


@dataclass
class MergeSort:
    """Bottom-up merge sort; each comparison is asked once. It has no model of noise."""

    n: int
    m: int
    seed: int
    _merged: list[Items] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        shuffled = np.random.default_rng([self.seed, 3]).permutation(self.n).tolist()
        self._runs: list[Items] = [[item] for item in shuffled]
        self._pairs = self._merges()
        self._winner = -1
        self._waiting: Items | None = next(self._pairs, None)

    def ask(self) -> Items | None:
        """Return the next pair to compare; None if everything is sorted."""
        return self._waiting

    def tell(self, ranked: Items) -> None:
        """Take the winner of the pair."""
        self._winner = ranked[0]
        self._waiting = next(self._pairs, None)

    def order(self) -> Items:
        """Return all items; unfinished runs are interleaved by their relative positions."""
        runs = [*self._merged, *self._runs]
        placed = [((k + 0.5) / len(run), i) for run in runs for k, i in enumerate(run)]
        return [item for _, item in sorted(placed)]

    def _merges(self) -> Iterator[Items]:
        while len(self._runs) > 1:
            while len(self._runs) > 1:
                left, right = self._runs[0], self._runs[1]
                result: Items = []
                while left and right:
                    yield [left[0], right[0]]
                    result.append((left if self._winner == left[0] else right).pop(0))
                    self._runs[0] = result + left
                self._merged.append(result + left + right)
                self._runs = self._runs[2:]
            self._runs, self._merged = self._merged + self._runs, []


RANKERS: dict[str, tuple[Callable[[int, int, int], Ranker], int]] = {
    "rank-items": (Active, 6),
    "random slates": (Random, 6),
    "TrueSkill, six": (TrueSkill, 6),
    "rank-items, pairs": (Active, 2),
    "random pairs": (Random, 2),
    "TrueSkill, pairs": (TrueSkill, 2),
    "merge sort": (MergeSort, 2),
}
"""Every method, and how many items it shows at once."""
