"""The figure of appendix C on d = 10,000: as figure 1, without CMA-ES's full covariance matrix.

Past the paper, a CMA-ES that adapts variances only takes part.
"""

from __future__ import annotations

from zorank.experiments.paper.context import Lab, Report
from zorank.experiments.paper.simple import comparison
from zorank.experiments.paper.tuning import HIGH_DIM


def reproduce(lab: Lab) -> Report:
    """Run all methods at their best settings for this dimension."""
    dim, points = (1_000, 3_000) if lab.quick else (HIGH_DIM, 60_000)
    title = f"The same in d = {dim:,}, CMA-ES with a diagonal matrix"
    return comparison(lab, "highdim", title, dim, points, (3_000, 10_000, 30_000, 60_000))
