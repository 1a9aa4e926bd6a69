"""Remarks of the paper about parts of the methods, d = 100: each part is left out.

SCOBO with its sparsity constraint, which the paper turns off because it "will lead to degraded
performance" here. ZO-RankSGD without its line search: all 15 points estimate the direction; with
and without it, the decay of η and μ is tuned too. And Algorithm 3, which keeps the best neighbour
x** and averages directions in a memory, against Algorithms 1 and 2, which do neither; both show
six candidates a round, as to people. Every variant is tuned for itself, as in `tuning`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from zorank.experiments.claims import Claim
from zorank.experiments.paper.context import FigureContext
from zorank.experiments.paper.curve_figures import Line, ratio_claims
from zorank.experiments.paper.curve_panels import PROBLEM_NAMES, STYLES, problem_report
from zorank.experiments.paper.curves import Curves, Setting
from zorank.experiments.paper.tuning import SEEDS, Axes, Grid, choose, decades, tune
from zorank.experiments.report import Report

DIM = 100
SHOWN = 6
SCOBO = Setting("scobo").with_options(m=10, line_search=5, gamma=0.1)
MEMORY = Setting("zo-ranksgd-memory").with_options(m=SHOWN)
DESCENT = Setting("zo-ranksgd").with_options(m=SHOWN, line_search=SHOWN)
GAMMAS = (0.1, 0.5)
SEARCH = Setting("zo-ranksgd").with_options(m=10, line_search=5, gamma=0.1)
NO_SEARCH = Setting("zo-ranksgd").with_options(m=15, line_search=0)
DECAYS = (1.0, 0.997, 0.99, 0.98, 0.97, 0.95, 0.93)
"""Factors of η and μ after each estimate, of which a run has 667."""


def _decaying(fixed: Setting) -> tuple[Setting, ...]:
    return tuple(fixed.with_options(step_decay=decay, mu_decay=decay) for decay in DECAYS)


VARIANTS: dict[str, tuple[Setting, ...]] = {
    "SCOBO": (SCOBO,),
    "SCOBO, s = 50": (SCOBO.with_options(sparsity=50),),
    "SCOBO, s = 30": (SCOBO.with_options(sparsity=30),),
    "SCOBO, s = 10": (SCOBO.with_options(sparsity=10),),
    "ZO-RankSGD": _decaying(SEARCH),
    "ZO-RankSGD, no line search": _decaying(NO_SEARCH),
    "Algorithm 3": tuple(MEMORY.with_options(gamma=gamma) for gamma in GAMMAS),
    "Algorithms 1 + 2": tuple(DESCENT.with_options(gamma=gamma) for gamma in GAMMAS),
}
"""The settings that are not tuned, by label; of several, the best is used."""
STEPS = {"scobo": (0.0, 2.5), "zo-ranksgd-memory": (-1.0, 1.5), "zo-ranksgd": (-1.0, 1.5)}
NO_SEARCH_STEPS = (-2.0, 0.5)
CONSTRAINED = "SCOBO's sparsity constraint degrades its performance here."
PAIRS = (
    ("SCOBO", "SCOBO, s = 50", CONSTRAINED),
    ("SCOBO", "SCOBO, s = 30", CONSTRAINED),
    ("SCOBO", "SCOBO, s = 10", CONSTRAINED),
    ("ZO-RankSGD", "ZO-RankSGD, no line search", "The line search is simple and effective."),
    ("Algorithm 3", "Algorithms 1 + 2", "Keeping x** and the memory enhances the efficiency."),
)
COLOURS = {
    "SCOBO": {"color": "#3f8f5b", "lw": 2.0},
    "SCOBO, s = 50": {"color": "#3f8f5b", "lw": 1.3, "ls": (0, (6, 1))},
    "SCOBO, s = 30": {"color": "#3f8f5b", "lw": 1.3, "ls": (0, (4, 2))},
    "SCOBO, s = 10": {"color": "#3f8f5b", "lw": 1.3, "ls": (0, (1, 1.5))},
    "ZO-RankSGD": {**STYLES["ZO-RankSGD"]},
    "ZO-RankSGD, no line search": {**STYLES["ZO-RankSGD"], "lw": 1.3, "ls": (0, (4, 2))},
    "Algorithm 3": {"color": "#d1691f", "lw": 2.0},
    "Algorithms 1 + 2": {"color": "#d1691f", "lw": 1.3, "ls": (0, (4, 2))},
}


def reproduce(context: FigureContext) -> Report:
    """Tune every variant on both functions, then run them."""
    points, seeds = (2_000, range(2)) if context.quick else (10_000, range(10))
    chosen = _tuned(context, points)
    lines = [
        Line(problem, DIM, label, setting, points, tuple(seeds))
        for (problem, label), setting in chosen.items()
    ]
    title = f"Parts of the methods left out, d = {DIM}"
    marks = [mark for mark in (1_000, 3_000, 10_000) if mark <= points]
    settings = {"runs": len(seeds), "points": points, "tuning_seeds": list(SEEDS)}
    claims = partial(_claims, marks)
    return problem_report(context, "ablations", title, lines, claims, COLOURS, settings)


def _tuned(context: FigureContext, points: int) -> dict[tuple[str, str], Setting]:
    """Return the best setting of each variant by problem and label."""
    grids = {
        (problem, label): [_grid(problem, fixed, points, context.quick) for fixed in variants]
        for problem in PROBLEM_NAMES
        for label, variants in VARIANTS.items()
    }
    tuned = iter(tune(context, "ablations", [grid for group in grids.values() for grid in group]))
    scores = {key: [next(tuned).scores for _ in group] for key, group in grids.items()}
    return {key: choose(_merged(group)) for key, group in scores.items()}


def _grid(problem: str, fixed: Setting, points: int, quick: bool) -> Grid:
    steps = decades(*(NO_SEARCH_STEPS if _searches_not(fixed) else STEPS[fixed.method]))
    if quick:
        steps = steps[2:5]
    mus = decades(-3, -3) if quick else decades(-5, -1, 1)
    axes: Axes = (("step", steps), ("mu", mus))
    return Grid(problem, DIM, points, tuple(SEEDS)[: 1 if quick else 3], fixed, axes)


def _searches_not(setting: Setting) -> bool:
    return dict(setting.options).get("line_search") == 0


def _merged(scores: Sequence[Mapping[Setting, float]]) -> dict[Setting, float]:
    return {setting: value for each in scores for setting, value in each.items()}


def _claims(marks: Sequence[int], where: str, of: Mapping[str, Curves]) -> list[Claim]:
    return [
        claim
        for ours, theirs, says in PAIRS
        for claim in ratio_claims(
            f"{ours} ahead of {theirs}", says, where, of[ours], of[theirs], marks
        )
    ]
