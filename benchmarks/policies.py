"""Policies: steps per second beside their bounds, and what is learned from equal episodes.

    python benchmarks/policies.py speed      # environment steps a second, all in the same run
    python benchmarks/policies.py clips      # a round of the studio: five clips of five seconds
    python benchmarks/policies.py person     # a simulated person ranks twenty rounds of six clips
    python benchmarks/policies.py recipes Swimmer-v4 500 10   # environment, episodes, seeds
    python benchmarks/policies.py recipes HalfCheetah-v4@250 2000 10   # ranked after 250 steps
    python benchmarks/policies.py tune Reacher-v4 4 rank-ars m=8 step=.03   # settings of your own

`speed` compares closed-loop episodes with bare `mj_step` on all cores (the floor: no policy, no
reward) and with Gymnasium's own loop. `clips` compares a round of the studio, simulated, filmed
and encoded, with drawing as many frames of a body at rest; by the clock, and by the time of all
processors, the encoders' included, which a busy machine changes less. `person` compares what
somebody who likes smooth forward motion gets from ranking with the best of as many random gaits,
for several vigours. `recipes` compares methods that see only an order with ARS and ZO-SGD that
see rewards, in the same bundle: normalised observations, clipped actions, shared resets, no
constant. Seeds 200 and on; `tune` chooses settings on 0 and on.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from time import perf_counter
from typing import Any, ClassVar, cast

import numpy as np
from zorank.problems.policies.batched import BatchedWorld
from zorank.problems.policies.policy import Policy
from zorank.problems.policies.worlds import GymnasiumWorld, World, make_env

from zorank import optimizers
from zorank.cli.common import read_values
from zorank.estimators import cloud_of
from zorank.learning import Learning, recipe, rewards, step_together
from zorank.optimizers.descent import DescentState
from zorank.optimizers.rank_ars import RankARS
from zorank.problems.policies import PolicyProblem
from zorank.protocols import AnyOptimizer
from zorank.renderers.threads import on_all_cores
from zorank.run import Run
from zorank.slates import Slate, Space
from zorank.types import Answer, Exhibit, Ranking, Values, Vector

CORES = os.cpu_count() or 1
TOGETHER = 64
RESULTS = Path(__file__).parent.parent / "docs" / "results" / "policies.json"
TUNING = RESULTS.with_name("policies-tuning.json")
EPISODES = {"Swimmer-v4": 500, "HalfCheetah-v4": 500, "Reacher-v4": 2500}
FRESH = 200
"""The first seed that is reported; those below are for choosing."""
LOOKED_AT = 10_000
"""Steps on held-out resets that a reward is the mean of: 10 long episodes, 200 of Reacher's."""
TOGETHER_LEARNED = 10
"""Seeds that are simulated in step; after each such group the results are written."""


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


@dataclass(frozen=True, eq=False)
class PathState(DescentState):
    """A descent that remembers where it went.

    Attributes:
        path: recent directions, of length 1 on average if they had nothing in common.
        stretched: what the step is multiplied by.
    """

    path: Vector | None = None
    stretched: float = 1.0


@dataclass(frozen=True, kw_only=True)
class PathRankARS(RankARS):
    """Its step grows while successive directions agree, and shrinks while they undo each other.

    Attributes:
        memory: the share of the newest direction in the path.
        pace: how quickly the step follows.
    """

    name: ClassVar[str] = "rank-ars, step by its path"

    memory: float = 0.2
    pace: float = 0.2

    def init(self, x0: Vector) -> PathState:
        """Nowhere yet."""
        return PathState(super().init(x0).x)

    def tell(self, state: DescentState, slate: Slate, answer: Answer) -> DescentState:
        """The same step, stretched."""
        direction = self.estimate(slate, answer)
        if direction is None or not isinstance(state, PathState):
            return replace(state, widened=state.widened + 1)
        heading = direction / np.linalg.norm(direction)
        kept = 1.0 - self.memory
        path = heading
        if state.path is not None:
            path = kept * state.path + np.sqrt(1.0 - kept**2) * heading
        agreed = float(np.clip(path @ path - 1.0, -1.0, 1.0))
        return replace(
            state,
            x=state.x - self.step * state.stretched * direction,
            estimates=state.estimates + 1,
            path=path,
            stretched=state.stretched * float(np.exp(self.pace * self.memory * agreed)),
        )


def methods(env: str) -> dict[str, AnyOptimizer]:
    """By their names in the table; those that see values say so."""
    body, _, _ = env.partition("@")
    found = {
        "recipe": optimizers.make(*recipe(body)),
        "auto": optimizers.make("auto", {"sigma0": SIGMA[body]}),
        "values": made(*BY_VALUES.get(env, BY_VALUES[body])),
    }
    if body == "HalfCheetah-v4":
        found["adaptive"] = PathRankARS(m=16, top=4)
        found["winners"] = made("rank-ars", WINNERS)
    return found


WINNERS = {"m": 16, "top": 4, "weigh": "winners", "step": 0.08, "mu": 0.08}
"""Of what was tried on HalfCheetah, the best on the seeds that it was tried on."""
BY_VALUES: dict[str, tuple[str, dict[str, Any]]] = {
    "Swimmer-v4": ("ars (values)", {"m": 4, "top": 2, "step": 0.1, "mu": 0.1}),
    "Reacher-v4": (
        "zo-sgd",
        {
            **{"m": 5, "baseline": "mean", "scale": "spread", "step": 0.02, "mu": 0.1},
            **{"step_decay": 0.995, "mu_decay": 0.998},
        },
    ),
    "HalfCheetah-v4": ("ars (values)", {"m": 16, "top": 4, "step": 0.05, "mu": 0.08}),
    "HalfCheetah-v4@250": ("ars (values)", {"m": 16, "top": 4, "step": 0.02, "mu": 0.03}),
}
"""Of what was tried of those that see values, the best; on Swimmer nothing else was."""
SIGMA = {"Swimmer-v4": 0.3, "Reacher-v4": 0.3, "HalfCheetah-v4": 0.03}
"""How far `auto` looks at first."""


def made(name: str, settings: Mapping[str, Any]) -> AnyOptimizer:
    """A method of the registry, without a line search, or one of those above."""
    for ours in (ValueARS, PathRankARS):
        if name == ours.name:
            return ours(**settings)
    without = {"line_search": 0} if name in ("zo-ranksgd", "zo-sgd") else {}
    return optimizers.make(name, {**without, **settings})


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


ROUNDS, SHOWN, PEOPLE = 20, 6, 8
"""Of a simulated person's run in the studio; people are seeds."""


def person() -> None:
    """How far ranking clips leads somebody who likes smooth forward motion."""
    from zorank.renderers import REGISTRY

    env = make_env("HalfCheetah-v4")
    print(f"{'vigour':>7}{'first best':>12}{'at the end':>12}{'lowest':>8}{'random best':>13}")
    for vigour in (0.25, 0.35, 0.5, 0.7, 1.0, 2.0):
        renderer: Any = REGISTRY["policy"](vigour=vigour)

        def liked(candidate: Vector, renderer: Any = renderer) -> float:
            return _smooth_and_forward(renderer, env, candidate)

        found = np.array([_taught(renderer.dim, liked, seed) for seed in range(PEOPLE)])
        first, end, random = found.mean(axis=0)
        print(f"{vigour:7}{first:12.0f}{end:12.0f}{found[:, 1].min():8.0f}{random:13.0f}")


def _taught(dim: int, liked: Callable[[Vector], float], seed: int) -> tuple[float, float, float]:
    """What such a person likes best of the first round, at the end, and of random gaits."""
    method = optimizers.make("rank-process", {"m": SHOWN, "space": "gaussian", "pick": True})
    draw = np.random.default_rng(seed)
    run = Run(method, draw.standard_normal(dim), seed)
    first = -np.inf
    for turn in range(ROUNDS):
        likes = np.array([liked(shown) for shown in run.ask()])
        first = likes.max() if turn == 0 else first
        run.tell(Ranking.from_values(-likes))
    strangers = draw.standard_normal((ROUNDS * SHOWN, dim))
    random = max(liked(one) for one in strangers)
    return float(first), liked(run.best()), random


def _smooth_and_forward(renderer: Any, env: Any, candidate: Vector) -> float:
    """How fast it gets ahead in a clip, less its jerks."""
    act = renderer.policy(candidate)
    observation, _ = env.reset(seed=renderer.reset)
    before, liked = np.zeros(env.action_space.shape), 0.0
    for _ in range(round(renderer.seconds / env.unwrapped.dt)):
        action = act(observation)
        observation, _, _, _, told = env.step(action)
        liked += told["x_velocity"] - 0.1 * float(np.square(action - before).sum())
        before = action
    return liked


def recipes() -> None:
    """What is learned from so many episodes, on fresh seeds."""
    env, episodes, seeds = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    known = methods(env)
    names = sys.argv[5:] or list(known)
    if unknown := set(names) - set(known):
        sys.exit(f"there is no {', '.join(unknown)} here; known: {', '.join(known)}")
    for name in names:
        measure(RESULTS, name, env, known[name], episodes, range(FRESH, FRESH + seeds))


def tune() -> None:
    """The same with settings of your own, on the seeds that settings are chosen by."""
    env, seeds, method, *given = sys.argv[2:]
    settings = read_values(given)
    name = f"{method} {json.dumps(settings)}"
    problem = problem_of(env)
    episodes = round(EPISODES[problem.env] / problem.ranked_share)
    measure(TUNING, name, env, made(method, settings), episodes, range(int(seeds)))


def problem_of(env: str) -> PolicyProblem:
    """ENV, or ENV@STEPS for one whose episodes are ranked after so many steps."""
    name, _, steps = env.partition("@")
    return PolicyProblem(name, ranked_steps=int(steps) if steps else None)


def measure(
    file: Path, name: str, env: str, optimizer: AnyOptimizer, episodes: int, seeds: Sequence[int]
) -> None:
    """Learn with each seed that the file does not hold yet; a few at a time are simulated in step.

    Rewards that were found under the same name with other settings are replaced.
    """
    settings = {f.name: getattr(optimizer, f.name) for f in fields(cast(Any, optimizer))}
    problem = problem_of(env)
    about: dict[str, Any] = {
        **{"env": problem.env, "ranked_steps": problem.ranked_steps, "episodes": episodes},
        **{"name": name, "method": optimizer.name, "looks": _looks(problem)},
        **{"clip": problem.clip, "settings": settings},
    }
    what = json.loads(json.dumps(about))
    key = ("env", "ranked_steps", "episodes", "name", "clip")
    while True:
        same = [row for row in _rows(file) if {**row, "rewards": 0} == {**what, "rewards": 0}]
        found = same[0]["rewards"] if same else {}
        missing = [seed for seed in seeds if str(seed) not in found][:TOGETHER_LEARNED]
        if not missing:
            break
        rewards = learned(problem, optimizer, episodes, missing)
        found |= {str(n): round(r, 3) for n, r in zip(missing, rewards, strict=True)}
        others = [row for row in _rows(file) if any(row[k] != what[k] for k in key)]
        rows = [*others, {**what, "rewards": found}]
        kept = sorted(rows, key=lambda row: [row[k] or 0 for k in key])
        file.write_text(json.dumps({"rows": kept}, indent=1) + "\n")
    ends = np.array([found[str(seed)] for seed in seeds])
    print(
        f"{env}, {episodes:,} episodes, {name}: {ends.mean():,.4g} ± {ends.std():.3g}, "
        f"median {np.median(ends):,.4g}, lowest {ends.min():,.4g}, {len(ends)} seeds"
    )


def _rows(file: Path) -> list[dict[str, Any]]:
    return list(json.loads(file.read_text())["rows"]) if file.exists() else []


def learned(
    problem: PolicyProblem, optimizer: AnyOptimizer, episodes: int, seeds: Sequence[int]
) -> list[float]:
    """Rewards on held-out resets after so many episodes, one for each seed.

    All are simulated in step: bit for bit what each would learn alone, in less time.
    """
    everyone = [Learning(problem, optimizer, seed) for seed in seeds]
    learning = everyone
    while learning := [one for one in learning if one.episodes + len(one.run.ask()) <= episodes]:
        step_together(learning)
    return rewards(everyone, _looks(problem))


def _looks(problem: PolicyProblem) -> int:
    return LOOKED_AT // problem.world.horizon


if __name__ == "__main__":
    known = (speed, clips, person, recipes, tune)
    {job.__name__: job for job in known}[sys.argv[1] if len(sys.argv) > 1 else "speed"]()
