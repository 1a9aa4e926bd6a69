"""Curves: the value at the best point, against candidates looked at; one run of one method each.

A trial is a cell of `zorank.experiments.sweep`. Its x0 and its draws depend on the seed alone, so
curves of the same seed can be compared in pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from zorank import optimizers, rng
from zorank.experiments.sweep import Row
from zorank.oracles import FunctionOracle, GaussianNoise
from zorank.problems import rosenbrock, sphere
from zorank.protocols import Oracle
from zorank.types import Vector

VERSION = "curves 1"

PROBLEMS: dict[str, Callable[[Vector], Any]] = {"quadratic": sphere, "rosenbrock": rosenbrock}

CALLS: dict[str, Callable[[int], int]] = {
    "zo-ranksgd": lambda m: 1,  # a ranking
    "zo-sgd": lambda m: m,  # a value each
    "scobo": lambda m: m - 1,  # comparisons of two
    "gld-fast": lambda m: 1,  # the best
    "cma-es": lambda m: 1,
}
"""How often a method asks its own kind of oracle about a slate of m."""

CHECKPOINTS_PER_DECADE = 40


@dataclass(frozen=True)
class Setting:
    """A method and its options, as pairs."""

    method: str
    options: tuple[tuple[str, Any], ...] = ()

    def with_options(self, **options: Any) -> Setting:
        """The same with some options changed or added."""
        return Setting(self.method, tuple(sorted({**dict(self.options), **options}.items())))

    def option(self, name: str) -> Any:
        """One of its options."""
        return dict(self.options)[name]


@dataclass(frozen=True)
class Trial:
    """One run.

    Attributes:
        problem: a name in `PROBLEMS`.
        dim: the dimension.
        setting: method and options.
        points: how many candidates are looked at.
        seed: of x0 ~ N(0, I), of the method's draws and of the noise.
        noise: the standard deviation of what the oracle adds to every value.
        revision: of the method that the result speaks of.
    """

    problem: str
    dim: int
    setting: Setting
    points: int
    seed: int
    noise: float = 0.0
    revision: int = 1


def trials_of(
    problem: str,
    dim: int,
    setting: Setting,
    points: int,
    seeds: Iterable[int],
    noise: float = 0.0,
) -> list[Trial]:
    """One trial for each seed."""
    revision = optimizers.REGISTRY[setting.method].revision
    return [Trial(problem, dim, setting, points, seed, noise, revision) for seed in seeds]


def checkpoints(points: int) -> list[int]:
    """The numbers of candidates at which a run is looked at, evenly spaced in their logarithm."""
    first = min(10, points)
    count = int(np.ceil(np.log10(points / first) * CHECKPOINTS_PER_DECADE)) + 1
    marks = np.geomspace(first, points, count).round()
    return [int(mark) for mark in np.unique(marks)]


def follow(trial: Trial) -> Row:
    """Run a trial: its value and its oracle calls when so many candidates were looked at."""
    f = PROBLEMS[trial.problem]
    optimizer = optimizers.make(trial.setting.method, dict(trial.setting.options))
    oracle = _oracle(f, trial)
    calls_of = CALLS[trial.setting.method]
    state = optimizer.init(rng.for_content(trial.seed, b"x0").standard_normal(trial.dim))
    marks = checkpoints(trial.points)
    values: list[float] = []
    calls: list[int] = []
    seen = asked = n = 0
    while True:
        slate = optimizer.ask(state, rng.for_round(trial.seed, n))
        upcoming = [mark for mark in marks[len(values) :] if mark < seen + len(slate)]
        if upcoming:
            values += [float(f(optimizer.best(state)))] * len(upcoming)
            calls += [asked] * len(upcoming)
        if len(values) == len(marks):
            return {"points": marks, "calls": calls, "values": values}
        state = optimizer.tell(state, slate, oracle.answer(slate))
        seen, asked, n = seen + len(slate), asked + calls_of(len(slate)), n + 1


def _oracle(f: Callable[[Vector], Any], trial: Trial) -> Oracle:
    if trial.noise:
        return GaussianNoise(f, trial.noise, seed=trial.seed, vectorized=True)
    return FunctionOracle(f, vectorized=True)


@dataclass(frozen=True, eq=False)
class Curves:
    """The runs of one method on one problem.

    Attributes:
        setting: method and options.
        seeds: of the runs.
        points: candidates looked at, (checkpoints,).
        calls: of the method's own oracle by then, (checkpoints,).
        values: at the best point, (runs, checkpoints).
    """

    setting: Setting
    seeds: tuple[int, ...]
    points: Vector
    calls: Vector
    values: Vector

    @classmethod
    def of(cls, trials: Iterable[Trial], rows: Mapping[Trial, Row]) -> Curves:
        """The curves of trials that differ in their seeds only."""
        runs = list(trials)
        found = [rows[trial] for trial in runs]
        return cls(
            runs[0].setting,
            tuple(trial.seed for trial in runs),
            np.array(found[0]["points"], dtype=np.float64),
            np.mean([row["calls"] for row in found], axis=0),
            np.array([row["values"] for row in found], dtype=np.float64),
        )

    def at(self, mark: float, by: str = "points") -> Vector:
        """The value of each run when at most so many points (or oracle calls) were spent."""
        spent = self.points if by == "points" else self.calls
        last = max(int(np.searchsorted(spent, mark, "right")) - 1, 0)
        return np.asarray(self.values.T[last])
