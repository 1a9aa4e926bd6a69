"""The files of a finished experiment: a table, a summary with the claims, and a figure."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zorank.errors import InvalidInput
from zorank.experiments import plotting
from zorank.experiments.claims import Claim


@dataclass(frozen=True, eq=False, kw_only=True)
class Report:
    """A finished experiment.

    Attributes:
        name: the stem of its files.
        title: what it shows, in a few words.
        claims: what is claimed and what was measured.
        summary: the content of NAME.json: JSON values, with the claims.
        columns: the headings of NAME.csv; without any, no table is written.
        records: the rows of NAME.csv.
        draw: draws on an empty Matplotlib figure.
        measure: the meaning of the measured numbers of the claims.
    """

    name: str
    title: str = ""
    claims: Sequence[Claim] = ()
    summary: Mapping[str, Any]
    columns: Sequence[str] = ()
    records: Iterable[Sequence[Any]] = ()
    draw: Callable[[Any], None]
    measure: str = ""

    def save(self, folder: Path) -> list[Path]:
        """Write NAME.csv, NAME.json, NAME.png and NAME.svg; return their paths."""
        table, summary, *figures = (
            folder / f"{self.name}.{kind}" for kind in ("csv", "json", "png", "svg")
        )
        try:
            if self.columns:
                with table.open("w", newline="", encoding="utf-8") as handle:
                    writer = csv.writer(handle)
                    writer.writerow(self.columns)
                    writer.writerows(self.records)
            text = json.dumps(self.summary, indent=1, ensure_ascii=False)
            summary.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise InvalidInput(f"{error.filename} cannot be written: {error.strerror}") from error
        plotting.save(self.draw, figures)
        return [*([table] if self.columns else []), summary, *figures]
