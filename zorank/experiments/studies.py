"""Shared by studies with simulated raters: trials, results by condition, paired claims.

A study compares methods in several conditions over the same seeds. Standard errors are over seeds.
Differences are taken seed by seed. A mean over cases is taken within each seed first, because
cases of the same seed are not independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from zorank.experiments.claims import Claim
from zorank.experiments.report import Report
from zorank.experiments.sweep import Row, Sweep
from zorank.optimizers import make
from zorank.protocols import AnyOptimizer

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from rich.console import Console

Leads = Mapping[str, "NDArray[np.float64]"]
"""By case: a paired difference per seed; larger is better."""


class AnyCondition(Protocol):
    """A method, its setting, and the case that it is measured in."""

    @property
    def method(self) -> str:
        """The name of the method."""
        ...

    @property
    def setting(self) -> float | None:
        """The value of the method's tuned option; None if it has none."""
        ...


C = TypeVar("C", bound=AnyCondition)


@dataclass(frozen=True)
class Trial(Generic[C]):
    """One session: a condition, a seed, and the revision of the method."""

    condition: C
    seed: int
    revision: int


@dataclass(frozen=True, eq=False)
class Sessions:
    """The sessions of one condition, over seeds; NaN where a study does not record a quantity.

    Attributes:
        setting: the value of the method's tuned option; None if it has none.
        gains: utility of the best candidate after each answer, (seeds, slates), in standard
            deviations above a random candidate.
        seconds: the longest time that the method computed between two slates, (seeds,).
        typical_seconds: the median of these times, (seeds,).
        noise: the rater's noise as the method estimates it, (seeds,).
    """

    setting: float | None
    gains: NDArray[np.float64]
    seconds: NDArray[np.float64]
    typical_seconds: NDArray[np.float64]
    noise: NDArray[np.float64]

    def mean(self, at: int = -1) -> float:
        """Return the mean gain after this answer."""
        return float(self.gains[:, at].mean())

    def to_json(self) -> dict[str, Any]:
        """Return the setting and the mean gains with standard errors, after every answer."""
        errors = [standard_error(self.gains[:, n]) for n in range(self.gains.shape[1])]
        return {
            "setting": self.setting,
            "gain": self.mean(),
            "standard_error": errors[-1],
            "gains": self.gains.mean(axis=0).tolist(),
            "standard_errors": errors,
        }


def collect(rows: Mapping[Trial[C], Row]) -> dict[C, Sessions]:
    """Group rows by condition, with seeds in order, so that conditions are paired by seed."""
    grouped: dict[C, list[Row]] = {}
    for trial, row in rows.items():
        grouped.setdefault(trial.condition, []).append(row)
    return {
        c: Sessions(c.setting, *map(_column(group), _RECORDED)) for c, group in grouped.items()
    }


_RECORDED = ("gains", "seconds", "typical_seconds", "noise")


def _column(rows: Sequence[Row]) -> Callable[[str], NDArray[np.float64]]:
    """Return a function from the name of a result to its values; None becomes NaN."""
    return lambda name: np.array([row.get(name) for row in rows], dtype=np.float64)


def best_setting(tried: Sequence[Sessions], at: int = -1) -> Sessions:
    """Return the sessions with the largest mean gain: the best setting in hindsight."""
    return max(tried, key=lambda sessions: sessions.mean(at))


def revision_of(optimizer: AnyOptimizer) -> int:
    """Return the revision of a method; if it wraps another method, that of the inner one."""
    inner = getattr(optimizer, "method", None)
    return make(inner).revision if inner else optimizer.revision


def standard_error(values: NDArray[np.float64]) -> float | None:
    """Return the standard error of the mean; None for fewer than two values."""
    if len(values) < 2:
        return None
    return float(values.std(ddof=1) / math.sqrt(len(values)))


def with_error(values: NDArray[np.float64]) -> dict[str, Any]:
    """Return the mean and its standard error, as JSON values."""
    return {"measured": float(values.mean()), "standard_error": standard_error(values)}


def lead_claim(name: str, leads: Leads, needed: float, *, least: bool = False) -> Claim:
    """Claim that the mean lead over cases, or the least lead, is at least `needed`."""
    by_case = {case: with_error(values) for case, values in leads.items()}
    lowest = min(by_case, key=lambda case: by_case[case]["measured"])
    found = by_case[lowest] if least else with_error(np.mean(list(leads.values()), axis=0))
    return benchmark_claim(
        name,
        holds=found["measured"] >= needed,
        needed=f"≥ {needed:g}",
        found=found,
        where=lowest if least else f"least {by_case[lowest]['measured']:.2f}: {lowest}",
        cases=by_case,
    )


def benchmark_claim(
    name: str,
    *,
    holds: bool,
    needed: str,
    found: Mapping[str, Any],
    where: str,
    cases: Mapping[str, Mapping[str, Any]],
) -> Claim:
    """Build the claim of a benchmark; `found` has measured, standard_error and perhaps median."""
    return Claim(
        name=name, says="", where=where, at="", holds=holds, needed=needed, cases=cases, **found
    )


class AnyStudy(Protocol):
    """The conditions and seeds that a benchmark runs."""

    def trials(self) -> Sequence[Trial[Any]]:
        """Return all trials."""
        ...


S = TypeVar("S", bound=AnyStudy)


@dataclass(frozen=True)
class Benchmark(Generic[S]):
    """A command of `zorank bench`: runs the trials of a study and reports their results.

    Attributes:
        sweep: runs trials, and resumes them.
        claims, summary: computed from a study and the results by condition.
        record: a trial and its row as one record of NAME.csv.
        draw: draws a study's results on an empty figure.
    """

    sweep: Sweep[Any]
    claims: Callable[[S, Any], Sequence[Claim]]
    summary: Callable[[S, Any], Mapping[str, Any]]
    record: Callable[[Any, Row], Row]
    draw: Callable[[Any, S, Any], None]

    def run(
        self, study: S, folder: Path, *, workers: int | None = None, console: Console | None = None
    ) -> dict[Trial[Any], Row]:
        """Return the row of each trial; trials that are stored in `folder` are not rerun."""
        return self.sweep.run(study.trials(), folder, workers=workers, console=console)

    def report(self, study: S, rows: Mapping[Trial[Any], Row]) -> Report:
        """Build the report of a study from the rows of its trials."""
        results = collect(rows)
        records = [self.record(trial, row) for trial, row in rows.items()]
        return Report(
            name=self.sweep.name,
            claims=self.claims(study, results),
            summary=self.summary(study, results),
            columns=list(records[0]),
            records=[list(record.values()) for record in records],
            draw=lambda figure: self.draw(figure, study, results),
        )


def record(trial: Trial[Any], condition: Mapping[str, Any], results: Mapping[str, Any]) -> Row:
    """Return a flat record of a trial, for a table: condition, seed, revision and results."""
    return {**condition, "seed": trial.seed, "revision": trial.revision, **results}


def spaced(gains: Sequence[float]) -> str:
    """Return gains as one cell of a table."""
    return " ".join(f"{gain:.6g}" for gain in gains)
