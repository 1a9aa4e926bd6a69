"""The figure of appendix C on noise: ZO-RankSGD against ZO-SGD, both given f + N(0, sd²).

The paper does not state its noise levels. Ours range from almost invisible to so large that only
the first steps improve f. Each method has its own best η and μ at every level, tuned as in
`tuning`, on other seeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zorank.experiments.claims import Claim
from zorank.experiments.paper.context import FigureContext
from zorank.experiments.paper.curve_figures import Line, curve_report, ratio_claims, run_lines
from zorank.experiments.paper.curve_panels import LABELS, PROBLEM_NAMES, STYLES, draw_curves
from zorank.experiments.paper.curves import Curves
from zorank.experiments.paper.tuning import SEEDS, Grid, decades, descent_grid, tune
from zorank.experiments.report import Report

DIM = 100
LEVELS = {"quadratic": (0.1, 1.0, 10.0), "rosenbrock": (10.0, 100.0, 1000.0)}
METHODS = ("zo-ranksgd", "zo-sgd")


def reproduce(context: FigureContext) -> Report:
    """Tune both methods at every noise level, then run them."""
    points, seeds = (2_000, range(2)) if context.quick else (10_000, range(10))
    tuned = tune(context, "noise", _grids(context.quick, points))
    lines = [
        Line(
            *(t.grid.problem, DIM, LABELS[t.grid.fixed.method], t.winner, points),
            seeds=tuple(seeds),
            noise=t.grid.noise,
        )
        for t in tuned
    ]
    curves = run_lines(context, "noise", lines)
    marks = [mark for mark in (1_000, 3_000, 10_000) if mark <= points]
    winners = [
        {
            "problem": t.grid.problem,
            "noise": t.grid.noise,
            "method": t.grid.fixed.method,
            "winner": dict(t.winner.options),
            "inside": not t.grid.edges(t.winner),
        }
        for t in tuned
    ]
    return curve_report(
        context,
        "noise",
        f"Noisy oracles, d = {DIM}",
        curves,
        _claims(curves, marks),
        lambda figure: _draw(figure, curves),
        {"runs": len(seeds), "points": points, "winners": winners},
    )


def _grids(quick: bool, points: int) -> list[Grid]:
    mus = decades(-1, -0.5) if quick else decades(-3, 0.5)
    seeds = tuple(SEEDS)[: 1 if quick else 3]
    return [
        Grid(problem, DIM, points, seeds, *descent_grid(method, quick, mus), noise)
        for problem, levels in LEVELS.items()
        for noise in levels
        for method in METHODS
    ]


def _claims(curves: Mapping[Line, Curves], marks: list[int]) -> list[Claim]:
    claims = []
    for problem, levels in LEVELS.items():
        for noise in levels:
            here = {
                line.label: found
                for line, found in curves.items()
                if (line.problem, line.noise) == (problem, noise)
            }
            pair = (here["ZO-RankSGD"], here["ZO-SGD"], marks)
            where = f"{PROBLEM_NAMES[problem]}, noise {noise:g}"
            says = "Under noise ZO-RankSGD stays comparable to ZO-SGD."
            claims += ratio_claims("ZO-RankSGD on par with ZO-SGD", says, where, *pair, par=True)
            if problem == "rosenbrock":
                says = "On Rosenbrock under noise, ZO-RankSGD outperforms ZO-SGD."
                claims += ratio_claims("ZO-RankSGD ahead of ZO-SGD", says, where, *pair)
    return claims


def _draw(figure: Any, curves: Mapping[Line, Curves]) -> None:
    figure.set_size_inches(8.6, 4.8)
    panels = figure.subplots(len(LEVELS), 3, squeeze=False)
    for row, (problem, levels) in zip(panels, LEVELS.items(), strict=True):
        for axes, noise in zip(row, levels, strict=True):
            here = {
                line: found
                for line, found in curves.items()
                if (line.problem, line.noise) == (problem, noise)
            }
            draw_curves(axes, here, STYLES)
            axes.set_title(f"{PROBLEM_NAMES[problem]}, d = {DIM}, noise sd {noise:g}")
        row[0].set_ylabel("f")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
