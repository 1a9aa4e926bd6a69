"""Curves: the value at the best point against the number of evaluated candidates.

A trial is one run of one method. Its x0 and its random draws depend on the seed alone, so curves
of the same seed are compared in pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zorank import optimizers, rng
from zorank.experiments.sweep import Row
from zorank.oracles import FunctionOracle, GaussianNoise
from zorank.problems import rosenbrock, sphere
from zorank.protocols import Oracle
from zorank.types import Matrix, Vector

VERSION = "curves 2"

PROBLEMS: dict[str, Callable[[Vector], Any]] = {"quadratic": sphere, "rosenbrock": rosenbrock}

CALLS: dict[str, Callable[[int], int]] = {
    "zo-ranksgd": lambda m: 1,  # a ranking
    "zo-ranksgd-memory": lambda m: 1,
    "zo-sgd": lambda m: m,  # a value each
    "scobo": lambda m: m - 1,  # comparisons of two
    "gld-fast": lambda m: 1,  # the best
    "cma-es": lambda m: 1,
    "auto": lambda m: 1,
}
"""The number of oracle calls for a slate of m, for the kind of oracle that each method uses."""

CHECKPOINTS_PER_DECADE = 40
CALL_MARKS = (20, 50, 100, 300, 500)
"""The numbers of oracle calls after which values are recorded."""


@dataclass(frozen=True)
class Setting:
    """A method and its options, as pairs."""

    method: str
    options: tuple[tuple[str, Any], ...] = ()

    def with_options(self, **options: Any) -> Setting:
        """Return the setting with some options changed or added."""
        return Setting(self.method, tuple(sorted({**dict(self.options), **options}.items())))

    def option(self, name: str) -> Any:
        """Return the value of an option."""
        return dict(self.options)[name]


@dataclass(frozen=True)
class Trial:
    """One run.

    Attributes:
        problem: a name in `PROBLEMS`.
        dim: the dimension.
        setting: method and options.
        points: how many candidates are evaluated.
        seed: of x0 ~ N(0, I), of the method's draws and of the noise.
        noise: the standard deviation of the noise that the oracle adds to every value.
        revision: of the method.
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
    """Return one trial per seed."""
    revision = optimizers.REGISTRY[setting.method].revision
    return [Trial(problem, dim, setting, points, seed, noise, revision) for seed in seeds]


def marks_within(first: float, points: int) -> list[int]:
    """Return the numbers of candidates that tables and claims report: 10, 30, 100 and so on."""
    marks = (10**n * lead for n in range(1, 7) for lead in (1, 3))
    return [mark for mark in marks if first <= mark <= points]


def checkpoints(points: int) -> list[int]:
    """Return the numbers of candidates at which values are recorded.

    They are spaced logarithmically, and include all marks that are reported.
    """
    first = min(10, points)
    count = int(np.ceil(np.log10(points / first) * CHECKPOINTS_PER_DECADE)) + 1
    spaced = np.geomspace(first, points, count).round()
    return sorted({*map(int, spaced), *marks_within(first, points)})


def follow(trial: Trial) -> Row:
    """Run a trial; return its values at each checkpoint and after each mark of oracle calls."""
    f = PROBLEMS[trial.problem]
    optimizer = optimizers.make(trial.setting.method, dict(trial.setting.options))
    oracle = _oracle(f, trial)
    calls_of = CALLS[trial.setting.method]
    state = optimizer.init(rng.for_content(trial.seed, b"x0").standard_normal(trial.dim))
    marks = checkpoints(trial.points)
    values: list[float] = []
    calls: list[int] = []
    at_calls: list[float] = []
    seen = asked = n = 0
    while True:
        slate = optimizer.ask(state, rng.for_round(trial.seed, n))
        upcoming = [mark for mark in marks[len(values) :] if mark < seen + len(slate)]
        next_calls = asked + calls_of(len(slate))
        calls_upcoming = [mark for mark in CALL_MARKS[len(at_calls) :] if mark < next_calls]
        if upcoming or calls_upcoming:
            value = float(f(optimizer.best(state)))
            values += [value] * len(upcoming)
            calls += [asked] * len(upcoming)
            at_calls += [value] * len(calls_upcoming)
        if len(values) == len(marks):
            return {"points": marks, "calls": calls, "values": values, "at_calls": at_calls}
        state = optimizer.tell(state, slate, oracle.answer(slate))
        seen, asked, n = seen + len(slate), next_calls, n + 1


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
        points: candidates evaluated, (checkpoints,).
        calls: oracle calls, (checkpoints,).
        values: at the best point, (runs, checkpoints).
        at_calls: at the best point, (runs, marks of oracle calls).
    """

    setting: Setting
    seeds: tuple[int, ...]
    points: Vector
    calls: Vector
    values: Matrix
    at_calls: Matrix

    @classmethod
    def of(cls, trials: Iterable[Trial], rows: Mapping[Trial, Row]) -> Curves:
        """Collect the curves of trials that differ only in their seeds."""
        runs = list(trials)
        found = [rows[trial] for trial in runs]
        return cls(
            runs[0].setting,
            tuple(trial.seed for trial in runs),
            np.array(found[0]["points"], dtype=np.float64),
            np.mean([row["calls"] for row in found], axis=0),
            np.array([row["values"] for row in found], dtype=np.float64),
            _same_length([row["at_calls"] for row in found]),
        )

    def at(self, mark: float, by: str = "points") -> Vector:
        """Return the value of each run after `mark` points or oracle calls.

        A slate that would exceed the mark does not count.
        """
        if by == "calls":
            return np.asarray(self.at_calls[:, CALL_MARKS.index(int(mark))])
        return np.asarray(self.values[:, self.points.tolist().index(mark)])


def _same_length(rows: Sequence[Sequence[float]]) -> Matrix:
    """Return rows as a matrix; those that are longer than the shortest are cut."""
    least = min(map(len, rows))
    return np.array([row[:least] for row in rows], dtype=np.float64).reshape(len(rows), least)
