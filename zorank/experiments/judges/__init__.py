"""The study of judges, `zorank bench judges`: all methods with simulated raters."""

from __future__ import annotations

from collections.abc import Mapping

from zorank.experiments import measured
from zorank.experiments.judges import findings
from zorank.experiments.judges.figure import draw
from zorank.experiments.judges.study import SWEEP, Study, Trial, record, study_for
from zorank.experiments.studies import Benchmark, collect
from zorank.experiments.sweep import Row

BENCHMARK = Benchmark(SWEEP, findings.claims, findings.summary, record, draw)
run, report = BENCHMARK.run, BENCHMARK.report


def update_measured(study: Study, rows: Mapping[Trial, Row]) -> None:
    """Write the results of the part "mk" into the package, for `zorank plan`."""
    measured.write(findings.measured(study, collect(rows)))


__all__ = ["report", "run", "study_for", "update_measured"]
