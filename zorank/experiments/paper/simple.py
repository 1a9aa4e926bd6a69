"""Figure 1: five methods on two simple functions, d = 100, 15 points a round.

The paper's comparison: settings from `tuning`, ten runs on other seeds. ZO-SGD is shown twice: at
its best step size, and at the best power of 10. The line search shortens steps by γ = .1, so all
powers of 10 give the same step lengths, which may or may not suit the function.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

from zorank.experiments.claims import Claim
from zorank.experiments.paper.context import FigureContext
from zorank.experiments.paper.curve_figures import Line, ratio_claims
from zorank.experiments.paper.curve_panels import (
    COARSE,
    DIAGONAL,
    LABELS,
    PROBLEM_NAMES,
    STYLES,
    problem_report,
)
from zorank.experiments.paper.curves import Curves, Setting
from zorank.experiments.paper.tuning import Tuned, tuned_settings
from zorank.experiments.report import Report

DIM = 100


def reproduce(context: FigureContext) -> Report:
    """Run all methods at their best settings."""
    points = 3_000 if context.quick else 30_000
    title = f"Five methods on two functions, d = {DIM}, 15 points a round"
    return comparison(context, "simple", title, DIM, points, (1_000, 3_000, 10_000, 30_000))


def comparison(
    context: FigureContext, name: str, title: str, dim: int, points: int, marks: tuple[int, ...]
) -> Report:
    """Compare all methods on all problems in this dimension, each tuned for it."""
    tuned = tuned_settings(context, dim)
    seeds = tuple(range(2 if context.quick else 10))
    lines = [
        Line(problem, dim, label, setting, points, seeds)
        for problem in PROBLEM_NAMES
        for label, setting in compared(tuned, problem).items()
    ]
    reached = [mark for mark in marks if mark <= points]
    settings = {"runs": len(seeds), "points": points}
    return problem_report(context, name, title, lines, partial(claims, reached), STYLES, settings)


def compared(tuned: Mapping[tuple[str, str], Tuned], problem: str) -> dict[str, Setting]:
    """Return the settings that are compared on a problem, by label."""
    chosen = {label: tuned[problem, method].winner for method, label in LABELS.items()}
    if chosen["CMA-ES"].option("diagonal"):
        chosen[DIAGONAL] = chosen.pop("CMA-ES")
    coarse = tuned[problem, "zo-sgd"].winner_among(lambda s: is_power_of_10(s.option("step")))
    return {**chosen, COARSE: coarse}


def is_power_of_10(value: float) -> bool:
    """Return whether a value is a power of 10, to the precision of the grids."""
    return abs(math.log10(value) - round(math.log10(value))) < 1e-3


def claims(marks: Sequence[int], where: str, of: Mapping[str, Curves]) -> list[Claim]:
    """Return the claims of section 4.1 about the comparison."""
    found = []
    for rival, says in (
        ("SCOBO", "ZO-RankSGD outperforms SCOBO: a ranking says more than pairs."),
        ("GLD-Fast", "Gradient-based methods outperform direct search."),
        ("CMA-ES", "Gradient-based methods outperform CMA-ES."),
        (DIAGONAL, "(Not in the paper, whose CMA-ES is too slow here.)"),
    ):
        for ours in ("ZO-RankSGD", "ZO-SGD", "SCOBO"):
            if (
                rival in of
                and ours in of
                and ours != rival
                and (rival, ours) != ("SCOBO", "ZO-SGD")
            ):
                name = f"{ours} ahead of {rival}"
                found += ratio_claims(name, says, where, of[ours], of[rival], marks)
    says = "ZO-RankSGD behaves similarly to ZO-SGD: ranks are almost as informative as values."
    for rival in ("ZO-SGD", COARSE):
        name = f"ZO-RankSGD on par with {rival}"
        found += ratio_claims(name, says, where, of["ZO-RankSGD"], of[rival], marks, par=True)
    return found
