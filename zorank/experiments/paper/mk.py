"""Figure 2: ZO-RankSGD for many (m, k), at η = 50, μ = .01, l = 5, γ = .1, d = 100."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from zorank.experiments.claims import Claim
from zorank.experiments.paper.context import FigureContext
from zorank.experiments.paper.curve_figures import Line, ratio_claims
from zorank.experiments.paper.curve_panels import PROBLEM_NAMES, problem_report
from zorank.experiments.paper.curves import CALL_MARKS, Curves, Setting
from zorank.experiments.report import Report

DIM = 100
PAIRS = (
    *((10, 1), (10, 3), (10, 10)),
    *((30, 1), (30, 30)),
    *((100, 1), (100, 10), (100, 100)),
)
COLOURS = {10: "#1f4e9c", 30: "#3f8f5b", 100: "#d1691f"}
DASHES = {1: (0, (1, 1.5)), 3: (0, (4, 2)), 10: (0, (4, 2))}


def label(m: int, k: int) -> str:
    """Return the label of a pair."""
    return f"({m}, {k})"


STYLES = {
    label(m, k): {
        "color": COLOURS[m],
        "lw": 2.0 if (m, k) in ((10, 10), (100, 1)) else 1.3,
        "ls": "-" if m == k else DASHES[k],
    }
    for m, k in PAIRS
}


def reproduce(context: FigureContext) -> Report:
    """Run every pair (m, k)."""
    points, seeds = (1_000, range(2)) if context.quick else (30_000, range(10))
    method = Setting("zo-ranksgd").with_options(step=50.0, mu=0.01, line_search=5, gamma=0.1)
    lines = [
        Line(problem, DIM, label(m, k), method.with_options(m=m, k=k), points, tuple(seeds))
        for problem in PROBLEM_NAMES
        for m, k in PAIRS
    ]
    title = f"ZO-RankSGD for (m, k), d = {DIM}, η = 50, μ = .01, l = 5, γ = .1"
    marks = [mark for mark in (1_000, 3_000, 10_000) if mark <= points]
    settings = {"runs": len(seeds), "points": points}
    claims = partial(_claims, marks)
    return problem_report(context, "mk", title, lines, claims, STYLES, settings)


def _claims(at_points: Sequence[int], where: str, of: Mapping[str, Curves]) -> list[Claim]:
    says = "(10, 10) is better than (100, 1): the variance falls with k, not with m."
    ours, theirs = of[label(10, 10)], of[label(100, 1)]
    at_calls = CALL_MARKS[: theirs.at_calls.shape[1]]
    name = "(10, 10) ahead of (100, 1)"
    claims = ratio_claims(name, says, where, ours, theirs, at_points)
    claims += ratio_claims(name, says, where, ours, theirs, at_calls, by="calls")
    says = "With the same m, ranking more is better."
    for m, more, fewer in ((10, 3, 1), (10, 10, 3), (30, 30, 1), (100, 10, 1), (100, 100, 10)):
        name = f"{label(m, more)} ahead of {label(m, fewer)}"
        pair = (of[label(m, more)], of[label(m, fewer)])
        claims += ratio_claims(name, says, where, *pair, at_points)
    return claims
