"""Figures of appendix C: the grids behind the comparison, one panel per method and function.

The paper names what it tunes but not its grids. Ours step by half decades (μ by decades) and are
widened until the winner lies inside. A setting's score is the mean of log₁₀ f over the last decade
of points. Settings within `EQUAL` of the best count as equal; ties are broken by the largest μ,
then by the middle setting. The seeds differ from those of the figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeGuard

import numpy as np

from zorank.experiments.claims import Claim
from zorank.experiments.paper.context import FigureContext
from zorank.experiments.paper.curve_figures import LEAST_VALUE, Line, curve_report, run_lines
from zorank.experiments.paper.curve_panels import DIAGONAL, LABELS, PROBLEM_NAMES, STYLES
from zorank.experiments.paper.curves import Curves, Setting
from zorank.experiments.report import Report

EQUAL = 0.02
MOST_WIDENINGS = 12
SEEDS = range(1000, 1003)
Axis = tuple[str, tuple[float, ...] | tuple[str, ...]]
Axes = tuple[Axis, ...]


def decades(low: float, high: float, steps: int = 2) -> tuple[float, ...]:
    """Return values from 10^low to 10^high, `steps` per decade, rounded to four digits."""
    count = round((high - low) * steps) + 1
    return tuple(float(f"{10**e:.4g}") for e in np.linspace(low, high, count))


@dataclass(frozen=True)
class Grid:
    """A grid of settings of one method on one problem.

    Attributes:
        problem, dim, points, seeds, noise: as in `Line`.
        fixed: the method and the options that are not tuned.
        axes: the tuned options, each with its values: numbers in increasing order, or names.
    """

    problem: str
    dim: int
    points: int
    seeds: tuple[int, ...]
    fixed: Setting
    axes: Axes
    noise: float = 0.0

    def lines(self) -> list[Line]:
        """Return one line per setting."""
        names = [name for name, _ in self.axes]
        settings = (
            self.fixed.with_options(**dict(zip(names, values, strict=True)))
            for values in product(*(values for _, values in self.axes))
        )
        about = (self.points, self.seeds, self.noise)
        label = LABELS.get(self.fixed.method, self.fixed.method)
        return [Line(self.problem, self.dim, label, setting, *about) for setting in settings]

    def edges(self, setting: Setting) -> list[str]:
        """Return the options whose value lies at an end of the grid."""
        return [
            name
            for name, values in self.axes
            if _is_scale(values) and setting.option(name) in (values[0], values[-1])
        ]

    def widened(self, setting: Setting) -> Grid:
        """Return the grid with one more value beyond each edge at which the setting lies."""
        return replace(self, axes=tuple(_widened(axis, setting) for axis in self.axes))


def _is_scale(values: Sequence[object]) -> TypeGuard[tuple[float, ...]]:
    """Return whether these are several numbers, so that there are values beyond them."""
    return len(values) > 1 and not isinstance(values[0], str)


def _widened(axis: Axis, setting: Setting) -> Axis:
    name, values = axis
    value = setting.option(name)
    if not _is_scale(values):
        return axis
    if value == values[0]:
        values = (float(f"{value * value / values[1]:.4g}"), *values)
    elif value == values[-1]:
        values = (*values, float(f"{value * value / values[-2]:.4g}"))
    return name, values


@dataclass(frozen=True, eq=False)
class Tuned:
    """A grid and the curves of its settings."""

    grid: Grid
    curves: dict[Line, Curves]

    @property
    def scores(self) -> dict[Setting, float]:
        """The score of each setting; lower is better."""
        return {line.setting: score(curves) for line, curves in self.curves.items()}

    @property
    def winner(self) -> Setting:
        """The setting with the best score."""
        return choose(self.scores)

    def winner_among(self, wanted: Callable[[Setting], bool]) -> Setting:
        """Return the best of the settings that satisfy a condition."""
        return choose({s: value for s, value in self.scores.items() if wanted(s)})


def score(curves: Curves) -> float:
    """Return the mean of log₁₀ f over the last decade of points and over all runs."""
    last = curves.points >= 0.1 * curves.points[-1]
    return float(np.log10(np.maximum(curves.values[:, last], LEAST_VALUE)).mean())


def choose(scores: dict[Setting, float]) -> Setting:
    """Return the best setting; break ties by the largest μ, then take the middle one."""
    best = min(scores.values())
    equals = [setting for setting, value in scores.items() if value <= best + EQUAL]
    widest = max(dict(s.options).get("mu", 0.0) for s in equals)
    equals = [s for s in equals if dict(s.options).get("mu", 0.0) == widest]
    return sorted(equals, key=lambda s: s.options)[len(equals) // 2]


def tune(context: FigureContext, figure: str, grids: Iterable[Grid]) -> list[Tuned]:
    """Run every setting, and widen the grids until each best setting lies inside."""
    trying = list(grids)
    for _ in range(1 if context.quick else MOST_WIDENINGS + 1):
        curves = run_lines(context, figure, [line for grid in trying for line in grid.lines()])
        tuned = [Tuned(grid, {line: curves[line] for line in grid.lines()}) for grid in trying]
        widened = [found.grid.widened(found.winner) for found in tuned]
        if widened == trying:
            break
        trying = widened
    return tuned


HIGH_DIM = 10_000
STEPS = {"zo-ranksgd": (-0.5, 2.0), "zo-sgd": (-2.5, 0.5), "scobo": (0.0, 2.5)}
BASELINES = ("mean", "point")
QUICK_STEPS = {"zo-ranksgd": (0.0, 1.0), "zo-sgd": (-1.0, 0.0), "scobo": (0.5, 1.5)}


def descent_grid(method: str, quick: bool, mus: tuple[float, ...]) -> tuple[Setting, Axes]:
    """Return the grid of a descent: 10 points estimate a direction, 5 search along it.

    All have η and μ; ZO-SGD also has the value that it subtracts.
    """
    low, high = (QUICK_STEPS if quick else STEPS)[method]
    fixed = Setting(method).with_options(m=10, line_search=5, gamma=0.1)
    baseline: Axes = (("baseline", BASELINES),) if method == "zo-sgd" else ()
    return fixed, (("step", decades(low, high)), ("mu", mus), *baseline)


def grids(quick: bool, dim: int) -> list[Grid]:
    """Return the grid of every method on every problem in this dimension."""
    high = dim > 100
    points, seeds = (20_000, 2) if high else (10_000, 3)
    if quick:
        points, seeds = 2_000, 1
    mus = decades(-3, -3) if quick else decades(-4 if high else -5, -1, 1)
    around = 0.5 if high else 0.0  # of radii: |x0| grows with √d, and the useful radii with it
    half = 0.5 if quick else 1.5
    gld = Setting("gld-fast").with_options(m=15)
    cma = Setting("cma-es").with_options(m=15, diagonal=high)
    tuned = [
        *(descent_grid(method, quick, mus) for method in STEPS),
        (gld, (("radius", decades(around - half, around + half)),)),
        (cma, (("sigma0", decades(-0.5 - half, -0.5 + half)),)),
    ]
    return [
        Grid(problem, dim, points, tuple(SEEDS)[:seeds], fixed, axes)
        for problem in PROBLEM_NAMES
        for fixed, axes in tuned
    ]


def tuned_settings(context: FigureContext, dim: int) -> dict[tuple[str, str], Tuned]:
    """Tune every method on every problem in this dimension; return results by both."""
    found = tune(context, "tuning", grids(context.quick, dim))
    return {(t.grid.problem, t.grid.fixed.method): t for t in found}


def reproduce(context: FigureContext) -> Report:
    """Tune in 100 and in 10,000 dimensions."""
    dims = (100, 1000) if context.quick else (100, HIGH_DIM)
    tuned = [t for dim in dims for t in tuned_settings(context, dim).values()]
    inside = [not t.grid.edges(t.winner) for t in tuned]
    claim = Claim(
        "no winner on an edge",
        "The settings compared are the best of their grids.",
        f"all of {len(tuned)} grids",
        "the end",
        all(inside),
        float(sum(inside)),
    )
    winners = [
        {
            "problem": t.grid.problem,
            "dim": t.grid.dim,
            "method": t.grid.fixed.method,
            "winner": dict(t.winner.options),
            "score": t.scores[t.winner],
            "inside": not t.grid.edges(t.winner),
            "axes": {name: list(values) for name, values in t.grid.axes},
            "seeds": list(t.grid.seeds),
            "points": t.grid.points,
        }
        for t in tuned
    ]
    return curve_report(
        context,
        "tuning",
        "The grids behind the comparison",
        {line: curves for t in tuned for line, curves in t.curves.items()},
        [claim],
        lambda figure: _draw(figure, tuned),
        {"score": "mean log10 f over the last decade of points", "winners": winners},
        summarized=[line for t in tuned for line in t.curves if line.setting == t.winner],
    )


def _draw(figure: Any, tuned: Sequence[Tuned]) -> None:
    columns = 5
    rows = len(tuned) // columns
    figure.set_size_inches(11.0, 2.1 * rows + 0.4)
    panels = figure.subplots(rows, columns, squeeze=False)
    for axes, found in zip(panels.flat, tuned, strict=True):
        _draw_grid(axes, found)
    for row in panels:
        row[0].set_ylabel("mean log₁₀ f,\nlast decade of points")
    for axes in panels[-1]:
        axes.set_xlabel(axes.get_xlabel())


def _draw_grid(axes: Any, found: Tuned) -> None:
    """Draw the score against the first option; one line per μ, darker for smaller μ."""
    grid, scores, winner = found.grid, found.scores, found.winner
    name, values = grid.axes[0]
    mus = grid.axes[1][1] if len(grid.axes) > 1 else (None,)
    colour = STYLES[LABELS[grid.fixed.method]]["color"]
    for n, mu in enumerate(mus):
        options: dict[str, Any] = {} if mu is None else {"mu": mu}
        options |= {axis: winner.option(axis) for axis, _ in grid.axes[2:]}
        here = [scores[grid.fixed.with_options(**{name: value}, **options)] for value in values]
        shade = 1.0 - 0.8 * n / max(len(mus) - 1, 1)
        label = f"μ = {mu:g}" if mu in (mus[0], mus[-1]) and mu is not None else None
        axes.plot(values, here, "o-", ms=2.5, lw=1.2, color=colour, alpha=shade, label=label)
    axes.plot(winner.option(name), scores[winner], "o", ms=8, mfc="none", mec="#111111", mew=1.1)
    symbols = {"step": "η", "radius": "R", "sigma0": "σ₀"}
    axes.set_xscale("log")
    axes.set_xlabel(symbols[name])
    diagonal = dict(grid.fixed.options).get("diagonal", False)
    label = DIAGONAL if diagonal else LABELS[grid.fixed.method]
    axes.set_title(
        f"{label}, {PROBLEM_NAMES[grid.problem].lower()}, d = {grid.dim:,}",
        fontsize=7.5,
    )
    axes.grid(alpha=0.2, lw=0.6)
    if len(mus) > 1:
        axes.legend(frameon=False, fontsize=5.5, handlelength=1.2, labelspacing=0.2)
