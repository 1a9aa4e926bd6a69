"""zorank runs: list, show, export and delete the runs of a store."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from zorank import stores
from zorank.cli.common import StoreOption, out, write_text
from zorank.errors import InvalidInput
from zorank.protocols import Store
from zorank.run import Run

app = typer.Typer(help="List, show, export and delete the runs of a store.", no_args_is_help=True)


@app.command("list")
def list_runs(store: StoreOption = None) -> None:
    """List the runs of a store."""
    opened = _existing_store(store)
    table = Table()
    for heading in ("name", "optimizer", "dim", "rounds", "created"):
        table.add_column(heading)
    for record in opened.runs():
        created = datetime.fromtimestamp(record.created_at).strftime("%Y-%m-%d %H:%M")
        answered = _answered(opened, record.name)
        row = (record.name, record.optimizer, str(record.x0.size), str(answered), created)
        table.add_row(*map(Text, row))
    out.print(table if table.row_count else "no runs yet")


@app.command("show")
def show_run(
    name: str,
    store: StoreOption = None,
    rounds: Annotated[int, typer.Option(min=1, help="How many of the last rounds to show.")] = 20,
) -> None:
    """Show the configuration and the last rounds of a run."""
    run = Run.open(_existing_store(store), name)
    record = run.record
    settings = json.dumps(dict(record.options))
    for line in (repr(run), f"seed {record.seed}, zorank {record.version}, settings {settings}"):
        out.print(Text(line))
    table = Table()
    columns = list(dict.fromkeys(key for row in run.history for key in row))
    for heading in columns:
        table.add_column(Text(heading))
    for row in run.history[-rounds:]:
        table.add_row(*(Text(_cell(row.get(column))) for column in columns))
    out.print(table if table.row_count else "no round answered yet")


@app.command("export")
def export_run(
    name: str,
    store: StoreOption = None,
    save: Annotated[
        Path | None,
        typer.Option("--out", help="The file to write; the default is standard output."),
    ] = None,
) -> None:
    """Export a run as JSON: its configuration, its log and its best point."""
    text = json.dumps(Run.open(_existing_store(store), name).export(), indent=2)
    if save is None:
        sys.stdout.write(text + "\n")
    else:
        write_text(save, text)


@app.command("delete")
def delete_run(
    name: str,
    store: StoreOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Delete a run and its log permanently."""
    opened = _existing_store(store)
    answered = _answered(opened, name)
    if not yes:
        typer.confirm(f"Delete {name} and its {answered} rounds permanently?", abort=True)
    opened.delete(name)
    out.print(Text(f"deleted {name}"))


def _existing_store(url: str | None) -> Store:
    """Open a store for reading; a missing file is not created."""
    where = url or stores.default_url()
    path = where.removeprefix("sqlite:///")
    if "://" not in path and not Path(path).exists():
        if url is None:
            return stores.MemoryStore()
        raise InvalidInput(f"there is no store at {where}")
    return stores.open_store(where)


def _answered(store: Store, name: str) -> int:
    return sum(line.answer is not None for line in store.rounds(name))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)
