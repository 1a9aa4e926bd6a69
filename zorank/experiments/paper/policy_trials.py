"""Shared by the figures of policies: tasks, and trials that simulate several seeds in lockstep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from zorank import optimizers
from zorank.experiments.paper.curves import Setting
from zorank.experiments.sweep import Row, Sweep

VERSION = "policies 3"
TOGETHER = 10
"""The number of seeds that are simulated in lockstep."""


@dataclass(frozen=True)
class Task:
    """An environment and how policies are learned in it.

    Attributes:
        env: the environment.
        shared: whether the episodes of a question share their reset.
        queries: number of questions.
        seeds: number of runs.
        episodes: held-out episodes that a reward is the mean of.
        horizon: steps of an episode; None is the environment's own.
    """

    env: str
    shared: bool
    queries: int
    seeds: int
    episodes: int
    horizon: int | None = None

    @property
    def label(self) -> str:
        """The label in the figure."""
        return f"{self.env.partition('-')[0]}, {'shared' if self.shared else 'own'} resets"


@dataclass(frozen=True)
class Trial:
    """Runs that differ only in their seeds; the fields `looked_at` and `looks` are evaluations."""

    env: str
    shared: bool
    horizon: int | None
    setting: Setting
    queries: int
    seeds: tuple[int, ...]
    looked_at: int
    looks: int
    revision: int


def run_trial(trial: Trial) -> Row:
    """Run all seeds of a trial; return their rewards on held-out resets during the run."""
    from zorank.rl import PolicyProblem, PolicySearch, rewards, step_together

    problem = PolicyProblem(
        trial.env,
        bias=True,
        normalise=False,
        shared=trial.shared,
        horizon=trial.horizon,
        clip=False,
    )
    optimizer = optimizers.make(trial.setting.method, dict(trial.setting.options))
    searches = [PolicySearch(problem, optimizer, seed) for seed in trial.seeds]
    marks = sorted({round(mark) for mark in np.linspace(trial.queries, 0, trial.looks)})
    evaluated = []
    for query in range(trial.queries + 1):
        if query in marks:
            evaluated.append(rewards(searches, trial.looked_at))
        if query < trial.queries:
            step_together(searches)
    return {"queries": marks, "rewards": np.transpose(evaluated).tolist()}


SWEEP = Sweep("policies", run_trial, VERSION, kind="Schooling")


def trials_of(
    task: Task, setting: Setting, seeds: Sequence[int], queries: int, evaluations: int
) -> list[Trial]:
    """Return the trials of a task with a setting: the seeds in groups."""
    revision = optimizers.REGISTRY[setting.method].revision
    about = (task.env, task.shared, task.horizon, setting, queries)
    groups = [tuple(seeds[start : start + TOGETHER]) for start in range(0, len(seeds), TOGETHER)]
    return [Trial(*about, group, task.episodes, evaluations, revision) for group in groups]
