"""The study of looks, `zorank bench looks`: is it useful to know what candidates look like?"""

from zorank.experiments.looks import findings
from zorank.experiments.looks.cases import KINDS
from zorank.experiments.looks.figure import draw
from zorank.experiments.looks.study import (
    QUICK,
    SWEEP,
    VERSION,
    Condition,
    Study,
    Trial,
    record,
    study_for,
)
from zorank.experiments.studies import Benchmark, collect

BENCHMARK = Benchmark(SWEEP, findings.claims, findings.summary, record, draw)
run, report = BENCHMARK.run, BENCHMARK.report

__all__ = [
    "BENCHMARK",
    "KINDS",
    "QUICK",
    "SWEEP",
    "VERSION",
    "Condition",
    "Study",
    "Trial",
    "collect",
    "report",
    "run",
    "study_for",
]
