"""The study of looks, `zorank bench looks`: is it useful to know what candidates look like?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from zorank.experiments.looks.cases import KINDS
from zorank.experiments.looks.figure import draw
from zorank.experiments.looks.findings import claims, summary
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
        "looks",
        claims(study, results),
        summary(study, results),
        [record(trial, row) for trial, row in rows.items()],
        lambda figure: draw(figure, study, results),
    )


__all__ = [
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
