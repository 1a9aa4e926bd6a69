"""The context in which a figure is made: it runs sweeps and builds the figure's report."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from zorank._version import __version__
from zorank.experiments.claims import Claim
from zorank.experiments.report import Report
from zorank.experiments.sweep import Row, Sweep

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")


@dataclass(frozen=True)
class FigureContext:
    """The settings of `zorank reproduce`.

    Attributes:
        folder: where results are written and finished trials are stored.
        quick: whether to make the small version, which only checks that everything works.
        workers: number of processes; None is one per core.
        console: where to show progress bars; None shows none.
        model: a diffusers pipeline for the figures of pictures; None is dream.
        prompt: the prompt of all pictures; None uses one prompt after another.
        judge: the model that judges pictures: "dream" or "clip".
        judge_model: the folder or hub id of the CLIP model; None is its default.
    """

    folder: Path
    quick: bool = False
    workers: int | None = None
    console: Console | None = None
    model: str | None = None
    prompt: str | None = None
    judge: str = "dream"
    judge_model: str | None = None

    def run(self, sweep: Sweep[T], trials: Iterable[T]) -> dict[T, Row]:
        """Return the row of each trial; finished trials are not rerun."""
        return sweep.run(trials, self.folder, workers=self.workers, console=self.console)

    def report(
        self,
        *,
        name: str,
        title: str,
        claims: Sequence[Claim],
        draw: Callable[[Any], None],
        columns: Sequence[str],
        records: Iterable[Sequence[Any]],
        details: Mapping[str, Any],
        measure: str,
    ) -> Report:
        """Build the report of a figure.

        Args:
            name: the stem of its files, as in `FIGURES`.
            title: what it shows, in a few words.
            claims: what is claimed and what was measured.
            draw: draws on an empty Matplotlib figure.
            columns: the headings of NAME.csv.
            records: the rows of NAME.csv.
            details: all settings needed to repeat it, and further results, for NAME.json.
            measure: the meaning of the measured numbers of the claims, printed below them.
        """
        summary = {
            "name": name,
            "title": title,
            "quick": self.quick,
            "zorank": __version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
            "claims": [claim.to_json() for claim in claims],
            **details,
        }
        return Report(
            name=name,
            title=title,
            claims=claims,
            summary=summary,
            columns=columns,
            records=records,
            draw=draw,
            measure=measure,
        )
