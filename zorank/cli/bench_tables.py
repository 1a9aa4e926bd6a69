"""What the commands of zorank bench share: tables, claims, and the files they write."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import typer
from rich import box
from rich.table import Table

from zorank.cli.common import log, out, write_text
from zorank.errors import InvalidInput

T = TypeVar("T")


def claim_table(claims: Sequence[Mapping[str, Any]], about: str) -> Table:
    """Every claim about a method: measured, needed, and whether it holds."""
    table = new_table("Claims")
    table.add_column(f"{about} …")
    for heading in ("measured", "needed", "holds"):
        table.add_column(heading, no_wrap=True)
    for claim in claims:
        table.add_row(
            *(
                f"{claim['name']} [dim]({claim['where']})[/]",
                with_error(claim["measured"], claim),
                claim["needed"],
            ),
            "[green]yes[/]" if claim["holds"] else "[bold red]no[/]",
        )
    return table


def new_table(title: str) -> Table:
    """An empty table in the style of all others."""
    return Table(title=title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title_justify="left")


def with_error(value: float, row: Mapping[str, Any]) -> str:
    """A value and the row's standard error, if it has one."""
    error = row["standard_error"]
    return f"{value:.2f}" if error is None else f"{value:.2f} ±{f'{error:.2f}'.lstrip('0')}"


def write_csv(file: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Write records that have the same fields."""
    try:
        with file.open("w", newline="", encoding="utf-8") as handle:
            writer = csv.DictWriter(handle, list(records[0]))
            writer.writeheader()
            writer.writerows(records)
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}") from error


def run_to_end(run: Callable[[], T], what: str) -> T:
    """What `run` returns; Ctrl-C ends the command and says that nothing is lost."""
    try:
        return run()
    except KeyboardInterrupt:
        log.print(f"stopped; finished {what} are kept, and the same command goes on from there")
        raise typer.Exit(130) from None


def write_results(
    folder: Path,
    name: str,
    found: Mapping[str, Any],
    records: Sequence[Mapping[str, Any]],
    plot: Callable[[list[Path]], None],
) -> list[Path]:
    """Write a study's table, findings and figure as NAME.csv, .json, .png and .svg."""
    table, told, *pictures = (folder / f"{name}.{kind}" for kind in ("csv", "json", "png", "svg"))
    write_csv(table, records)
    write_text(told, json.dumps(found, indent=1, ensure_ascii=False))
    plot(pictures)
    return [table, told, *pictures]


def print_files(files: Sequence[Path]) -> None:
    """Say which files were written."""
    out.print(
        f"files: {', '.join(map(str, files))}", highlight=False, markup=False, soft_wrap=True
    )
