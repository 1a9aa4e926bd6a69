"""The figure of appendix C on d = 10,000: as figure 1, without CMA-ES's full covariance matrix.

Past the paper, a CMA-ES that adapts variances only takes part.
"""

from __future__ import annotations

from zorank.experiments.paper.lab import Lab, Line, Report
from zorank.experiments.paper.panels import DIAGONAL, PROBLEM_NAMES, STYLES, draw_problems
from zorank.experiments.paper.simple import claims, compared
from zorank.experiments.paper.tuning import HIGH_DIM, tuned_settings


def reproduce(lab: Lab) -> Report:
    """Run all methods at their best settings for this dimension."""
    dim = 1000 if lab.quick else HIGH_DIM
    tuned = tuned_settings(lab, dim)
    points, seeds = (3_000, range(2)) if lab.quick else (60_000, range(10))
    lines = [
        Line(problem, dim, DIAGONAL if label == "CMA-ES" else label, setting, points, tuple(seeds))
        for problem in PROBLEM_NAMES
        for label, setting in compared(tuned, problem).items()
    ]
    curves = lab.curves("highdim", lines)
    marks = [mark for mark in (3_000, 10_000, 30_000, 60_000) if mark <= points]
    return Report(
        "highdim",
        f"The same in d = {dim:,}, CMA-ES with a diagonal matrix",
        curves,
        [claim for problem in PROBLEM_NAMES for claim in claims(curves, problem, marks)],
        lambda figure: draw_problems(figure, curves, STYLES),
        {"runs": len(seeds), "points": points},
    )
