"""rank-items: active ranking of n given items, shown m at a time.

The model is Bradley and Terry's (1952) with a Gaussian prior (`model.py`). A slate holds the items
whose comparison is worth most. The value of a pair is its expected information in the Gaussian
approximation (Houlsby et al., 2011), log(1 + h V)/2, times the probability that the present order
of the two is wrong; V is the variance of the difference of their utilities, and h the expected
curvature of the likelihood, which is largest for close utilities. A slate starts with the item of
the largest sum over all others, and grows by the item that adds most. A candidate is the index of
an item, a vector of one number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from zorank.errors import InvalidInput
from zorank.optimizers.blas import one_thread
from zorank.optimizers.rank_items.edges import Edges, compared
from zorank.optimizers.rank_items.model import Posterior, fit
from zorank.optimizers.settings import check_count, check_slate_size
from zorank.slates import Points, Slate
from zorank.types import Answer, Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

ENOUGH = 0.95
"""The expected share of pairs in the right order at which the order counts as settled."""

MAX_ITEMS, MAX_SLATE = 1_000_000, 64
POOL = 400
"""The number of items, the least certain ones, that a slate is chosen from."""

PROBIT = 1.702
"""Φ(z) is about 1/(1 + exp(−1.702 z)), to within 0.01."""

MAX_SKIPS = 2
"""An item that was shown this often without being compared is not shown again."""


@dataclass(frozen=True, eq=False)
class ItemsState:
    """The state of rank-items.

    Attributes:
        x0: the start, which is the best point before the first comparison.
        edges: all comparisons.
        posterior: the utilities given these.
        certainty: the expected share of pairs in the right order.
        skips: how often each item was shown and not compared, by index.
    """

    x0: Vector
    edges: Edges
    posterior: Posterior
    certainty: float = 0.5
    skips: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class RankItems:
    """Orders a finite set of items; a candidate is the index of an item.

    Attributes:
        items: the number of items, n.
        m: number of items on a slate; all of them if there are fewer.
        k: how many of them to rank; None lets the judge decide.
    """

    name: ClassVar[str] = "rank-items"
    revision: ClassVar[int] = 1

    items: int = 10
    m: int = 6
    k: int | None = None

    def __post_init__(self) -> None:
        check_count(self, "items", 2, MAX_ITEMS)
        check_slate_size(self, largest=MAX_SLATE)

    def init(self, x0: Vector) -> ItemsState:
        """Return the state before the first answer."""
        if x0.size != 1:
            raise InvalidInput(
                "rank-items ranks a finite set, and a candidate is the index of an item: x0 must "
                f"be one number, such as [0], found {x0.size} numbers"
            )
        return ItemsState(x0, Edges.empty(), Posterior.prior(self.items))

    def ask(self, state: ItemsState, rng: np.random.Generator) -> Slate:
        """Show the items whose comparison is expected to be most informative."""
        with one_thread():
            chosen = choose(state, min(self.m, self.items), rng)
        k = None if self.k is None else min(self.k, len(chosen))
        return Slate(Points(chosen[:, None].astype(np.float64)), k=k)

    def tell(self, state: ItemsState, slate: Slate, answer: Answer) -> ItemsState:
        """Add the comparisons of the answer and condition the model on all of them."""
        answer.check(len(slate))
        items = np.array([int(x[0]) for x in slate])
        skips = dict(state.skips)
        for item in items[~compared(answer, len(slate))].tolist():
            skips[item] = skips.get(item, 0) + 1
        edges = state.edges.add(answer, items)
        if len(edges) == len(state.edges):
            return replace(state, skips=skips)
        with one_thread():
            posterior = fit(edges, self.items, state.posterior)
            certainty = posterior.certainty()
        return replace(state, edges=edges, posterior=posterior, certainty=certainty, skips=skips)

    def best(self, state: ItemsState) -> Vector:
        """Return the item of the highest posterior mean; x0 before the first comparison."""
        if not len(state.edges):
            return state.x0
        return np.array([float(state.posterior.order()[0])])

    def report(self, state: ItemsState) -> dict[str, float]:
        """Return the state of the order.

        certainty: the expected share of pairs in the right order; spread: the standard deviation
        of utilities in units of the judge's noise; compared: the number of items compared so far.
        """
        if not len(state.edges):
            return {}
        found = state.posterior
        return {
            "certainty": state.certainty,
            "spread": found.spread,
            "compared": float(len(found.seen)),
        }


def choose(state: ItemsState, m: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return m items whose comparison is expected to be most informative."""
    found = state.posterior
    uncertain = np.sqrt(found.variance) * (1 + 1e-9 * rng.random(len(found.mean)))
    for item, times in state.skips.items():
        if times >= MAX_SKIPS:
            uncertain[item] = -1.0
    pool = np.argsort(-uncertain, kind="stable")[: max(POOL, m)]
    shown = pool[uncertain[pool] > 0]
    pool = shown if len(shown) >= m else pool
    gains = pair_gains(found, pool) * (1 + 1e-9 * rng.random((len(pool), len(pool))))
    chosen = [int(np.argmax(gains.sum(axis=1)))]
    total = gains[chosen[0]].copy()
    while len(chosen) < m:
        total[chosen] = -math.inf
        chosen.append(int(np.argmax(total)))
        total = total + gains[chosen[-1]]
    return np.asarray(pool[chosen])


def pair_gains(found: Posterior, pool: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the value of comparing each two items of the pool, (p, p).

    It is the expected information, times the probability that their order is wrong at present.
    """
    i, j = (side.ravel() for side in np.meshgrid(pool, pool, indexing="ij"))
    variance = found.difference_variance(i, j)
    apart = np.abs(found.mean[i] - found.mean[j])
    shrink = 1 / np.sqrt(1 + math.pi * variance / 8)
    half = np.minimum(0.5 * shrink * apart, 300.0)
    information = shrink / (4 * np.cosh(half) ** 2)  # E σ'(u_i − u_j)
    wrong = 1 / (1 + np.exp(np.minimum(PROBIT * apart / np.sqrt(variance), 600.0)))
    gains = (0.5 * np.log1p(information * variance) * wrong).reshape(len(pool), len(pool))
    gains[np.diag_indices(len(pool))] = 0.0
    return np.asarray(gains)
