"""zorank minimize: minimise a Python function, or rank candidates in the terminal."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.text import Text

from zorank import executors, optimizers, rng
from zorank._machine import memory_bytes
from zorank._setup import KEY, space_settings
from zorank.cli.common import (
    check_writable,
    load_function,
    log,
    open_store,
    out,
    read_values,
    read_vector,
    write_text,
)
from zorank.cli.terminal import make_optimizer, rank_in_terminal
from zorank.errors import InvalidInput, short
from zorank.minimize import Result
from zorank.minimize import minimize as minimize_function
from zorank.run import Run
from zorank.spaces import SearchSpace
from zorank.types import Vector, as_vector

PRINTED_COORDINATES = 20
"""A longer x is written to a file."""

LARGEST_SPACE = 1_000_000
"""The most characters of a file that declares a space: a device may have no end."""

Function = Annotated[
    str | None, typer.Argument(help="The function to minimise, as module:function.")
]
Dim = Annotated[int | None, typer.Option(help="Start at a draw from N(0, I) in R^dim.")]
StartFile = Annotated[
    Path | None, typer.Option(help="Start at the vector in this .npy, .json or text file.")
]
Method = Annotated[str, typer.Option(help=f"One of: {', '.join(optimizers.REGISTRY)}.")]
Points = Annotated[int, typer.Option(help="The largest number of evaluations.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same run.")]
SlateSize = Annotated[int | None, typer.Option("--m", help="Candidates on a slate.")]
Ranked = Annotated[int | None, typer.Option("--k", help="How many of them are ranked.")]
MethodOption = Annotated[
    list[str] | None,
    typer.Option(help="A setting of the method, name=value; may be given several times."),
]
Bounds = Annotated[str | None, typer.Option(help="low,high: the bounds of every coordinate.")]
Maximize = Annotated[bool, typer.Option("--maximize", help="Maximise instead.")]
Vectorized = Annotated[
    bool,
    typer.Option(
        "--vectorized",
        help="The function takes all candidates at once, a row for each (a dict for each with "
        "--space), and returns as many numbers.",
    ),
]
PlotFile = Annotated[Path | None, typer.Option(help="Save a plot of the progress here.")]
ResultFile = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="Save x and the history as JSON here. With more than 20 coordinates the default is "
        "zorank-result.json.",
    ),
]
RunName = Annotated[str | None, typer.Option(help="Store the run, or resume it, by this name.")]
StoreURL = Annotated[str | None, typer.Option(help="The store of runs (a URL or file).")]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Evaluate candidates in this many processes.")
]
ClusterAddress = Annotated[
    str | None, typer.Option(help="Evaluate candidates on the workers of this Dask scheduler.")
]
Deadline = Annotated[
    float | None,
    typer.Option(
        help="Seconds for a slate, with --workers or --cluster; late candidates stay unranked."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress bar.")]
Human = Annotated[
    bool, typer.Option("--human", help="Rank by typing; the function returns what to print.")
]
Rounds = Annotated[int, typer.Option(min=1, help="With --human: how many rounds to answer.")]
SpaceFile = Annotated[
    Path | None,
    typer.Option(
        help="Search the named parameters that this .toml or .json file declares; the function "
        "gets a dict."
    ),
]


def minimize(
    function: Function = None,
    dim: Dim = None,
    x0: StartFile = None,
    method: Method = "auto",
    points: Points = 3000,
    seed: Seed = 0,
    m: SlateSize = None,
    k: Ranked = None,
    option: MethodOption = None,
    bounds: Bounds = None,
    maximize: Maximize = False,
    plot: PlotFile = None,
    save: ResultFile = None,
    name: RunName = None,
    store: StoreURL = None,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    deadline: Deadline = None,
    quiet: Quiet = False,
    human: Human = False,
    rounds: Rounds = 20,
    space: SpaceFile = None,
    vectorized: Vectorized = False,
) -> None:
    """Minimise a Python function from the ranks of its values alone, or rank by typing.

    A file of --space has a line for each parameter: lr = {log = [1e-5, 1e-1]},
    layers = {int = [1, 8]}, act = {choice = ["relu", "gelu"]} or x = {float = [0, 1]}.

    Example: zorank minimize zorank.problems:sphere --dim 100 --plot sphere.png
    """
    declared = None if space is None else _read_space(space, dim, x0, bounds)
    start = _start(dim, x0, seed) if declared is None else declared.start()
    interval = _interval(bounds)
    settings: dict[str, Any] = {"m": m, "k": k, "options": read_values(option or [])}
    if human:
        _refuse_with_human(
            {"--out": save, "--plot": plot, "--maximize": maximize, "--vectorized": vectorized}
        )
        _rank_in_terminal(
            _run_by_hand(method, start, seed, declared, interval, settings, store, name),
            rounds,
            function,
        )
        return
    if function is None:
        raise InvalidInput("give the function as module:function, or rank yourself with --human")
    f = load_function(function)
    _check_outputs(save, plot)
    executor = _executor(workers, cluster, deadline)
    settings |= {"points": points, "method": method, "seed": seed, "maximize": maximize}
    settings |= {"bounds": None if interval is None else [interval] * start.size}
    settings |= {"space": declared, "vectorized": vectorized}
    settings |= {"store": _store(store, name), "name": name, "deadline": deadline}
    settings |= {"progress": not quiet and log.is_terminal}
    result = _until_interrupted(f, start if declared is None else None, executor, settings)
    _report(result, save, plot, function)
    if store or name:
        out.print(Text(f"stored as {result.run.name}; the same command resumes it"))


def _until_interrupted(
    f: Callable[[Vector], Any],
    x0: Vector | None,
    opened: AbstractContextManager[Executor | None],
    settings: dict[str, Any],
) -> Result:
    """Minimise; on Ctrl-C return the result of the rounds so far."""
    latest: list[Result] = []

    def remember(result: Result) -> None:
        latest[:] = [result]

    try:
        with opened as executor:
            return minimize_function(f, x0, executor=executor, callback=remember, **settings)
    except KeyboardInterrupt:
        if not latest:
            raise
        latest[0].message = f"interrupted after {latest[0].points} points"
        return latest[0]


def _executor(
    workers: int | None, cluster: str | None, deadline: float | None
) -> AbstractContextManager[Executor | None]:
    """Choose the executor that the options name; None evaluates in this process."""
    if workers is not None and cluster is not None:
        raise InvalidInput("--workers and --cluster exclude each other; give one of them")
    if workers is not None:
        return _open(lambda: executors.Processes(workers))
    if cluster is not None:
        return _open(lambda: executors.Cluster(cluster))
    if deadline is not None:
        raise InvalidInput("--deadline requires --workers or --cluster")
    return nullcontext()


@contextmanager
def _open(make: Callable[[], Executor]) -> Iterator[Executor]:
    """Open an executor; after an error, close it without waiting for its tasks."""
    with make() as executor:
        try:
            yield executor
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise


def _refuse_with_human(given: dict[str, Any]) -> None:
    for flag, value in given.items():
        if value:
            raise InvalidInput(f"{flag} cannot be used with --human; leave one of them out")


def _run_by_hand(
    method: str,
    start: Vector,
    seed: int,
    space: SearchSpace | None,
    interval: tuple[float, float] | None,
    settings: dict[str, Any],
    store: str | None,
    name: str | None,
) -> Run:
    """Return the run of --human, in a space if there is one."""
    meta = {}
    if space is not None:
        by_hand = "rank-process" if method == "auto" else method
        meta = {KEY: space.to_json()}
        settings = {**settings, "options": space_settings(by_hand, space) | settings["options"]}
    optimizer = make_optimizer(method, start, seed, bounds=interval, **settings)
    return Run(optimizer, start, seed, _store(store, name), name, meta=meta)


def _rank_in_terminal(run: Run, rounds: int, function: str | None) -> None:
    describe: Callable[..., Any] | None = None if function is None else load_function(function)
    if run.space is not None:
        shown = describe or str
        describe = lambda x: shown(run.params(x))  # noqa: E731
    rank_in_terminal(run, rounds, describe, write=lambda line: out.print(Text(line)))
    best = run.best().tolist() if run.space is None else run.params()
    out.print(Text(f"best after {len(run.history)} answers: {best}"))


def _read_space(file: Path, dim: int | None, x0: Path | None, bounds: str | None) -> SearchSpace:
    """Read the parameters that a file declares."""
    for flag, value in (("--dim", dim), ("--x0", x0), ("--bounds", bounds)):
        if value is not None:
            raise InvalidInput(f"--space and {flag} exclude each other; leave one of them out")
    try:
        with file.open(encoding="utf-8") as opened:
            text = opened.read(LARGEST_SPACE + 1)
        if len(text) > LARGEST_SPACE:
            raise ValueError(f"it has more than {LARGEST_SPACE} characters")
        is_json = file.suffix == ".json"
        declared = json.loads(text, object_pairs_hook=_once) if is_json else tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(f"the space cannot be read from {file}: {error}") from error
    if not isinstance(declared, dict):
        raise InvalidInput(f"{file} must declare named parameters, found {short(declared)}")
    return SearchSpace.from_json(declared)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; raise ValueError if it has a name twice, as TOML does."""
    for name, count in Counter(name for name, _ in pairs).items():
        if count > 1:
            raise ValueError(f"it has the name {name!r} {count} times; choose other names")
    return dict(pairs)


def _store(url: str | None, name: str | None) -> Any:
    return open_store(url) if url or name else None


def _start(dim: int | None, file: Path | None, seed: int) -> Vector:
    if (dim is None) == (file is None):
        raise InvalidInput("give the start either as --dim N or as --x0 FILE, or a --space FILE")
    if dim is not None:
        _check_dim(dim)
        return np.random.default_rng(rng.check_seed(seed)).standard_normal(dim)
    return as_vector(read_vector(file or Path()), f"the start in {file}")


def _check_dim(dim: int) -> None:
    if dim < 1:
        raise InvalidInput(f"--dim must be at least 1, found {dim}")
    memory = memory_bytes()
    if 8 * dim > memory:
        raise InvalidInput(
            f"one candidate of --dim {short(dim)} needs more than the {memory / 1e9:,.0f} GB of "
            "memory that this machine has; choose a smaller dimension"
        )


def _interval(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError as error:
        raise InvalidInput(f"--bounds must be low,high, found {short(text)}") from error
    return low, high


def _check_outputs(save: Path | None, plot: Path | None) -> None:
    """Raise before a long run, not after it, if its results could not be written."""
    for path in (save, plot):
        if path is not None:
            check_writable(path)
    if plot is not None:
        from zorank.cli.plots import check_plot_file

        check_plot_file(plot)


def _report(result: Result, save: Path | None, plot: Path | None, title: str) -> None:
    if save is None and result.run.space is None and result.x.size > PRINTED_COORDINATES:
        save = Path("zorank-result.json")
    if save is not None:  # before anything is printed: a closed pipe must not lose the result
        write_text(save, json.dumps(result.to_json()))
    if plot is not None:
        from zorank.cli.plots import plot_history

        plot_history(result.history, plot, title)
    out.print(str(result), highlight=False, markup=False, soft_wrap=True)
    for label, path in (("x and the history", save), ("plot", plot)):
        if path is not None:
            out.print(f"{label}: {path}", highlight=False, markup=False, soft_wrap=True)
