"""Panels of curves, with mean and standard deviation, and reports that several figures share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from zorank.experiments.claims import Claim
from zorank.experiments.paper.context import FigureContext
from zorank.experiments.paper.curve_figures import Line, curve_report, run_lines
from zorank.experiments.paper.curves import Curves
from zorank.experiments.report import Report

PROBLEM_NAMES = {"quadratic": "Quadratic", "rosenbrock": "Rosenbrock"}
LABELS = {
    "zo-ranksgd": "ZO-RankSGD",
    "zo-sgd": "ZO-SGD",
    "scobo": "SCOBO",
    "gld-fast": "GLD-Fast",
    "cma-es": "CMA-ES",
}
COARSE = "ZO-SGD, η a power of 10"
DIAGONAL = "CMA-ES, diagonal"
STYLES: dict[str, dict[str, Any]] = {
    "ZO-RankSGD": {"color": "#1f4e9c", "lw": 2.0, "zorder": 5},
    "ZO-SGD": {"color": "#d1691f", "lw": 1.5},
    COARSE: {"color": "#d1691f", "lw": 1.2, "ls": (0, (4, 2))},
    "SCOBO": {"color": "#3f8f5b", "lw": 1.5},
    "GLD-Fast": {"color": "#8a8f98", "lw": 1.5},
    "CMA-ES": {"color": "#7b4ea3", "lw": 1.5},
    DIAGONAL: {"color": "#7b4ea3", "lw": 1.5, "ls": (0, (4, 2))},
}
LOWEST = 1e-12
"""The lower end of the axis. Smaller values are not drawn, but claims compare them too."""
AXES = {"points": "points looked at", "calls": "oracle calls"}


def problem_report(
    context: FigureContext,
    name: str,
    title: str,
    lines: Sequence[Line],
    claims_on: Callable[[str, Mapping[str, Curves]], Sequence[Claim]],
    styles: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> Report:
    """Run the lines of a figure that compares methods on each problem, and build its report.

    `claims_on` gets the name of a problem and the curves of its lines by label.
    """
    curves = run_lines(context, name, lines)
    claims: list[Claim] = []
    for problem, where in PROBLEM_NAMES.items():
        of = {line.label: found for line, found in curves.items() if line.problem == problem}
        claims += claims_on(where, of)

    def draw(figure: Any) -> None:
        draw_problems(figure, curves, styles)

    return curve_report(context, name, title, curves, claims, draw, settings)


def draw_curves(
    axes: Any, curves: Mapping[Line, Curves], styles: Mapping[str, Any], by: str = "points"
) -> None:
    """Draw mean ± std of every line against points or oracle calls, on logarithmic axes.

    The band ends at the lowest value of any run, since f cannot be negative.
    """
    for line, found in curves.items():
        style = {"label": line.label, **styles[line.label]}
        spent = found.points if by == "points" else found.calls
        shown = spent > 0
        mean, std = found.values.mean(axis=0), found.values.std(axis=0)
        axes.plot(spent[shown], mean[shown], **style)
        low = np.maximum(mean - std, found.values.min(axis=0))
        axes.fill_between(
            *(spent[shown], low[shown], (mean + std)[shown]),
            color=style["color"],
            alpha=0.15,
            lw=0,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(bottom=max(axes.get_ylim()[0], LOWEST))
    axes.set_xlabel(AXES[by])
    axes.grid(alpha=0.2, lw=0.6)


def draw_problems(
    figure: Any,
    curves: Mapping[Line, Curves],
    styles: Mapping[str, Any],
    problems: Sequence[str] = tuple(PROBLEM_NAMES),
) -> None:
    """Draw one column per problem: against points above, against oracle calls below."""
    figure.set_size_inches(8.6, 5.6)
    panels = figure.subplots(2, len(problems), squeeze=False)
    for row, by in zip(panels, AXES, strict=True):
        for axes, problem in zip(row, problems, strict=True):
            here = {line: found for line, found in curves.items() if line.problem == problem}
            draw_curves(axes, here, styles, by)
            dim = next(iter(here)).dim
            axes.set_title(f"{PROBLEM_NAMES[problem]}, d = {dim:,}")
        row[0].set_ylabel("f")
    handles, labels = panels[0][0].get_legend_handles_labels()
    columns = len(labels) if len(labels) <= 6 else 4
    figure.legend(handles, labels, loc="outside upper center", ncols=columns, frameon=False)
