"""Policies: steps per second beside their bounds, and what is learned from equal episodes.

    python benchmarks/policies.py speed      # environment steps a second, all in the same run
    python benchmarks/policies.py recipes Swimmer-v4 500 10   # environment, episodes, seeds

`speed` compares closed-loop episodes with bare `mj_step` on all cores (the floor: no policy, no
reward) and with Gymnasium's own loop. `recipes` compares methods that see only an order with
ARS and ZO-SGD that see rewards, in the same bundle: normalised observations, shared resets, no
constant. Seeds 100 and on; settings were chosen on seeds 0 to 3.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from zorank import optimizers
from zorank.estimators import cloud_of
from zorank.learning import Learning
from zorank.optimizers.rank_ars import RankARS
from zorank.problems.policies import PolicyProblem
from zorank.problems.policies.batched import BatchedWorld
from zorank.problems.policies.policy import Policy
from zorank.problems.policies.worlds import GymnasiumWorld, World, make_env
from zorank.protocols import AnyOptimizer
from zorank.slates import Slate, Space
from zorank.types import Answer, Values, Vector

CORES = os.cpu_count() or 1
TOGETHER = 64


@dataclass(frozen=True, kw_only=True)
class ValueARS(RankARS):
    """ARS as published: pairs weighed by their rewards over the rewards' standard deviation."""

    name: ClassVar[str] = "ars (values)"

    def probe(self, x: Vector, radius: float, space: Space, rng: np.random.Generator) -> Slate:
        """The same pairs, and their values asked for."""
        return Slate(super().probe(x, radius, space, rng).design, question="values")

    def estimate(self, slate: Slate, answer: Answer) -> Vector | None:
        """The sum of the best directions, each by how far apart its two values are."""
        if not isinstance(answer, Values):
            raise TypeError("values were asked for")
        pairs = np.array(answer.values).reshape(2, -1)
        many = self.top or pairs.shape[1] // 2
        counted = np.argsort(pairs.min(axis=0), kind="stable")[:many]
        kept = np.zeros_like(pairs)
        kept[:, counted] = pairs[:, counted]
        spread = pairs[:, counted].std()
        return None if spread == 0 else cloud_of(slate).combine(kept.ravel() / (many * spread))


BY_ORDER: dict[str, Callable[[], AnyOptimizer]] = {
    "zo-ranksgd m=5": lambda: _descent("zo-ranksgd", m=5),
    "rank-ars m=16 top=4": lambda: optimizers.make("rank-ars", {"m": 16, "top": 4}),
    "rank-ars m=8 top=4": lambda: optimizers.make("rank-ars", {"m": 8, "top": 4}),
    "auto": lambda: optimizers.make("auto", {"sigma0": 0.1}),
    "cma-es m=5": lambda: optimizers.make("cma-es", {"m": 5, "sigma0": 0.1}),
}
BY_VALUE: dict[str, Callable[[], AnyOptimizer]] = {
    "ars (values) m=16 top=4": lambda: ValueARS(m=16, top=4),
    "zo-sgd (values) m=5": lambda: _descent("zo-sgd", m=5),
}


def _descent(name: str, **options: Any) -> AnyOptimizer:
    return optimizers.make(name, {"step": 0.1, "mu": 0.1, "line_search": 0, **options})


def speed() -> None:
    """Steps a second: in step, by bare mj_step on all cores, by Gymnasium's loop."""
    print(f"{'':16}{'in step':>10}{'mj_step':>10}{'ratio':>7}{'loop':>9}{'ratio':>7}")
    for env in ("HalfCheetah-v4", "Swimmer-v4", "Reacher-v4"):
        horizon = 50 if "Reacher" in env else 400
        rates: dict[str, list[float]] = {"ours": [], "bare": [], "loop": []}
        for _ in range(3):  # in turns, so that a busy moment hits everyone
            rates["ours"].append(_rate(BatchedWorld(env, horizon), TOGETHER))
            rates["bare"].append(_bare(env, 4000))
            rates["loop"].append(_rate(GymnasiumWorld(env, horizon), 4))
        ours, bare, loop = (float(np.median(rates[name])) for name in ("ours", "bare", "loop"))
        print(
            f"{env:16}{ours:10,.0f}{bare:10,.0f}{ours / bare:7.2f}{loop:9,.0f}{ours / loop:7.2f}"
        )


def _rate(world: World, episodes: int) -> float:
    policy = Policy(world.inputs, world.action.outputs)
    rows = 0.3 * np.random.default_rng(0).standard_normal((episodes, policy.dim))
    layers = policy.layers(list(rows))

    def act(observations: Any, which: Any) -> Any:
        mine = layers if len(which) == episodes else [weights[which] for weights in layers]
        return policy.act(mine, observations)

    start = perf_counter()
    found = world.episodes(act, [1] * episodes)
    return float(found.steps.sum()) / (perf_counter() - start)


def _bare(env: str, steps: int) -> float:
    """Environment steps a second of nothing but simulation, a thread on each core."""
    import mujoco

    made = make_env(env).unwrapped
    datas = [mujoco.MjData(made.model) for _ in range(CORES)]

    def simulate(data: Any) -> None:
        data.ctrl[:] = 0.3
        mujoco.mj_step(made.model, data, nstep=steps * made.frame_skip)

    start = perf_counter()
    with ThreadPoolExecutor(CORES) as threads:
        list(threads.map(simulate, datas))
    return CORES * steps / (perf_counter() - start)


def recipes() -> None:
    """The reward on held-out resets after so many episodes, seed by seed."""
    env, episodes, seeds = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    for name, make in {**BY_ORDER, **BY_VALUE}.items():
        if len(sys.argv) > 5 and sys.argv[5] not in name:
            continue
        rewards = []
        for seed in range(100, 100 + seeds):
            learning = Learning(PolicyProblem(env), make(), seed)
            while learning.episodes + len(learning.run.ask()) <= episodes:
                learning.step()
            rewards.append(learning.reward(10))
        told = " ".join(f"{reward:.4g}" for reward in sorted(rewards))
        print(
            f"{env} {name:24} median {np.median(rewards):.5g} mean {np.mean(rewards):.5g} "
            f"± {np.std(rewards):.3g}: {told}",
            flush=True,
        )


if __name__ == "__main__":
    {"speed": speed, "recipes": recipes}[sys.argv[1] if len(sys.argv) > 1 else "speed"]()
