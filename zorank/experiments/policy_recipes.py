"""Policies learned by several methods from equal numbers of episodes (`zorank bench policies`).

Methods that get only an order are compared with ARS and ZO-SGD, which get rewards, on the same
problem: normalised observations, clipped actions, shared resets, no bias. Settings are chosen on
seeds from 0 on; results are reported on seeds from 200 on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np

from zorank import optimizers
from zorank.errors import unknown_name
from zorank.estimators import cloud_of
from zorank.optimizers.descent import DescentState
from zorank.optimizers.rank_ars import RankARS
from zorank.protocols import AnyOptimizer
from zorank.rl import PolicyProblem, PolicySearch, recipe, rewards, step_together
from zorank.slates import Slate, Space
from zorank.types import Answer, Values, Vector

EPISODES = {"Swimmer-v4": 500, "HalfCheetah-v4": 500, "Reacher-v4": 2500}
"""The budget of tuning, in whole episodes."""
FIRST_REPORTED_SEED = 200
"""Settings are chosen on the seeds below."""
EVALUATION_STEPS = 10_000
"""Steps on held-out resets that a reward is the mean of: 10 long episodes, 200 of Reacher's."""
BATCH = 10
"""Seeds that are simulated together; the results are written after each batch."""


@dataclass(frozen=True, kw_only=True)
class ValueARS(RankARS):
    """ARS as published: a direction's weight is its rewards over their standard deviation."""

    name: ClassVar[str] = "ars (values)"

    def probe(self, x: Vector, radius: float, space: Space, rng: np.random.Generator) -> Slate:
        """Return the slate of rank-ars, but ask for values."""
        return Slate(super().probe(x, radius, space, rng).design, question="values")

    def estimate(self, slate: Slate, answer: Answer) -> Vector | None:
        """Return the sum of the best directions, weighted by the differences of their values."""
        if not isinstance(answer, Values):
            raise TypeError(f"expected Values, found {type(answer).__name__}")
        pairs = np.array(answer.values).reshape(2, -1)
        count = self.top or pairs.shape[1] // 2
        used = np.argsort(pairs.min(axis=0), kind="stable")[:count]
        weights = np.zeros_like(pairs)
        weights[:, used] = pairs[:, used]
        std = pairs[:, used].std()
        return None if std == 0 else cloud_of(slate).combine(weights.ravel() / (count * std))


@dataclass(frozen=True, eq=False)
class PathState(DescentState):
    """The state of a descent with an evolution path.

    Attributes:
        path: the evolution path; its expected squared length is 1 for independent directions.
        stretched: the factor of the step size.
    """

    path: Vector | None = None
    stretched: float = 1.0


@dataclass(frozen=True, kw_only=True)
class PathRankARS(RankARS):
    """rank-ars whose step size grows if successive directions agree, else shrinks.

    Attributes:
        memory: the weight of the newest direction in the path.
        pace: the rate at which the step size adapts.
    """

    name: ClassVar[str] = "rank-ars, step by its path"

    memory: float = 0.2
    pace: float = 0.2

    def init(self, x0: Vector) -> PathState:
        """Return the state before the first round, without a path."""
        return PathState(super().init(x0).x)

    def tell(self, state: DescentState, slate: Slate, answer: Answer) -> DescentState:
        """Take the step of rank-ars times the factor, and update path and factor."""
        direction = self.estimate(slate, answer)
        if direction is None or not isinstance(state, PathState):
            return replace(state, widened=state.widened + 1)
        heading = direction / np.linalg.norm(direction)
        decay = 1.0 - self.memory
        path = heading
        if state.path is not None:
            path = decay * state.path + np.sqrt(1.0 - decay**2) * heading
        agreement = float(np.clip(path @ path - 1.0, -1.0, 1.0))
        return replace(
            state,
            x=state.x - self.step * state.stretched * direction,
            estimates=state.estimates + 1,
            path=path,
            stretched=state.stretched * float(np.exp(self.pace * self.memory * agreement)),
        )


WINNERS = {"m": 16, "top": 4, "weigh": "winners", "step": 0.08, "mu": 0.08}
"""The best settings of `weigh: winners` on HalfCheetah, on the tuning seeds."""
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
"""The best tuned method that gets values; on Swimmer only this one was tuned."""
SIGMA = {"Swimmer-v4": 0.3, "Reacher-v4": 0.3, "HalfCheetah-v4": 0.03}
"""The initial radius of `auto`."""


def methods(env: str) -> dict[str, AnyOptimizer]:
    """Return the compared methods by their names in the table."""
    name = problem_of(env).env
    found = {
        "recipe": optimizers.make(*recipe(name)),
        "auto": optimizers.make("auto", {"sigma0": SIGMA[name]}),
        "values": make_method(*BY_VALUES.get(env, BY_VALUES[name])),
    }
    if name == "HalfCheetah-v4":
        found["adaptive"] = PathRankARS(m=16, top=4)
        found["winners"] = make_method("rank-ars", WINNERS)
    return found


def make_method(name: str, settings: Mapping[str, Any]) -> AnyOptimizer:
    """Make a method of the registry, without a line search, or one of this module."""
    for ours in (ValueARS, PathRankARS):
        if name == ours.name:
            return ours(**settings)
    without = {"line_search": 0} if name in ("zo-ranksgd", "zo-sgd") else {}
    return optimizers.make(name, {**without, **settings})


def problem_of(env: str) -> PolicyProblem:
    """Return the problem ENV, or ENV@STEPS whose episodes are ranked by their first STEPS."""
    name, _, steps = env.partition("@")
    if name not in EPISODES:
        raise unknown_name("environment with tuned methods", name, EPISODES)
    return PolicyProblem(name, ranked_steps=int(steps) if steps else None)


def tuning_episodes(env: str) -> int:
    """Return the number of episodes of a tuning run, with the same steps for ENV@STEPS."""
    problem = problem_of(env)
    return round(EPISODES[problem.env] / problem.ranked_share)


@dataclass(frozen=True)
class Measurement:
    """The rewards of a method after a number of episodes, one for each seed."""

    env: str
    episodes: int
    name: str
    rewards: tuple[float, ...]

    def __str__(self) -> str:
        ends = np.array(self.rewards)
        return (
            f"{self.env}, {self.episodes:,} episodes, {self.name}: {ends.mean():,.4g} ± "
            f"{ends.std():.3g}, median {np.median(ends):,.4g}, lowest {ends.min():,.4g}, "
            f"{len(ends)} seeds"
        )


def measure(
    file: Path, name: str, env: str, optimizer: AnyOptimizer, episodes: int, seeds: Sequence[int]
) -> Measurement:
    """Learn with each seed that the file does not have yet, and add the rewards to the file.

    Rewards of the same name with other settings are replaced.
    """
    problem = problem_of(env)
    row = _describe(problem, name, optimizer, episodes)
    while missing := [seed for seed in seeds if str(seed) not in _stored(file, row)][:BATCH]:
        learned = learn(problem, optimizer, episodes, missing)
        new = {str(seed): round(r, 3) for seed, r in zip(missing, learned, strict=True)}
        _write(file, {**row, "rewards": {**_stored(file, row), **new}})
    stored = _stored(file, row)
    return Measurement(env, episodes, name, tuple(stored[str(seed)] for seed in seeds))


def _describe(
    problem: PolicyProblem, name: str, optimizer: AnyOptimizer, episodes: int
) -> dict[str, Any]:
    """Return what identifies a row of the file, as JSON reads it."""
    settings = {f.name: getattr(optimizer, f.name) for f in fields(cast(Any, optimizer))}
    row = {
        **{"env": problem.env, "ranked_steps": problem.ranked_steps, "episodes": episodes},
        **{"name": name, "method": optimizer.name, "looks": _evaluation_episodes(problem)},
        **{"clip": problem.clip, "settings": settings},
    }
    return dict(json.loads(json.dumps(row)))


def _stored(file: Path, row: Mapping[str, Any]) -> dict[str, float]:
    """Return the rewards by seed in the file's row with this description."""
    for stored in _rows(file):
        if {**stored, "rewards": None} == {**row, "rewards": None}:
            return dict(stored["rewards"])
    return {}


def _write(file: Path, row: Mapping[str, Any]) -> None:
    """Put a row into the file, in the place of the one with the same key."""
    key = ("env", "ranked_steps", "episodes", "name", "clip")
    others = [one for one in _rows(file) if any(one[k] != row[k] for k in key)]
    rows = sorted([*others, row], key=lambda one: [one[k] or 0 for k in key])
    file.write_text(json.dumps({"rows": rows}, indent=1) + "\n")


def _rows(file: Path) -> list[dict[str, Any]]:
    return list(json.loads(file.read_text())["rows"]) if file.exists() else []


def learn(
    problem: PolicyProblem, optimizer: AnyOptimizer, episodes: int, seeds: Sequence[int]
) -> list[float]:
    """Return the rewards on held-out resets after a number of episodes, one for each seed."""
    searches = [PolicySearch(problem, optimizer, seed) for seed in seeds]
    running = searches
    while running := [one for one in running if one.episodes + len(one.run.ask()) <= episodes]:
        step_together(running)
    return rewards(searches, _evaluation_episodes(problem))


def _evaluation_episodes(problem: PolicyProblem) -> int:
    return EVALUATION_STEPS // problem.environment.horizon
