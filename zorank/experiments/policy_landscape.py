"""The objective around policies during a search: why rewards rise slowly.

For each policy: how many directions its observations span, how well the first 100 steps of an
episode predict its return, the returns of random candidates nearby, and the returns along the
gradient. Returns are those of whole episodes from the next round's reset, in per cent of the
policy's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zorank.rl import PolicyProblem, PolicySearch, step_together

EPISODES = (200, 496)
"""The numbers of ranked episodes after which policies are examined."""
EARLY_STEPS = 100
"""The first steps of an episode, as a predictor of its return."""
RADII = (0.01, 0.03, 0.08)
"""The standard deviations of random candidates."""
STEPS = (0.02, 0.05, 0.1, 0.2, 0.3)
"""The lengths of steps along the gradient."""
CANDIDATES = 64
"""Per radius; the gradient is estimated from twice as many pairs at the smallest radius."""


@dataclass(frozen=True)
class Surroundings:
    """The returns near one policy.

    Attributes:
        episodes: the number of ranked episodes.
        seed: the seed of the search.
        reward: the policy's own return.
        directions: the effective number of directions of its observations.
        early: the rank correlation of returns after `EARLY_STEPS` and of whole episodes.
        nearby: for each of `RADII`, the median return of random candidates and the share of
            better ones, in per cent.
        uphill: for each of `STEPS` along the gradient, the return in per cent.
    """

    episodes: int
    seed: int
    reward: float
    directions: float
    early: float
    nearby: tuple[tuple[float, float], ...]
    uphill: tuple[float, ...]


def examine(env: str, seeds: int) -> Iterator[Surroundings]:
    """Search with each seed, and yield the surroundings of each policy at `EPISODES`."""
    problem = PolicyProblem(env)
    searches = [PolicySearch(problem, None, seed) for seed in range(seeds)]
    for episodes in EPISODES:
        while searches[0].episodes < episodes:
            step_together(searches)
        for seed, search in enumerate(searches):
            yield surroundings(search, seed)


def surroundings(search: PolicySearch, seed: int) -> Surroundings:
    """Examine the current policy of a search."""
    problem, statistics = search.problem, search.statistics
    x, rng = search.run.best(), np.random.default_rng(0)
    reset = search.resets()[0]

    def returns(candidates: Any, problem: PolicyProblem = problem) -> Any:
        found = problem.episodes(list(candidates), [reset] * len(candidates), statistics)
        return np.where(np.isfinite(found.returns), found.returns, -np.inf)

    own = problem.episodes([x], [reset], statistics)
    reward = float(own.returns[0])
    nearby = [returns(x + radius * rng.standard_normal((CANDIDATES, x.size))) for radius in RADII]
    others = x + RADII[1] * rng.standard_normal((CANDIDATES, x.size))
    short = replace(problem, horizon=min(EARLY_STEPS, problem.environment.horizon))
    xi = rng.standard_normal((2 * CANDIDATES, x.size))
    both = ranks(returns(np.concatenate([x + RADII[0] * xi, x - RADII[0] * xi])))
    gradient = (both[: 2 * CANDIDATES] - both[2 * CANDIDATES :]) @ xi
    steps = np.outer(STEPS, gradient / np.linalg.norm(gradient))
    return Surroundings(
        episodes=search.episodes,
        seed=seed,
        reward=reward,
        directions=effective_rank(statistics.normalise(own.observations[0])),
        early=rank_correlation(returns(others, short), returns(others)),
        nearby=tuple(
            (float(100 * np.median(found) / reward), float(100 * np.mean(found > reward)))
            for found in nearby
        ),
        uphill=tuple((100 * returns(x + steps) / reward).tolist()),
    )


def effective_rank(rows: Any) -> float:
    """Return (Σλ)² / Σλ² of the second moments of observations."""
    spectrum = np.linalg.eigvalsh(rows.T @ rows)
    return float(spectrum.sum() ** 2 / (spectrum**2).sum())


def ranks(values: Any) -> Any:
    """Return the rank of each value, 0 for the smallest."""
    return np.argsort(np.argsort(values))


def rank_correlation(one: Any, other: Any) -> float:
    """Return Spearman's rank correlation of values without ties."""
    each = [ranks(values) for values in (one, other)]
    return float(np.mean(np.prod([(p - p.mean()) / p.std() for p in each], axis=0)))
