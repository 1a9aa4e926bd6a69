"""The study of judges, `zorank bench judges`: all methods with simulated raters."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from zorank.experiments import measured
from zorank.experiments.judges import findings
from zorank.experiments.judges.figure import draw
from zorank.experiments.judges.study import (
    QUICK,
    SWEEP,
    VERSION,
    Condition,
    Study,
    Trial,
    record,
    study_for,
)
from zorank.experiments.report import Report
from zorank.experiments.studies import collect, report_of_trials
from zorank.experiments.sweep import Row

if TYPE_CHECKING:
    from rich.console import Console


def run(
    study: Study, folder: Path, *, workers: int | None = None, console: Console | None = None
) -> dict[Trial, Row]:
    """Return the row of each trial; trials that are stored in `folder` are not rerun."""
    return SWEEP.run(study.trials(), folder, workers=workers, console=console)


def report(study: Study, rows: Mapping[Trial, Row]) -> Report:
    """Build the report of a study from the rows of its trials."""
    results = collect(rows)
    return report_of_trials(
        "judges",
        findings.claims(study, results),
        findings.summary(study, results),
        [record(trial, row) for trial, row in rows.items()],
        lambda figure: draw(figure, study, results),
    )


def update_measured(study: Study, rows: Mapping[Trial, Row]) -> None:
    """Write the results of the part "mk" into the package, for `zorank plan`."""
    measured.write(findings.measured(study, collect(rows)))


__all__ = [
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
    "update_measured",
]
