"""Shared by the benchmarks: options, running to the end, and printing a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from rich.table import Table

from zorank.cli.common import log, out

if TYPE_CHECKING:
    from zorank.experiments.report import Report

T = TypeVar("T")

FolderOption = Annotated[
    Path, typer.Option("--out", help="The folder for results and finished trials.")
]
WorkersOption = Annotated[
    int | None, typer.Option(min=1, help="Number of processes; default: one per core.")
]
Peers = Annotated[list[str] | None, typer.Option(help="Only this optimizer; may be repeated.")]
Dims = Annotated[
    list[int] | None, typer.Option(min=2, help="Only this dimension; may be repeated.")
]
QuickOption = Annotated[
    bool, typer.Option("--quick", help="A small version, about a minute; not conclusive.")
]


def run_to_end(run: Callable[[], T]) -> T:
    """Return the result of `run`; on Ctrl-C, say how to continue, and exit."""
    try:
        return run()
    except KeyboardInterrupt:
        log.print("stopped; finished trials are stored, run the same command again to continue")
        raise typer.Exit(130) from None


def print_report(
    report: Report, folder: Path, tables: Iterable[Table], quick: bool = False
) -> None:
    """Write the files of a report, and print its tables and the names of the files."""
    files = report.save(folder)
    if quick:
        out.print("Quick: only a check that everything works; too few runs to be conclusive.")
    for table in tables:
        out.print(table)
    out.print(
        f"files: {', '.join(map(str, files))}", highlight=False, markup=False, soft_wrap=True
    )
