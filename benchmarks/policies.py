"""Policies: steps per second beside their bounds, and what is learned from equal episodes.

    python benchmarks/policies.py speed      # environment steps a second, all in the same run
    python benchmarks/policies.py clips      # a round of the studio: five clips of five seconds
    python benchmarks/policies.py recipes Swimmer-v4 500 10   # environment, episodes, seeds

`speed` compares closed-loop episodes with bare `mj_step` on all cores (the floor: no policy, no
reward) and with Gymnasium's own loop. `clips` compares a round of the studio, simulated, filmed
and encoded, with drawing as many frames of a body at rest; by the clock, and by the time of all
processors, the encoders' included, which a busy machine changes less. `recipes` compares methods
that see only an order with ARS and ZO-SGD that see rewards, in the same bundle: normalised
observations, shared resets, no constant. Seeds 100 and on; settings were chosen on seeds 0 to 3.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
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
from zorank.problems.policies.worlds import Episodes, GymnasiumWorld, World, make_env, moments_of
from zorank.protocols import AnyOptimizer
from zorank.renderers.threads import on_all_cores
from zorank.slates import Slate, Space
from zorank.types import Answer, Exhibit, Values, Vector

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


def clips() -> None:
    """Five clips, the first time and afterwards, and the mere drawing of as many frames."""
    import mujoco

    from zorank.renderers import REGISTRY
    from zorank.renderers.policy import film

    renderer: Any = REGISTRY["policy"](env=sys.argv[2] if len(sys.argv) > 2 else "HalfCheetah-v4")
    points = np.random.default_rng(0).standard_normal((5, renderer.dim))
    height = renderer.size * 3 // 4

    def drawn(_: Vector) -> Exhibit:
        with film.kept_stage(renderer.env, height, renderer.size) as (env, look):
            env.reset(seed=0)
            for _frame in range(frames):
                look()
        return Exhibit("text/plain", b"")

    renderer.warm_up()
    shown, rate = film.frames(
        *(renderer.env, renderer.policy(points[0]), 0, renderer.seconds, height, renderer.size)
    )
    frames = len(shown)
    print(
        f"{renderer.env}: {len(points)} clips of {frames} frames, {frames / rate:g} s, "
        f"{renderer.size} × {height}, {CORES} cores, MuJoCo {mujoco.__version__}"
    )
    print(f"{'':10}{'seconds':>9}{'ratio':>7}{'processors':>12}{'ratio':>7}")
    film.forget_stages()
    cold = _spent(lambda: renderer.render(points))
    warm, bare = [], []
    for _ in range(3):  # in turns, so that a busy moment hits both
        warm.append(_spent(lambda: renderer.render(points)))
        bare.append(_spent(lambda: on_all_cores(drawn, points)))
    bound = np.median(bare, axis=0)
    for name, found in (("first", cold), ("then", np.median(warm, axis=0)), ("drawing", bound)):
        clock, processors = found
        ratio, other = found / bound
        print(f"{name:10}{clock:9.2f}{ratio:7.2f}{processors:12.2f}{other:7.2f}")


def _spent(work: Callable[[], object]) -> Any:
    """Seconds of the clock, and of all processors: our threads' and the encoders'."""

    def processors() -> float:
        both = (getrusage(RUSAGE_SELF), getrusage(RUSAGE_CHILDREN))
        return sum(used.ru_utime + used.ru_stime for used in both)

    clock, before = perf_counter(), processors()
    work()
    return np.array([perf_counter() - clock, processors() - before])


def recipes() -> None:
    """The reward on held-out resets after so many episodes, seed by seed."""
    env, episodes, seeds = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    for name, make in {**BY_ORDER, **BY_VALUE}.items():
        if len(sys.argv) > 5 and sys.argv[5] not in name:
            continue
        rewards = learned(env, make(), episodes, range(100, 100 + seeds))
        told = " ".join(f"{reward:.4g}" for reward in sorted(rewards))
        print(
            f"{env} {name:24} median {np.median(rewards):.5g} mean {np.mean(rewards):.5g} "
            f"± {np.std(rewards):.3g}: {told}",
            flush=True,
        )


def learned(
    env: str, optimizer: AnyOptimizer, episodes: int, seeds: Sequence[int], looks: int = 10
) -> list[float]:
    """Rewards on `looks` held-out resets after so many episodes, one for each seed.

    All seeds are simulated in step, each with what it has seen itself: bit for bit what each would
    learn alone, in less time.
    """
    problem = PolicyProblem(env)
    everyone = [Learning(problem, optimizer, seed) for seed in seeds]
    learning = everyone
    while learning := [one for one in learning if one.episodes + len(one.run.ask()) <= episodes]:
        for one, found in zip(learning, _episodes_of(problem, learning), strict=True):
            one.tell(found)
    return [problem.reward(one.run.best(), one.seen, looks) for one in everyone]


def _episodes_of(problem: PolicyProblem, learning: list[Learning]) -> list[Episodes]:
    """The next round of each."""
    slates = [list(one.run.ask()) for one in learning]
    many = [len(slate) for slate in slates]
    layers = problem.policy.layers([candidate for slate in slates for candidate in slate])
    mean, spread = (
        np.repeat([getattr(one.seen, name) for one in learning], many, axis=0)
        for name in ("mean", "spread")
    )
    rows: list[Any] = []

    def act(observations: Any, which: Any) -> Any:
        rows.append(observations.copy())
        return problem.policy.act(layers, (observations - mean) / spread)

    found = problem.world.episodes(act, [reset for one in learning for reset in one.resets()])
    seen, ends = np.array(rows), np.cumsum([0, *many])
    return [
        Episodes(
            found.returns[start:end],
            found.steps[start:end],
            moments_of(np.concatenate([seen[: found.steps[i], i] for i in range(start, end)])),
        )
        for start, end in pairwise(ends)
    ]


if __name__ == "__main__":
    {"speed": speed, "clips": clips, "recipes": recipes}[
        sys.argv[1] if len(sys.argv) > 1 else "speed"
    ]()
