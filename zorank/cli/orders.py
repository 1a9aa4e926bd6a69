"""Prints the order of a finite set, for `zorank runs order`."""

from __future__ import annotations

import csv
import sys

from rich.table import Table
from rich.text import Text

from zorank.cli.common import out
from zorank.items import Order
from zorank.optimizers.rank_items import ENOUGH
from zorank.renderers.folder.manifest import Manifest
from zorank.run import Run

COLUMNS = ("rank", "name", "score", "sd", "ahead", "item")


def item_names(run: Run) -> list[str]:
    """Return the names of a run's items: those of its files, or their numbers."""
    manifest = run.record.meta.get("renderer_options", {}).get("manifest", "")
    if manifest:
        return [item.name for item in Manifest.parse(manifest).items]
    return [str(index) for index in range(run.record.options.get("items", 0))]


def print_order(found: Order[str], as_csv: bool) -> None:
    """Print an order as a table or as comma-separated values."""
    if as_csv:
        writer = csv.writer(sys.stdout)
        writer.writerow(COLUMNS)
        for rank, name, score, sd, ahead, item in _rows(found):
            chance = "" if ahead is None else f"{ahead:.4f}"
            writer.writerow([rank, _harmless(name), f"{score:.6g}", f"{sd:.6g}", chance, item])
        return
    table = Table()
    for heading in ("", "name", "score", "ahead"):
        table.add_column(heading)
    for rank, name, score, sd, ahead, _ in _rows(found):
        chance = "" if ahead is None else f"{100 * ahead:.0f}%"
        table.add_row(str(rank), Text(name), f"{score:+.2f} ± {sd:.2f}", chance)
    out.print(table)
    enough = "settled" if found.is_settled else f"not yet {100 * ENOUGH:.0f}%"
    out.print(
        f"{100 * found.certainty:.0f}% of pairs are expected to be in the right order "
        f"({enough}), after {found.rounds} rounds",
        highlight=False,
    )


def _rows(found: Order[str]) -> list[tuple[int, str, float, float, float | None, int]]:
    ahead = [*found.ahead.tolist(), None]
    return [
        (rank + 1, found.items[i], float(found.scores[i]), float(found.sd[i]), ahead[rank], i)
        for rank, i in enumerate(found.order.tolist())
    ]


def _harmless(name: str) -> str:
    """Return a name that a spreadsheet does not take for a formula."""
    return f"'{name}" if name.startswith(("=", "+", "-", "@")) else name
