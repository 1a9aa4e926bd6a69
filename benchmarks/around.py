"""What lies around a policy that is being learned: why rewards climb slowly.

    python benchmarks/around.py HalfCheetah-v4 5    # environment, seeds

For each policy on the way: how many directions its observations fill, whether the first 100 steps
of an episode tell the rest, what random candidates near it are worth, and how far uphill is up;
rewards are of whole episodes from the reset of the next question, in per cent of the policy's own.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np

from zorank.learning import Learning, step_together
from zorank.problems.policies import PolicyProblem

LOOKED_AT = (200, 496)
"""Episodes after which to look about."""
EARLY = 100
"""Steps that may tell the rest of an episode."""
NEAR, UPHILL = (0.01, 0.03, 0.08), (0.02, 0.05, 0.1, 0.2, 0.3)
"""Radii of candidates, and lengths of steps uphill."""
DRAWN = 64
"""Candidates of a radius; uphill is found by twice as many pairs of the smallest."""


def main() -> None:
    """A line for each policy."""
    env, seeds = sys.argv[1], int(sys.argv[2])
    problem = PolicyProblem(env)
    everyone = [Learning(problem, None, seed) for seed in range(seeds)]
    print(f"{'':15}{'':8}{'gait':>11}{'early':>7}{'candidates: median (ahead)':>40}  uphill")
    print(
        f"{'episodes, seed':15}{'reward':>8}{'directions':>11}{'tells':>7}"
        + "".join(f"{radius:>14}" for radius in NEAR)
        + "".join(f"{length:>6}" for length in UPHILL)
    )
    for until in LOOKED_AT:
        while everyone[0].episodes < until:
            step_together(everyone)
        for seed, one in enumerate(everyone):
            print(f"{one.episodes:8}, {seed:<5}" + surroundings(problem, one), flush=True)


def surroundings(problem: PolicyProblem, learning: Learning) -> str:
    """What is found around the present policy."""
    x, seen, draw = learning.run.best(), learning.seen, np.random.default_rng(0)
    reset = learning.resets()[0]

    def returns(candidates: Any, problem: PolicyProblem = problem) -> Any:
        found = problem.episodes(list(candidates), [reset] * len(candidates), seen)
        return np.where(np.isfinite(found.returns), found.returns, -np.inf)

    own = problem.episodes([x], [reset], seen)
    here = float(own.returns[0])
    told = f"{here:8,.0f}{directions_filled(seen.scaled(own.observed[0])):11.1f}"
    near = {radius: returns(x + radius * draw.standard_normal((DRAWN, x.size))) for radius in NEAR}
    again = x + NEAR[1] * draw.standard_normal((DRAWN, x.size))
    sooner = replace(problem, horizon=min(EARLY, problem.world.horizon))
    told += f"{rank_correlation(returns(again, sooner), returns(again)):7.2f}"
    for found in near.values():
        told += f"{100 * np.median(found) / here:7.0f} ({100 * np.mean(found > here):3.0f})"
    xi = draw.standard_normal((2 * DRAWN, x.size))
    pairs = places(returns(np.concatenate([x + NEAR[0] * xi, x - NEAR[0] * xi])))
    uphill = (pairs[: 2 * DRAWN] - pairs[2 * DRAWN :]) @ xi
    steps = np.outer(UPHILL, uphill / np.linalg.norm(uphill))
    return told + "".join(f"{100 * found / here:6.0f}" for found in returns(x + steps))


def directions_filled(rows: Any) -> float:
    """How many directions observations fill: (Σλ)² / Σλ² of their moments."""
    spectrum = np.linalg.eigvalsh(rows.T @ rows)
    return float(spectrum.sum() ** 2 / (spectrum**2).sum())


def places(values: Any) -> Any:
    """The place of each, the lowest first."""
    return np.argsort(np.argsort(values))


def rank_correlation(one: Any, other: Any) -> float:
    """Spearman's, of values without ties."""
    each = [places(values) for values in (one, other)]
    return float(np.mean(np.prod([(p - p.mean()) / p.std() for p in each], axis=0)))


if __name__ == "__main__":
    main()
