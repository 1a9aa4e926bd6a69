"""The study of looks, `zorank bench looks`: is it useful to know what candidates look like?"""

from zorank.experiments.looks import findings
from zorank.experiments.looks.figure import draw
from zorank.experiments.looks.study import SWEEP, record, study_for
from zorank.experiments.studies import Benchmark

BENCHMARK = Benchmark(SWEEP, findings.claims, findings.summary, record, draw)
run, report = BENCHMARK.run, BENCHMARK.report

__all__ = ["report", "run", "study_for"]
