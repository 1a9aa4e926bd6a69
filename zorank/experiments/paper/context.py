"""Where figures are made: the folder, the cores, and what a finished figure hands over."""

from __future__ import annotations

import csv
import json
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank._version import __version__
from zorank.errors import InvalidInput
from zorank.experiments import figures, sweep
from zorank.experiments.paper.claims import Claim
from zorank.experiments.paper.curves import VERSION, Curves, Setting, Trial, follow, trials_of

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class Lab:
    """Runs trials on all cores; what is finished in its folder is not run again.

    Attributes:
        folder: where results go, and finished trials are kept.
        quick: whether this is the small run that only shows that all is well.
        workers: processes; None takes one for each core.
        console: where progress is shown; None shows none.
        model: a diffusers pipeline for the figures of pictures; None takes dream.
    """

    folder: Path
    quick: bool = False
    workers: int | None = None
    console: Console | None = None
    model: str | None = None

    def run(self, figure: str, trials: Sequence[Trial]) -> dict[Trial, sweep.Row]:
        """The row of every trial of a figure."""
        rows = sweep.run(
            follow,
            trials,
            self.folder / f"{figure}.cells.jsonl",
            version=VERSION,
            workers=self.workers,
            console=self.console,
        )
        return dict(zip(trials, rows, strict=True))

    def curves(self, figure: str, lines: Sequence[Line]) -> dict[Line, Curves]:
        """The curves of every line of a figure."""
        rows = self.run(figure, [trial for line in lines for trial in line.trials()])
        return {line: Curves.of(line.trials(), rows) for line in lines}


@dataclass(frozen=True)
class Line:
    """A line in a figure: one method on one problem, several runs.

    Attributes:
        problem: its name.
        dim: the dimension.
        label: what the figure calls it.
        setting: method and options.
        points: how many candidates each run looks at.
        seeds: of the runs.
        noise: the standard deviation of what the oracle adds to every value.
    """

    problem: str
    dim: int
    label: str
    setting: Setting
    points: int
    seeds: tuple[int, ...]
    noise: float = 0.0

    def trials(self) -> list[Trial]:
        """Its runs."""
        return trials_of(self.problem, self.dim, self.setting, self.points, self.seeds, self.noise)


@dataclass(frozen=True, eq=False, kw_only=True)
class Report:
    """A finished figure.

    Attributes:
        name: of the figure.
        title: what it shows, in a few words.
        claims: what the paper says, and what was measured.
        draw: draws it on an empty Matplotlib figure.
        columns: the headings of its table of numbers.
        records: that table.
        details: what else its summary tells, as plain JSON values: all one needs to repeat it.
        measure: what the numbers of its claims mean.
    """

    name: str
    title: str
    claims: Sequence[Claim]
    draw: Callable[[Any], None]
    columns: Sequence[str]
    records: Iterable[Sequence[Any]]
    details: Mapping[str, Any] = field(default_factory=dict)
    measure: str = "How many times lower the value is, from paired runs"

    def save(self, lab: Lab) -> list[Path]:
        """Write NAME.csv, NAME.json, NAME.png and NAME.svg."""
        csv_file, json_file, png, svg = (
            lab.folder / f"{self.name}.{kind}" for kind in ("csv", "json", "png", "svg")
        )
        try:
            with csv_file.open("w", newline="", encoding="utf-8") as handle:
                writer = csv.writer(handle)
                writer.writerow(self.columns)
                writer.writerows(self.records)
            told = json.dumps(self.summary(lab.quick), indent=1, ensure_ascii=False)
            json_file.write_text(told + "\n", encoding="utf-8")
        except OSError as error:
            raise InvalidInput(f"{error.filename} cannot be written: {error.strerror}") from error
        figures.save(self.draw, [png, svg])
        return [csv_file, json_file, png, svg]

    def summary(self, quick: bool) -> dict[str, Any]:
        """All but the table, as plain JSON values."""
        return {
            "name": self.name,
            "title": self.title,
            "quick": quick,
            "zorank": __version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
            "claims": [asdict(claim) for claim in self.claims],
            **self.details,
        }


def report_of_curves(
    name: str,
    title: str,
    curves: Mapping[Line, Curves],
    claims: Sequence[Claim],
    draw: Callable[[Any], None],
    conditions: Mapping[str, Any],
    told: Iterable[Line] | None = None,
) -> Report:
    """The report of a figure of curves; its summary tells of some of its lines, or of all."""
    return Report(
        name=name,
        title=title,
        claims=claims,
        draw=draw,
        columns=COLUMNS,
        records=_records(curves),
        details={
            "x0": "N(0, I)",
            **conditions,
            "lines": [_summary(line, curves[line]) for line in (told or curves)],
        },
    )


def _summary(line: Line, curves: Curves) -> dict[str, Any]:
    marks = [10**n * lead for n in range(1, 7) for lead in (1, 3)]
    marks = [mark for mark in marks if curves.points[0] <= mark <= line.points]
    return {
        "problem": line.problem,
        "dim": line.dim,
        "label": line.label,
        "method": line.setting.method,
        "options": dict(line.setting.options),
        "noise": line.noise,
        "seeds": list(line.seeds),
        "points": marks,
        "mean": [float(curves.at(mark).mean()) for mark in marks],
        "std": [float(curves.at(mark).std()) for mark in marks],
    }


def _records(curves: Mapping[Line, Curves]) -> Iterator[tuple[Any, ...]]:
    for line, found in curves.items():
        options = " ".join(f"{name}={value:g}" for name, value in line.setting.options)
        about = (line.problem, line.dim, line.noise, line.label, line.setting.method, options)
        for seed, values in zip(found.seeds, found.values, strict=True):
            for points, calls, value in zip(found.points, found.calls, values, strict=True):
                yield (*about, seed, int(points), int(calls), f"{value:.6g}")


COLUMNS = (
    *("problem", "dim", "noise", "label", "method", "options"),
    *("seed", "points", "oracle_calls", "value"),
)
