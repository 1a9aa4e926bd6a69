"""Figures of curves: value against points, one line per method, with claims that compare lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zorank.experiments.claims import Claim, fishers_f, students_t
from zorank.experiments.paper.context import FigureContext
from zorank.experiments.paper.curves import (
    VERSION,
    Curves,
    Setting,
    Trial,
    follow,
    marks_within,
    trials_of,
)
from zorank.experiments.report import Report
from zorank.experiments.sweep import Sweep
from zorank.types import Vector

LEAST_VALUE = 1e-300
PAR = 0.5
"""A method is "on par" if its values are at most twice those of the other."""


@dataclass(frozen=True)
class Line:
    """A line in a figure: one method on one problem, several runs.

    Attributes:
        problem: its name.
        dim: the dimension.
        label: the label in the figure.
        setting: method and options.
        points: how many candidates each run evaluates.
        seeds: of the runs.
        noise: the standard deviation of the noise that the oracle adds to every value.
    """

    problem: str
    dim: int
    label: str
    setting: Setting
    points: int
    seeds: tuple[int, ...]
    noise: float = 0.0

    def trials(self) -> list[Trial]:
        """Return one trial per seed."""
        return trials_of(self.problem, self.dim, self.setting, self.points, self.seeds, self.noise)


def run_lines(context: FigureContext, figure: str, lines: Sequence[Line]) -> dict[Line, Curves]:
    """Return the curves of every line of a figure."""
    trials = [trial for line in lines for trial in line.trials()]
    rows = context.run(Sweep(figure, follow, VERSION), trials)
    return {line: Curves.of(line.trials(), rows) for line in lines}


def curve_report(
    context: FigureContext,
    name: str,
    title: str,
    curves: Mapping[Line, Curves],
    claims: Sequence[Claim],
    draw: Callable[[Any], None],
    settings: Mapping[str, Any],
    summarized: Iterable[Line] | None = None,
) -> Report:
    """Build the report of a figure of curves; its summary has the given lines, or all of them."""
    return context.report(
        name=name,
        title=title,
        claims=claims,
        draw=draw,
        columns=COLUMNS,
        records=_records(curves),
        details={
            "x0": "N(0, I)",
            **settings,
            "lines": [_summary(line, curves[line]) for line in (summarized or curves)],
        },
        measure="How many times lower the value is, from paired runs",
    )


def ratio_claims(
    name: str,
    says: str,
    where: str,
    ours: Curves,
    theirs: Curves,
    marks: Iterable[float],
    by: str = "points",
    par: bool = False,
) -> list[Claim]:
    """Claim that our values are lower, or on par, after each number of points or calls."""
    claims = []
    for mark in marks:
        measured, interval = value_ratio(ours.at(mark, by), theirs.at(mark, by))
        needed = PAR if par else 1.0
        holds, at_mark = interval[0] > needed, f"{mark:,.0f} {by}"
        claims.append(Claim(name, says, where, at_mark, holds, measured, interval, needed))
    return claims


def value_ratio(ours: Vector, theirs: Vector) -> tuple[float, tuple[float, float]]:
    """Return the geometric mean of theirs / ours over paired runs, and its 95% interval.

    The interval is Student's t over the logarithms.
    """
    logs = np.log(np.maximum(theirs, LEAST_VALUE)) - np.log(np.maximum(ours, LEAST_VALUE))
    mean = float(logs.mean())
    if len(logs) < 2:
        return math.exp(mean), (0.0, math.inf)
    t = students_t(0.975, len(logs) - 1)
    half = float(t * logs.std(ddof=1) / math.sqrt(len(logs)))
    return math.exp(mean), (math.exp(mean - half), math.exp(mean + half))


def spread_claim(name: str, says: str, where: str, at: str, ours: Vector, theirs: Vector) -> Claim:
    """Claim that our runs vary less: how many times smaller our coefficient of variation is.

    The 95% interval is that of the ratio of two variances of normal samples (Fisher's F).
    """
    measured = float(_variation(theirs) / _variation(ours))
    interval = spread_interval(measured, len(ours), len(theirs))
    return Claim(name, says, where, at, interval[0] > 1, measured, interval)


def spread_interval(ratio: float, ours: int, theirs: int) -> tuple[float, float]:
    """Return the 95% interval of a ratio of standard deviations over `theirs` and `ours` runs."""
    if min(ours, theirs) < 2:
        return 0.0, math.inf
    low, high = (fishers_f(q, theirs - 1, ours - 1) for q in (0.975, 0.025))
    return ratio / math.sqrt(low), ratio / math.sqrt(high)


def _variation(values: Vector) -> float:
    return float(values.std() / values.mean())


def _summary(line: Line, curves: Curves) -> dict[str, Any]:
    marks = marks_within(curves.points[0], line.points)
    return {
        "problem": line.problem,
        "dim": line.dim,
        "label": line.label,
        "method": line.setting.method,
        "options": dict(line.setting.options),
        "noise": line.noise,
        "seeds": list(line.seeds),
        "points": marks,
        "mean": [float(curves.at(mark).mean()) for mark in marks],
        "std": [float(curves.at(mark).std()) for mark in marks],
    }


def _records(curves: Mapping[Line, Curves]) -> Iterator[tuple[Any, ...]]:
    for line, found in curves.items():
        options = " ".join(f"{name}={value}" for name, value in line.setting.options)
        about = (line.problem, line.dim, line.noise, line.label, line.setting.method, options)
        for seed, values in zip(found.seeds, found.values, strict=True):
            for points, calls, value in zip(found.points, found.calls, values, strict=True):
                yield (*about, seed, int(points), int(calls), f"{value:.6g}")


COLUMNS = (
    *("problem", "dim", "noise", "label", "method", "options"),
    *("seed", "points", "oracle_calls", "value"),
)
