"""Policies from ranked episodes: the loop between an optimizer and an environment.

A run's log holds, with each answer, what was seen in all episodes up to it. So the statistics that
observations are divided by are part of the fold like everything else: undo takes them back, and a
run goes on exactly where it stopped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from zorank import optimizers
from zorank.errors import ReplayError
from zorank.problems.policies import LearnedPolicy, PolicyProblem, losses
from zorank.problems.policies.moments import Moments
from zorank.protocols import AnyOptimizer, Store
from zorank.run import Run

RECIPES: dict[str, tuple[str, dict[str, Any]]] = {}
"""The best method found for an environment, where it is not the default."""
DEFAULT: tuple[str, dict[str, Any]] = ("rank-ars", {"m": 16, "top": 4, "step": 0.02, "mu": 0.03})


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
        kept = {"policy": _plain(problem)}
        self.run = Run(optimizer, problem.start(), seed, store, name, meta=kept)
        if self.run.record.meta.get("policy") != kept["policy"]:
            raise ReplayError(
                f"the run {self.run.name!r} learns another policy: "
                f"{self.run.record.meta.get('policy')}; choose another name"
            )

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
        slate, seen = self.run.ask(), self.seen
        index = len(self.run.history)
        resets = self.problem.resets(self.run.record.seed, index, len(slate))
        found = self.problem.episodes(list(slate), resets, seen)
        sane = found.returns[np.isfinite(found.returns)]
        note = {
            "seen": (seen + found.seen).as_note(),
            "mean_return": float(sane.mean()) if sane.size else None,
            "diverged": int(found.returns.size - sane.size),
        }
        self.run.tell(slate.answer_from(losses(found.returns)), note=note)
        return self.run.history[-1]

    def reward(self, episodes: int = 10) -> float:
        """The present policy's mean return on held-out resets; the optimizer is never told."""
        return self.problem.reward(self.run.best(), self.seen, episodes)

    def policy(self) -> LearnedPolicy:
        """The present policy, as a function of an observation."""
        discrete = bool(getattr(self.problem.world, "discrete", False))
        return LearnedPolicy(self.problem, self.run.best(), self.seen, discrete)


def recipe(env: str) -> tuple[str, dict[str, Any]]:
    """The best method found for an environment, and its settings."""
    method, settings = RECIPES.get(env.partition("-v")[0], DEFAULT)
    return method, dict(settings)


def _plain(problem: PolicyProblem) -> dict[str, Any]:
    return {**asdict(problem), "hidden": list(problem.hidden)}
