"""The figure of appendix C on d = 10,000: as figure 1, but CMA-ES has a diagonal covariance.

The paper omits CMA-ES here, because a full covariance matrix is too large.
"""

from __future__ import annotations

from zorank.experiments.paper.context import FigureContext
from zorank.experiments.paper.simple import comparison
from zorank.experiments.paper.tuning import HIGH_DIM
from zorank.experiments.report import Report


def reproduce(context: FigureContext) -> Report:
    """Run all methods at their best settings for this dimension."""
    dim, points = (1_000, 3_000) if context.quick else (HIGH_DIM, 60_000)
    title = f"The same in d = {dim:,}, CMA-ES with a diagonal matrix"
    return comparison(context, "highdim", title, dim, points, (3_000, 10_000, 30_000, 60_000))
