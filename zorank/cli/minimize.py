"""zorank minimize: a function, or a person who types."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.text import Text

from zorank import executors, optimizers, rng
from zorank.cli.common import load_function, log, open_store, out, read_values, write_text
from zorank.cli.terminal import rank_in_terminal
from zorank.errors import InvalidInput
from zorank.minimize import Result
from zorank.minimize import minimize as minimize_function
from zorank.run import Run
from zorank.types import Vector, as_vector

PRINTED_COORDINATES = 20
"""A longer result goes to a file instead of the screen."""


def minimize(
    function: Annotated[
        str | None, typer.Argument(help="What to minimise, as module:function.")
    ] = None,
    dim: Annotated[int | None, typer.Option(help="Start at a draw of N(0, I) in R^dim.")] = None,
    x0: Annotated[
        Path | None, typer.Option(help="Start at the vector in this .npy, .json or text file.")
    ] = None,
    method: Annotated[
        str, typer.Option(help=f"One of: {', '.join(optimizers.REGISTRY)}.")
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
    workers: Annotated[
        int | None, typer.Option(min=1, help="Evaluate candidates in so many processes.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Evaluate them on this Dask scheduler's workers: ADDRESS.")
    ] = None,
    deadline: Annotated[
        float | None,
        typer.Option(help="Seconds for a slate, with workers; who is late stays unranked."),
    ] = None,
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
    start, box = _start(dim, x0, seed), _bounds(bounds)
    if human:
        for given, flag in ((save, "--out"), (plot, "--plot"), (maximize, "--maximize")):
            if given:
                raise InvalidInput(f"{flag} is for functions; with --human you say what is best")
        options = read_values(option or [])
        settings = {"m": m, "k": k, "bounds": box}
        options |= {key: value for key, value in settings.items() if value is not None}
        _rank_by_hand(function, start, method, seed, options, store, name, rounds)
        return
    if function is None:
        raise InvalidInput("say what to minimise, as module:function, or rank yourself: --human")
    f = load_function(function)
    _check_outputs(save, plot)
    latest: list[Result] = []

    def remember(result: Result) -> None:
        latest[:] = [result]

    try:
        with _executor(workers, cluster, deadline) as executor:
            result = minimize_function(
                f,
                start,
                points=points,
                method=method,
                seed=seed,
                m=m,
                k=k,
                options=read_values(option or []),
                bounds=None if box is None else [box] * start.size,
                maximize=maximize,
                callback=remember,
                progress=not quiet and log.is_terminal,
                store=open_store(store) if store or name else None,
                name=name,
                executor=executor,
                deadline=deadline,
            )
    except KeyboardInterrupt:
        if not latest:
            raise
        result = latest[0]
        result.message = f"stopped by you after {result.points} points"
    _report(result, save, plot, function)
    if store or name:
        out.print(Text(f"kept as {result.run.name}; the same command goes on with it"))


@contextmanager
def _executor(
    workers: int | None, cluster: str | None, deadline: float | None
) -> Iterator[Executor | None]:
    """Who evaluates; None is this process."""
    if workers is not None and cluster is not None:
        raise InvalidInput("give --workers for this machine or --cluster for others, not both")
    if deadline is not None and workers is None and cluster is None:
        raise InvalidInput("--deadline is for --workers or --cluster: nobody else can be late")
    if workers is None and cluster is None:
        yield None
        return
    remote = cluster is not None
    with executors.Cluster(cluster) if remote else executors.Processes(workers) as executor:
        try:
            yield executor
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise


def _rank_by_hand(
    function: str | None,
    start: Vector,
    method: str,
    seed: int,
    options: dict[str, Any],
    store: str | None,
    name: str | None,
    rounds: int,
) -> None:
    optimizer = optimizers.make("rank-process" if method == "auto" else method, options)
    first = optimizer.ask(optimizer.init(start), rng.for_round(seed, 0))
    if first.question == "values":
        raise InvalidInput(f"{method} needs values; from an order by hand, use zo-ranksgd")
    run = Run(optimizer, start, seed, open_store(store) if store or name else None, name)
    describe = None if function is None else load_function(function)
    rank_in_terminal(run, rounds, describe, write=lambda line: out.print(Text(line)))
    out.print(Text(f"best after {len(run.history)} answers: {run.best().tolist()}"))


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


def _bounds(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError as error:
        raise InvalidInput(f"bounds are given as low,high, found {text!r}") from error
    return low, high


def _check_outputs(save: Path | None, plot: Path | None) -> None:
    """Raise before a long run, not after it, if its results could not be written."""
    for path in (save, plot):
        if path is not None and not path.parent.is_dir():
            raise InvalidInput(f"{path} cannot be written: {path.parent} is not a folder")
        if path is not None:
            _try_to_write(path)
    if plot is not None:
        from zorank.cli.plots import check_plot_file

        check_plot_file(plot)


def _report(result: Result, save: Path | None, plot: Path | None, title: str) -> None:
    if save is None and result.x.size > PRINTED_COORDINATES:
        save = Path("zorank-result.json")
    if save is not None:  # before anything is printed: a closed pipe must not lose the result
        data = {"x": result.x.tolist(), "fun": result.fun, "message": result.message}
        counts = {"points": result.points, "rounds": result.rounds, "history": result.history}
        write_text(save, json.dumps({**data, **counts}))
    if plot is not None:
        from zorank.cli.plots import plot_history

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
