"""Policies from ranked episodes: the loop between an optimizer and an environment.

A run's log holds, with each answer, what was seen in all episodes up to it. So the statistics that
observations are divided by are part of the fold like everything else: undo takes them back, and a
run goes on exactly where it stopped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from zorank import optimizers
from zorank.errors import InvalidInput, ReplayError
from zorank.problems.policies import LearnedPolicy, PolicyProblem, losses
from zorank.problems.policies.moments import Moments
from zorank.problems.policies.worlds import Episodes
from zorank.protocols import AnyOptimizer, Store
from zorank.run import Run
from zorank.stores import MemoryStore, open_store

RECIPES: dict[str, tuple[str, dict[str, Any]]] = {
    "Swimmer": ("rank-ars", {"m": 8, "top": 3, "weigh": "winners", "step": 0.2, "mu": 0.2}),
    "Reacher": (
        "zo-ranksgd",
        {
            "m": 5,
            "step": 0.03,
            "mu": 0.1,
            "step_decay": 0.995,
            "mu_decay": 0.998,
            "line_search": 0,
        },
    ),
}
"""The best method found for an environment, where it is not the default."""
DEFAULT: tuple[str, dict[str, Any]] = ("rank-ars", {"m": 16, "top": 4, "step": 0.02, "mu": 0.03})

RANKED_STEPS = {"HalfCheetah": 250}
"""How many first steps of an episode tell enough to rank it, where that was measured."""

PAPER: tuple[str, dict[str, Any]] = (
    "zo-ranksgd",
    {
        "m": 5,
        "k": 5,
        "step": 0.1,
        "mu": 0.1,
        "step_decay": 0.99,
        "mu_decay": 0.99,
        "line_search": 0,
    },
)
"""A (5, 5)-oracle, η = μ decayed, no line search."""


class Learning:
    """A policy being learned, a round at a time.

    Args:
        problem: what to learn, and where.
        optimizer: an optimizer or its name; None is the best recipe known for the environment.
        seed: draws the candidates and the resets.
        store: where the log is kept; None keeps it in memory.
        name: the run's name in the store; one that exists is continued.
    """

    def __init__(
        self,
        problem: PolicyProblem,
        optimizer: AnyOptimizer | str | None = None,
        seed: int = 0,
        store: Store | str | None = None,
        name: str | None = None,
    ) -> None:
        self.problem = problem
        if optimizer is None:
            optimizer = optimizers.make(*recipe(problem.env))
        kept = open_store(store) if isinstance(store, str) else store or MemoryStore()
        _check_same(problem, kept, name)
        meta = {"policy": problem.as_note()}
        self.run = Run(optimizer, problem.start(), seed, kept, name, meta=meta)
        self._looked: tuple[tuple[int, bytes], float] | None = None

    @property
    def seen(self) -> Moments:
        """What all episodes so far have seen."""
        past = self.run.history[-1:]
        return Moments.from_note(past[0]["seen"]) if past else self.problem.nothing_seen()

    @property
    def episodes(self) -> int:
        """Episodes that were ranked."""
        return self.run.points

    def step(self) -> Mapping[str, Any]:
        """One round: its episodes, their order told, a row of history."""
        slate = self.run.ask()
        return self.tell(self.problem.episodes(list(slate), self.resets(), self.seen))

    def resets(self) -> list[int]:
        """Where the episodes of the next round start."""
        index, many = len(self.run.history), len(self.run.ask())
        return self.problem.resets(self.run.record.seed, index, many)

    def tell(self, found: Episodes) -> Mapping[str, Any]:
        """What came of the next round's candidates, of which the optimizer is told the order."""
        slate, seen, looked = self.run.ask(), self.seen, self._seen_now()
        if len(found.returns) != len(slate):
            raise InvalidInput(
                f"the next round has {len(slate)} episodes, found {len(found.returns)}"
            )
        sane = found.returns[np.isfinite(found.returns)]
        lost = looked is not None and not np.isfinite(looked)
        note = {
            "reward_before": None if lost else looked,
            "lost_before": lost,
            "seen": (seen + found.seen).as_note(),
            "mean_return": float(sane.mean()) if sane.size else None,
            "diverged": int(found.returns.size - sane.size),
        }
        self.run.tell(slate.answer_from(losses(found.returns)), note=note)
        return self.run.history[-1]

    def reward(self, episodes: int = 10) -> float:
        """The present policy's mean return on held-out resets; the optimizer is never told.

        The log notes it with the next answer, for the curve.
        """
        found = self.problem.reward(self.run.best(), self.seen, episodes)
        self._looked = self._now(), found
        return found

    def _now(self) -> tuple[int, bytes]:
        """What a look is of; after an undo the same round may be another policy's."""
        return len(self.run.history), self.run.best().tobytes()

    def _seen_now(self) -> float | None:
        """The reward, if it was looked at since the last answer."""
        return self._looked[1] if self._looked and self._looked[0] == self._now() else None

    def curve(self) -> list[dict[str, Any]]:
        """Every look at the reward: the round, the episodes by then, the reward.

        It is −inf where an episode left the numbers.
        """
        history = self.run.history
        looks = [
            -np.inf if row.get("lost_before") else row.get("reward_before") for row in history
        ]
        episodes = [0, *(row["points"] for row in history)]
        return [
            {"round": index, "episodes": episodes[index], "reward": reward}
            for index, reward in enumerate([*looks, self._seen_now()])
            if reward is not None
        ]

    def policy(self) -> LearnedPolicy:
        """The present policy, as a function of an observation."""
        return LearnedPolicy(self.problem, self.run.best(), self.seen, self.problem.world.action)


def step_together(learners: Sequence[Learning]) -> None:
    """One round of each, simulated in step: bit for bit what each would learn alone, sooner.

    Args:
        learners: of the same problem, with seeds or optimizers of their own.
    """
    _check_together(learners)
    rounds = [(list(one.run.ask()), one.resets(), one.seen) for one in learners]
    found = learners[0].problem.episodes_in_step(rounds)
    for one, episodes in zip(learners, found, strict=True):
        one.tell(episodes)


def rewards(learners: Sequence[Learning], episodes: int = 10) -> list[float]:
    """The present reward of each, on held-out resets; their logs do not note it."""
    _check_together(learners)
    learned = [(one.run.best(), one.seen) for one in learners]
    return learners[0].problem.rewards(learned, episodes)


def _check_together(learners: Sequence[Learning]) -> None:
    problems = {one.problem for one in learners}
    if len(problems) != 1 or len({id(one) for one in learners}) != len(learners):
        raise InvalidInput(
            "those who learn together are different learners of one problem; found "
            f"{len(learners)} of {len(problems)} problems"
        )


def recipe(env: str, m: int | None = None) -> tuple[str, dict[str, Any]]:
    """The best method found for an environment, and its settings, made to fit slates of m."""
    method, settings = RECIPES.get(_kind(env), DEFAULT)
    return method, fitted(settings, m)


def enough_to_rank(env: str) -> int | None:
    """The first steps that tell a good episode of this environment; None if all are needed."""
    return RANKED_STEPS.get(_kind(env))


def _kind(env: str) -> str:
    return env.partition("-v")[0]


def fitted(settings: Mapping[str, Any], m: int | None) -> dict[str, Any]:
    """Settings for slates of m: no more ranked than shown, no more directions than pairs."""
    if m is None:
        return dict(settings)
    if not isinstance(m, int) or m < 1:
        raise InvalidInput(f"a question has a whole number of episodes, found {m!r}")
    most = {"k": m, "top": max(1, m // 2)}
    limited = {name: min(settings[name], most[name]) for name in most if name in settings}
    return {**settings, **limited, "m": m}


def _check_same(problem: PolicyProblem, store: Store, name: str | None) -> None:
    """A run goes on with the policy it began with."""
    if name is None or name not in [record.name for record in store.runs()]:
        return
    kept = store.record(name).meta.get("policy")
    if kept is None:
        raise ReplayError(f"the run {name!r} that is kept there learns no policy; name another")
    before, now = PolicyProblem.from_note(kept).as_note(), problem.as_note()
    differ = [
        f"{key} was {before[key]!r}, is {now[key]!r}" for key in now if before[key] != now[key]
    ]
    if differ:
        raise ReplayError(
            f"what is kept there learns another policy ({', '.join(differ)}); go on with that, or "
            "keep this one elsewhere"
        )
