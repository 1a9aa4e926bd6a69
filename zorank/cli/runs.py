"""zorank runs: the runs of a store, its backups, and what it has of people."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from zorank import stores
from zorank._raters import export_rater, forget_rater
from zorank._rebinding import rebind
from zorank.cli import export as data
from zorank.cli.common import StoreOption, log, out, read_pairs, write_text
from zorank.cli.orders import item_names, print_order
from zorank.data_export import Export
from zorank.errors import InvalidInput, StoreError, required_by
from zorank.items import order_of
from zorank.protocols import Store
from zorank.renderers.style.kept import KeptPhotos
from zorank.run import Run

app = typer.Typer(
    help="List, show, export and delete the runs of a store, back it up and restore it.",
    no_args_is_help=True,
)

OutputFile = Annotated[
    Path | None,
    typer.Option("--out", help="The file to write; the default is standard output."),
]
YesFlag = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]

QUIET_SECONDS = 2.0
"""How long a copy takes before it shows a progress bar."""


@app.command("list")
def list_runs(store: StoreOption = None) -> None:
    """List the runs of a store. The problems of damaged runs are printed below the list."""
    opened = _existing_store(store)
    table = Table()
    for heading in ("name", "optimizer", "dim", "rounds", "created"):
        table.add_column(heading)
    problems = []
    for record in opened.runs():
        created = datetime.fromtimestamp(record.created_at).strftime("%Y-%m-%d %H:%M")
        try:
            if record.problem:
                raise StoreError(record.problem)
            answered = str(_answered(opened, record.name))
        except StoreError as error:
            answered = "damaged"
            problems.append(f"{record.name}: {error}")
        row = (record.name, record.optimizer, str(record.x0.size), answered, created)
        table.add_row(*map(Text, row))
    out.print(table if table.row_count else "no runs yet")
    for problem in problems:
        out.print(Text(problem, style="red"), soft_wrap=True)


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


@app.command("order")
def show_order(
    name: str,
    store: StoreOption = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
) -> None:
    """Print the order of a run that ranks a folder or a table, best first, and its certainty.

    A score is a posterior mean with its standard deviation; "ahead" is the probability that a
    thing is better than the next one.

    Example: zorank runs order cheerful-lake --csv > order.csv
    """
    run = Run.open(_existing_store(store), name)
    print_order(order_of(run, item_names(run)), as_csv)


@app.command("set")
def set_options(
    name: str,
    options: Annotated[list[str], typer.Argument(metavar="OPTION=PATH...")],
    store: StoreOption = None,
    renderer: data.RendererOption = None,
) -> None:
    """Tell a run where its files are, if they were moved: a model, its LoRAs, a photo.

    The files must be the same ones: they are loaded to see whether they fit the run. Other options
    cannot change. The change is logged in the run; a studio uses it from the next request on.

    Example: zorank runs set cheerful-lake model=/models/sd15
    """
    opened = _existing_store(store)
    done = rebind(opened, name, data.offered_renderers(renderer), read_pairs(options))
    for each in done:
        out.print(Text(f"{each.option} is {each.new} now"), soft_wrap=True)
    if not done:
        out.print("nothing has changed")


@app.command("export")
def export_run(
    name: str,
    store: StoreOption = None,
    save: OutputFile = None,
    format: data.FormatOption = None,
    pictures: data.PicturesOption = None,
    renderer: data.RendererOption = None,
    option: data.RendererSettings = None,
    prompt: data.PromptOption = None,
    ties: data.TiesFlag = False,
    names: data.NamesFlag = False,
    force: data.ForceFlag = False,
) -> None:
    """Export a run as JSON: its configuration, its log and its best point.

    With --format, export its answers as data for other programs: --out names a file, or a folder,
    which gets a description (README.md), too.

    Examples: zorank runs export teapot --format pairs --out pairs.jsonl; zorank runs export teapot
    --format parquet --out data --pictures data/pictures
    """
    run = Run.open(_existing_store(store), name)
    if format is not None:
        export = Export(format, save, pictures, prompt, ties, names, force)
        data.write_data(run, export, renderer, option, _progress)
    elif pictures or renderer or option or prompt or ties or names or force:
        raise InvalidInput(
            "these options are for exported data; add --format, such as --format csv"
        )
    else:
        _write_json(run.export(), save)


@app.command("export-rater")
def export_one_rater(
    name: str,
    rater: str,
    store: StoreOption = None,
    save: OutputFile = None,
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
    yes: YesFlag = False,
) -> None:
    """Replace a person's name by a pseudonym in a run, or remove the person's answers.

    Their link stops working. A round that nobody else answered becomes "no difference" if answers
    are removed. The model changes from that round on; the slates that were shown do not.
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
    yes: YesFlag = False,
) -> None:
    """Delete a run and its log permanently, also if it is damaged."""
    opened = _existing_store(store)
    try:
        what = f"{name} and its {_answered(opened, name)} rounds"
    except StoreError:
        what = f"{name}, which is damaged,"
    if not yes:
        typer.confirm(f"Delete {what} permanently?", abort=True)
    opened.delete(name)
    KeptPhotos.of_user().release(name)
    out.print(Text(f"deleted {name}"))


@app.command("backup")
def backup_runs(
    file: Annotated[Path, typer.Argument(help="The new file of the backup.")],
    store: StoreOption = None,
) -> None:
    """Copy a whole store into FILE, also while a studio uses it.

    The backup has all runs with their answers at one moment, undone rounds included. It is a
    SQLite file, whichever database the store is in, and can be used as a store: zorank runs list
    --store FILE. It contains everything that raters answered, so only you can read it.

    Example: zorank runs backup runs-2026-11-18.db
    """
    with required_by("a backup", "sqlalchemy", "sql"):
        from zorank.stores.backup import backup

    with _progress("backup") as progress:
        counts = backup(store or stores.default_url(), file, progress)
    out.print(Text(f"{file} has {_summary(counts)}"))


@app.command("restore")
def restore_runs(
    file: Annotated[Path, typer.Argument(help="The file of zorank runs backup.")],
    store: Annotated[
        str, typer.Option(help="The new or empty store (a URL or file) to copy the runs into.")
    ],
) -> None:
    """Copy the backup FILE into an empty store. Nothing is ever overwritten.

    If a store was lost, stop the studio, move what is left of the store to another place, restore
    the backup in its place, and start the studio again. To change the database, back up the old
    store and restore the backup into the new one.

    Examples: zorank runs restore runs-2026-11-18.db --store runs.db; zorank runs restore
    runs-2026-11-18.db --store postgresql+psycopg://HOST/NAME
    """
    with required_by("a backup", "sqlalchemy", "sql"):
        from zorank.stores.backup import restore

    with _progress("restore") as progress:
        counts = restore(file, store, progress)
    out.print(Text(f"restored {_summary(counts)}"))


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that takes the done and the total; it shows a bar if that takes long."""
    began = time.monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=log, disable=not log.is_terminal)
    task = bar.add_task(what)

    def show(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)
        if time.monotonic() - began > QUIET_SECONDS:
            bar.start()

    try:
        yield show
    finally:
        bar.stop()


def _summary(counts: Mapping[str, int]) -> str:
    """Return the numbers of rows in words."""
    runs, rounds, ballots = (counts.get(f"zorank_{t}", 0) for t in ("runs", "rounds", "ballots"))
    return f"{runs} runs, {rounds} rounds (undone ones included) and {ballots} ballots"


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
