"""What the commands of zorank bench share: tables, claims, and the files they write."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from zorank.cli.common import out
from zorank.errors import InvalidInput


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


def print_files(files: Sequence[Path]) -> None:
    """Say which files were written."""
    out.print(
        f"files: {', '.join(map(str, files))}", highlight=False, markup=False, soft_wrap=True
    )
