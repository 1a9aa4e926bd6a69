"""Figure 1: five methods on two simple functions, d = 100, 15 points a round.

The paper's comparison: settings from `tuning`, ten runs on other seeds. ZO-SGD is shown twice: at
its best step size, and at the best that is a power of 10. The line search shortens steps by
γ = .1, so all powers of 10 lead to the same lengths, and whether these suit the function is luck.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from zorank.experiments.paper.claims import Claim, leads
from zorank.experiments.paper.context import Lab, Line, Report, report_of_curves
from zorank.experiments.paper.curves import Curves, Setting
from zorank.experiments.paper.panels import (
    COARSE,
    DIAGONAL,
    LABELS,
    PROBLEM_NAMES,
    STYLES,
    draw_problems,
)
from zorank.experiments.paper.tuning import Tuned, tuned_settings

DIM = 100


def reproduce(lab: Lab) -> Report:
    """Run all methods at their best settings."""
    points = 3_000 if lab.quick else 30_000
    title = f"Five methods on two functions, d = {DIM}, 15 points a round"
    return comparison(lab, "simple", title, DIM, points, (1_000, 3_000, 10_000, 30_000))


def comparison(
    lab: Lab, name: str, title: str, dim: int, points: int, marks: tuple[int, ...]
) -> Report:
    """All methods on all problems in this dimension, tuned for it."""
    tuned = tuned_settings(lab, dim)
    seeds = tuple(range(2 if lab.quick else 10))
    lines = [
        Line(problem, dim, label, setting, points, seeds)
        for problem in PROBLEM_NAMES
        for label, setting in compared(tuned, problem).items()
    ]
    curves = lab.curves(name, lines)
    reached = [mark for mark in marks if mark <= points]
    return report_of_curves(
        name,
        title,
        curves,
        [claim for problem in PROBLEM_NAMES for claim in claims(curves, problem, reached)],
        lambda figure: draw_problems(figure, curves, STYLES),
        {"runs": len(seeds), "points": points},
    )


def compared(tuned: Mapping[tuple[str, str], Tuned], problem: str) -> dict[str, Setting]:
    """What is compared on a problem, by its label."""
    chosen = {label: tuned[problem, method].winner for method, label in LABELS.items()}
    if chosen["CMA-ES"].option("diagonal"):
        chosen[DIAGONAL] = chosen.pop("CMA-ES")
    coarse = tuned[problem, "zo-sgd"].winner_among(lambda s: is_power_of_10(s.option("step")))
    return {**chosen, COARSE: coarse}


def is_power_of_10(value: float) -> bool:
    """Whether it is one, to the digits that grids have."""
    return abs(math.log10(value) - round(math.log10(value))) < 1e-3


def claims(curves: Mapping[Line, Curves], problem: str, marks: list[int]) -> list[Claim]:
    """What section 4.1 says of the comparison."""
    of = {line.label: found for line, found in curves.items() if line.problem == problem}
    where = PROBLEM_NAMES[problem]
    told = []
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
                told += leads(name, says, where, of[ours], of[rival], marks)
    says = "ZO-RankSGD behaves similarly to ZO-SGD: ranks are almost as informative as values."
    for rival in ("ZO-SGD", COARSE):
        name = f"ZO-RankSGD on par with {rival}"
        told += leads(name, says, where, of["ZO-RankSGD"], of[rival], marks, par=True)
    return told
