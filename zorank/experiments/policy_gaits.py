"""A simulated rater who likes smooth forward motion ranks clips of HalfCheetah's gaits.

Reports how much the rater likes the best gait of the first round, the result, and the best of as
many random gaits, for several strengths of the first candidates (`vigour`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from zorank import optimizers
from zorank.renderers import PolicyClips
from zorank.rl.environments import make_env
from zorank.run import Run
from zorank.types import Ranking, Vector

ROUNDS, SHOWN, RATERS = 20, 6, 8
"""Rounds of a session, clips of a round, and raters, which are seeds."""
VIGOURS = (0.25, 0.35, 0.5, 0.7, 1.0, 2.0)
HEADINGS = ("vigour", "first best", "at the end", "lowest", "random best")


def measure() -> Iterator[tuple[float, ...]]:
    """Yield a row of `HEADINGS` for each vigour: means over raters, and the lowest result."""
    env = make_env("HalfCheetah-v4")
    for vigour in VIGOURS:
        renderer = PolicyClips(vigour=vigour)

        def utility(candidate: Vector, renderer: PolicyClips = renderer) -> float:
            return smooth_forward_motion(renderer, env, candidate)

        found = np.array([session(renderer.dim, utility, seed) for seed in range(RATERS)])
        first, end, random = found.mean(axis=0)
        yield vigour, first, end, found[:, 1].min(), random


def session(dim: int, utility: Callable[[Vector], float], seed: int) -> tuple[float, float, float]:
    """Return the utility of the first round's best, of the result, and of the best random gait."""
    method = optimizers.make("rank-process", {"m": SHOWN, "space": "gaussian", "pick": True})
    rng = np.random.default_rng(seed)
    run = Run(method, rng.standard_normal(dim), seed)
    first = -np.inf
    for index in range(ROUNDS):
        utilities = np.array([utility(candidate) for candidate in run.ask()])
        first = utilities.max() if index == 0 else first
        run.tell(Ranking.from_values(-utilities))
    random = max(utility(one) for one in rng.standard_normal((ROUNDS * SHOWN, dim)))
    return float(first), utility(run.best()), random


def smooth_forward_motion(renderer: PolicyClips, env: Any, candidate: Vector) -> float:
    """Return the sum of forward velocities in a clip, minus a penalty for changes of action."""
    act = renderer.policy(candidate)
    observation, _ = env.reset(seed=renderer.reset)
    before, total = np.zeros(env.action_space.shape), 0.0
    for _ in range(round(renderer.seconds / env.unwrapped.dt)):
        action = act(observation)
        observation, _, _, _, info = env.step(action)
        total += info["x_velocity"] - 0.1 * float(np.square(action - before).sum())
        before = action
    return total
