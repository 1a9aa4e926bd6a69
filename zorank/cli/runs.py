"""zorank runs: list, show, export and delete the runs of a store, and what it has of people."""

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
from zorank._raters import export_rater, forget_rater
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
    _write_json(Run.open(_existing_store(store), name).export(), save)


@app.command("export-rater")
def export_one_rater(
    name: str,
    rater: str,
    store: StoreOption = None,
    save: Annotated[
        Path | None,
        typer.Option("--out", help="The file to write; the default is standard output."),
    ] = None,
) -> None:
    """Export all data of one person in a run as JSON: answers, times, invitation."""
    _write_json(export_rater(_existing_store(store), name, rater), save)


@app.command("forget-rater")
def forget_one_rater(
    name: str,
    rater: str,
    store: StoreOption = None,
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove the person's answers, too.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Replace a person's name by a pseudonym in a run, or remove the person's answers.

    Their link stops working. A round that nobody else answered becomes "no difference" if answers
    are removed; what the run has learned changes from there on, what it has shown does not.
    """
    opened = _existing_store(store)
    answers = len(export_rater(opened, name, rater)["answers"])
    if not yes:
        what = "Remove" if remove else "Anonymise"
        typer.confirm(f"{what} {answers} answers of {rater} in {name} permanently?", abort=True)
    done = forget_rater(opened, name, rater, remove)
    said = f"removed {done.answers} answers" if remove else f"{rater} is {done.pseudonym} now"
    rounds = ", ".join(str(index) for index in done.emptied)
    out.print(Text(said + (f"; no difference in rounds {rounds}" if rounds else "")))


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


def _write_json(data: dict[str, Any], file: Path | None) -> None:
    text = json.dumps(data, indent=2)
    if file is None:
        sys.stdout.write(text + "\n")
    else:
        write_text(file, text)


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
