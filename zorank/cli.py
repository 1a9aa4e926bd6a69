"""The command line: it translates words into calls and results into words, and decides nothing."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from zorank import optimizers, rng, stores, theory
from zorank._version import __version__
from zorank.errors import InvalidInput, MissingExtra, ZorankError
from zorank.minimize import Result
from zorank.minimize import minimize as minimize_function
from zorank.protocols import Store
from zorank.run import Run
from zorank.terminal import rank_in_terminal
from zorank.types import Vector, as_vector

app = typer.Typer(
    name="zorank",
    help="Optimise what can be ranked but not scored.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
runs_app = typer.Typer(help="The runs kept in a store.", no_args_is_help=True)
app.add_typer(runs_app, name="runs")
out = Console()
log = Console(stderr=True)

PRINTED_COORDINATES = 20
"""A longer result goes to a file instead of the screen."""


def main() -> None:
    """Run the command line; an expected error is one sentence and exit code 2."""
    try:
        app()
    except ZorankError as error:
        log.print(f"zorank: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        out.print(__version__, highlight=False)
        raise typer.Exit


@app.command()
def minimize(
    function: Annotated[
        str | None, typer.Argument(help="What to minimise, as module:function.")
    ] = None,
    dim: Annotated[int | None, typer.Option(help="Start at a draw of N(0, I) in R^dim.")] = None,
    x0: Annotated[
        Path | None, typer.Option(help="Start at the vector in this .npy, .json or text file.")
    ] = None,
    method: Annotated[
        str, typer.Option(help=f"auto, or one of: {', '.join(optimizers.REGISTRY)}.")
    ] = "auto",
    points: Annotated[int, typer.Option(help="How many candidates may be evaluated.")] = 3000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same run.")] = 0,
    m: Annotated[int | None, typer.Option("--m", help="Candidates on a slate.")] = None,
    k: Annotated[int | None, typer.Option("--k", help="How many of them are ranked.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(help="A setting of the method, name=value; may be given several times."),
    ] = None,
    bounds: Annotated[
        str | None, typer.Option(help="low,high: keep every coordinate between them.")
    ] = None,
    maximize: Annotated[bool, typer.Option("--maximize", help="Maximise instead.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Save a picture of the progress.")] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Save x and the history as JSON; with more than 20 coordinates that is done "
            "anyway, in zorank-result.json.",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Keep the run under this name, or go on with it.")
    ] = None,
    store: Annotated[str | None, typer.Option(help="Where runs are kept (a URL or file).")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
    human: Annotated[
        bool,
        typer.Option(
            "--human",
            help="You rank, by typing; a function then says what to show of a candidate.",
        ),
    ] = False,
    rounds: Annotated[int, typer.Option(min=1, help="With --human: how many answers.")] = 20,
) -> None:
    """Minimise a Python function from the ranks of its values alone, or rank by typing.

    Example: zorank minimize zorank.problems:sphere --dim 100 --plot sphere.png
    """
    start = _start(dim, x0, seed)
    if human:
        _rank_by_hand(function, start, method, seed, m, k, option or [], store, name, rounds)
        return
    if function is None:
        raise InvalidInput("say what to minimise, as module:function, or rank yourself: --human")
    f = _load_function(function)
    _check_outputs(save, plot)
    latest: list[Result] = []

    def remember(result: Result) -> None:
        latest[:] = [result]

    try:
        result = minimize_function(
            f,
            start,
            points=points,
            method=method,
            seed=seed,
            m=m,
            k=k,
            options=_options(option or []),
            bounds=_bounds(bounds, start.size),
            maximize=maximize,
            callback=remember,
            progress=not quiet and log.is_terminal,
            store=_open_store(store) if store or name else None,
            name=name,
        )
    except KeyboardInterrupt:
        if not latest:
            raise
        result = latest[0]
        result.message = f"stopped by you after {result.points} points"
    _report(result, save, plot, function)
    if store or name:
        out.print(Text(f"kept as {result.run.name}; the same command goes on with it"))


def _rank_by_hand(
    function: str | None,
    start: Vector,
    method: str,
    seed: int,
    m: int | None,
    k: int | None,
    option: list[str],
    store: str | None,
    name: str | None,
    rounds: int,
) -> None:
    given = {key: value for key, value in (("m", m), ("k", k)) if value is not None}
    chosen = "zo-ranksgd-memory" if method == "auto" else method
    optimizer = optimizers.make(chosen, {**_options(option), **given})
    run = Run(optimizer, start, seed, _open_store(store) if store or name else None, name)
    describe = None if function is None else _load_function(function)
    rank_in_terminal(run, rounds, describe, write=lambda line: out.print(Text(line)))
    out.print(Text(f"best after {len(run.history)} answers: {run.best().tolist()}"))


@app.command()
def plan(
    dim: Annotated[int, typer.Option(help="The dimension of a candidate.")],
    largest: Annotated[int, typer.Option(help="The most candidates to show at once.")] = 12,
    rank: Annotated[int | None, typer.Option(help="Only plans that rank this many.")] = None,
    rows: Annotated[int, typer.Option(min=1, help="How many plans to list.")] = 10,
    round_seconds: Annotated[
        float, typer.Option(min=0, help="A person's seconds for a round as such.")
    ] = theory.TYPICAL.round,
    look_seconds: Annotated[
        float, typer.Option(min=0, help="Seconds to look at one candidate.")
    ] = theory.TYPICAL.look,
    compare_seconds: Annotated[
        float, typer.Option(min=0, help="Seconds to compare two candidates.")
    ] = theory.TYPICAL.compare,
) -> None:
    """How many candidates to show a person, and how many of them to have ranked.

    Quality is the share of an exact gradient's progress that one answer gives. The seconds are
    assumptions: set them to what you observe.
    """
    costs = theory.Costs(round_seconds, look_seconds, compare_seconds)
    ordered = theory.plans(dim, largest, rank, costs)
    chosen = theory.recommend(ordered)
    base = theory.plan(2, 1, dim, costs)
    table = Table(
        title=f"Plans for {dim} dimensions, best per minute first",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for heading in ("show", "rank", "quality", "compares", "seconds"):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("×round", "×shown", "×compare", "×minute"):
        table.add_column(heading, justify="right", no_wrap=True)
    for p in [*ordered[:rows], *([] if chosen in ordered[:rows] else [chosen])]:
        table.add_row(
            *(str(p.m), str(p.k), f"{p.quality:.2%}", str(p.comparisons), f"{p.seconds:.0f}"),
            *(f"{mine / pair:.2f}" for mine, pair in zip(_worth(p), _worth(base), strict=True)),
            style="bold green" if p is chosen else None,
        )
    out.print(table)
    out.print(
        "Show m candidates and have the best k ranked. Quality: the share of an exact gradient's "
        "progress that one answer gives. Compares: comparisons a person makes. ×: quality per "
        "round, candidate shown, comparison and minute, as multiples of a single pair's. "
        f"Assumed: {costs.round:g} s a round, {costs.look:g} s a candidate, "
        f"{costs.compare:g} s a comparison.",
        highlight=False,
    )
    out.print(
        f"Recommended: show {chosen.m}, have the best {chosen.k} ranked, "
        f"about {chosen.seconds:.0f} s a round: the least tiring plan within 5% of the best.",
        style="bold",
        highlight=False,
    )


@app.command()
def studio(
    renderer: Annotated[
        str | None,
        typer.Option(
            help="Offer only this: a renderer's name, or one of your own, module:object."
        ),
    ] = None,
    store: Annotated[str | None, typer.Option(help="Where runs are kept (a URL or file).")] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; others than loopback are reachable.")
    ] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(help="The port; else 8321, or any free one.")] = None,
    token: Annotated[
        str | None, typer.Option(help="The owner's token; else one that is kept.")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the link.")] = False,
) -> None:
    """Open the studio: a page on which people rank, and the pictures get better.

    Everything is kept as you go: close it, start it again, and go on.
    """
    try:
        from zorank.studio.offer import offer
        from zorank.studio.server import serve
    except ModuleNotFoundError as error:
        raise MissingExtra("the studio", error.name or "FastAPI", "studio") from error
    offered = offer(renderer, _load_object)
    serve(_open_store(store), offered, host, port, token, browser=not no_browser)


StoreOption = Annotated[str | None, typer.Option(help="The store (a URL or file).")]


@runs_app.command("list")
def list_runs(store: StoreOption = None) -> None:
    """All runs of a store."""
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


@runs_app.command("show")
def show_run(
    name: str,
    store: StoreOption = None,
    rounds: Annotated[int, typer.Option(min=1, help="How many of the last rounds.")] = 20,
) -> None:
    """One run: its configuration and its last rounds."""
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


@runs_app.command("export")
def export_run(
    name: str,
    store: StoreOption = None,
    save: Annotated[Path | None, typer.Option("--out", help="The file; else the screen.")] = None,
) -> None:
    """A run as JSON: what it takes to make it again, its log, and its best point."""
    text = json.dumps(Run.open(_existing_store(store), name).export(), indent=2)
    if save is None:
        sys.stdout.write(text + "\n")
    else:
        _write(save, text)


@runs_app.command("delete")
def delete_run(
    name: str,
    store: StoreOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Forget a run and its log for good."""
    opened = _existing_store(store)
    answered = _answered(opened, name)
    if not yes:
        typer.confirm(f"Delete {name} and its {answered} rounds for good?", abort=True)
    opened.delete(name)
    out.print(Text(f"deleted {name}"))


def _worth(p: theory.Plan) -> tuple[float, ...]:
    return p.quality, p.per_candidate, p.per_comparison, p.per_minute


def _open_store(url: str | None) -> Store:
    return stores.open_store(url or stores.default_url())


def _existing_store(url: str | None) -> Store:
    """A store to look at: a file that is not there is not made."""
    where = url or stores.default_url()
    path = where.removeprefix("sqlite:///")
    if "://" not in path and not Path(path).exists():
        if url is None:
            return stores.MemoryStore()
        raise InvalidInput(f"there is no store at {where}")
    return stores.open_store(where)


def _answered(store: Store, name: str) -> int:
    return sum(line.answer is not None for line in store.rounds(name))


def _load_function(target: str) -> Callable[[Vector], Any]:
    function = _load_object(target)
    if not callable(function):
        raise InvalidInput(f"{target!r} is not a function")
    return function  # type: ignore[no-any-return]


def _load_object(target: str) -> Any:
    module_name, _, function_name = target.partition(":")
    if not module_name or not function_name or "/" in target or module_name.endswith(".py"):
        hint = f"{Path(module_name).stem or 'module'}:{function_name or 'function'}"
        raise InvalidInput(
            f"a function is given as module:function, such as {hint}, found {target!r}; "
            "the module is looked for in the current folder first"
        )
    sys.path.insert(0, "")  # a module in the current folder, as with python -m
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise InvalidInput(f"the module {error.name!r} of {target!r} is not found") from error
    except Exception as error:  # whatever somebody's module raises while it is imported
        said = f"{type(error).__name__}: {error}"
        raise InvalidInput(f"the module {module_name!r} cannot be imported ({said})") from error
    if not hasattr(module, function_name):
        raise InvalidInput(f"the module {module_name!r} has no {function_name!r}")
    return getattr(module, function_name)


def _start(dim: int | None, file: Path | None, seed: int) -> Vector:
    if (dim is None) == (file is None):
        raise InvalidInput("give the start either as --dim N or as --x0 FILE")
    if dim is not None:
        if dim < 1:
            raise InvalidInput(f"--dim must be at least 1, found {dim}")
        return np.random.default_rng(rng.check_seed(seed)).standard_normal(dim)
    return as_vector(_read_vector(file or Path()), f"the start in {file}")


def _read_vector(file: Path) -> Any:
    try:
        if file.suffix == ".npy":
            return np.load(file, allow_pickle=False)
        if file.suffix == ".json":
            return json.loads(file.read_text())
        return np.loadtxt(file, delimiter="," if file.suffix == ".csv" else None, ndmin=1)
    except (OSError, ValueError, EOFError, OverflowError) as error:
        raise InvalidInput(f"the start cannot be read from {file}: {error}") from error


def _options(pairs: list[str]) -> dict[str, Any]:
    options = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals:
            raise InvalidInput(f"a setting is given as name=value, found {pair!r}")
        try:
            options[key] = json.loads(text)
        except ValueError:
            options[key] = text  # a word, such as space=gaussian
    return options


def _bounds(text: str | None, dim: int) -> list[tuple[float, float]] | None:
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError as error:
        raise InvalidInput(f"bounds are given as low,high, found {text!r}") from error
    return [(low, high)] * dim


def _check_outputs(save: Path | None, plot: Path | None) -> None:
    """Raise before a long run, not after it, if its results could not be written."""
    for path in (save, plot):
        if path is not None and not path.parent.is_dir():
            raise InvalidInput(f"{path} cannot be written: {path.parent} is not a folder")
        if path is not None:
            _try_to_write(path)
    if plot is not None:
        from zorank.plots import check_plot_file

        check_plot_file(plot)


def _report(result: Result, save: Path | None, plot: Path | None, title: str) -> None:
    if save is None and result.x.size > PRINTED_COORDINATES:
        save = Path("zorank-result.json")
    if save is not None:  # before anything is printed: a closed pipe must not lose the result
        data = {"x": result.x.tolist(), "fun": result.fun, "message": result.message}
        counts = {"points": result.points, "rounds": result.rounds, "history": result.history}
        _write(save, json.dumps({**data, **counts}))
    if plot is not None:
        from zorank.plots import plot_history

        plot_history(result.history, plot, title)
    out.print(str(result), highlight=False, markup=False, soft_wrap=True)
    for what, path in (("all of x and the history", save), ("plot", plot)):
        if path is not None:
            out.print(f"{what}: {path}", highlight=False, markup=False, soft_wrap=True)


def _try_to_write(path: Path) -> None:
    existed = path.exists()
    try:
        path.open("a").close()
        if not existed:
            path.unlink()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text + "\n")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from error


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)
