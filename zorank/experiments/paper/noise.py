"""The figure of appendix C on noise: ZO-RankSGD against ZO-SGD, both given f + N(0, sd²).

The paper does not state its noise levels. Ours range from almost invisible to so large that only
the first steps improve f. Each method has its own best η and μ at every level, tuned as in
`tuning`, on other seeds.

ZO-SGD is shown twice. As published, it subtracts f(x) from all values of a round, so that the
noise of one value enters all differences. Subtracting the mean of the values avoids that, and
spends no point on x.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zorank.experiments.claims import Claim
from zorank.experiments.paper.context import FigureContext
from zorank.experiments.paper.curve_figures import (
    Line,
    curve_report,
    ratio_claims,
    run_lines,
    spread_claim,
)
from zorank.experiments.paper.curve_panels import LABELS, PROBLEM_NAMES, STYLES, draw_curves
from zorank.experiments.paper.curves import Curves, Setting
from zorank.experiments.paper.tuning import SEEDS, Grid, Tuned, decades, descent_grid, tune
from zorank.experiments.report import Report

DIM = 100
LEVELS = {"quadratic": (0.1, 1.0, 10.0), "rosenbrock": (10.0, 100.0, 1000.0)}
METHODS = ("zo-ranksgd", "zo-sgd")
OURS = LABELS["zo-ranksgd"]
BASELINES = {"mean": "ZO-SGD, minus the mean", "point": "ZO-SGD, minus f(x)"}
NOISE_STYLES = {
    OURS: STYLES[OURS],
    BASELINES["mean"]: STYLES["ZO-SGD"],
    BASELINES["point"]: {**STYLES["ZO-SGD"], "ls": ":"},
}


def reproduce(context: FigureContext) -> Report:
    """Tune both methods at every noise level, then run them."""
    points, seeds = (2_000, range(2)) if context.quick else (10_000, range(10))
    tuned = tune(context, "noise", _grids(context.quick, points))
    chosen = [(t, label, setting) for t in tuned for label, setting in _winners(t).items()]
    lines = [
        Line(t.grid.problem, DIM, label, setting, points, tuple(seeds), t.grid.noise)
        for t, label, setting in chosen
    ]
    curves = run_lines(context, "noise", lines)
    marks = [mark for mark in (1_000, 3_000, 10_000) if mark <= points]
    winners = [
        {
            "problem": t.grid.problem,
            "noise": t.grid.noise,
            "label": label,
            "method": setting.method,
            "winner": dict(setting.options),
            "inside": not t.grid.edges(setting),
        }
        for t, label, setting in chosen
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


def _winners(tuned: Tuned) -> dict[str, Setting]:
    """Return the best settings that are drawn, by label: one for each baseline of ZO-SGD."""
    if tuned.grid.fixed.method == "zo-ranksgd":
        return {OURS: tuned.winner}

    def best_with(baseline: str) -> Setting:
        return tuned.winner_among(lambda setting: setting.option("baseline") == baseline)

    return {label: best_with(baseline) for baseline, label in BASELINES.items()}


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
            where = f"{PROBLEM_NAMES[problem]}, noise {noise:g}"
            for rival in BASELINES.values():
                pair = (here[OURS], here[rival], marks)
                says = "Under noise ZO-RankSGD stays comparable to ZO-SGD."
                name = f"{OURS} on par with {rival}"
                claims += ratio_claims(name, says, where, *pair, par=True)
                if problem == "rosenbrock":
                    says = "On Rosenbrock under noise, ZO-RankSGD outperforms ZO-SGD."
                    claims += ratio_claims(f"{OURS} ahead of {rival}", says, where, *pair)
                says = "Ranks may exhibit less variability under mild noise."
                name = f"{OURS} varies less than {rival}"
                at = f"{marks[-1]:,} points"
                ends = (here[OURS].at(marks[-1]), here[rival].at(marks[-1]))
                claims.append(spread_claim(name, says, where, at, *ends))
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
            draw_curves(axes, here, NOISE_STYLES)
            axes.set_title(f"{PROBLEM_NAMES[problem]}, d = {DIM}, noise sd {noise:g}")
        row[0].set_ylabel("f")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
