"""zorank bench functions: auto and its peers on single functions."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from zorank.cli.bench.common import (
    Dims,
    FolderOption,
    Peers,
    WorkersOption,
    print_report,
    run_to_end,
)
from zorank.cli.common import log
from zorank.cli.tables import functions_tables


class FunctionsPart(StrEnum):
    """A part of the study of single functions."""

    targets = "targets"
    many = "many"
    restarts = "restarts"
    scale = "scale"
    top = "top"


def functions(
    only: Annotated[
        list[FunctionsPart] | None, typer.Option(help="Only this part; may be repeated.")
    ] = None,
    dim: Dims = None,
    function: Annotated[
        list[str] | None,
        typer.Option(help="Only this function, such as 'rotated ellipsoid'; may be repeated."),
    ] = None,
    peer: Peers = None,
    seeds: Annotated[int, typer.Option(min=1, help="Starts of each function; few if d > 40.")] = 5,
    first_seed: Annotated[
        int, typer.Option(min=0, help="The first seed; report seeds from 500 on.")
    ] = 500,
    folder: FolderOption = Path("bench-functions"),
    workers: WorkersOption = None,
) -> None:
    """Compare auto with pycma and cmaes on single functions, with ranks only.

    targets: points until a candidate is below .1, .001 and 10^-6 times f(x0). many: the same in
    400 dimensions. restarts: points to the minimum of Rastrigin's function, beside pycma with
    restarts, which is told values because its restarts need them. scale: the sphere with sigma0
    too small, right and too large. top: the lowest value within 3,000 points if only the best 1
    or 3 of 6 are named. All parts together take hours. Ctrl-C loses no finished trial: run the
    same command again to continue.

    Example: zorank bench functions --only targets --dim 10 --function sphere
    """
    from zorank.experiments import single_functions as benchmark

    study = benchmark.Study(
        parts=tuple(dict.fromkeys(map(str, only or benchmark.PARTS))),
        dims=tuple(dict.fromkeys(dim or ())),
        functions=tuple(dict.fromkeys(function or ())),
        peers=tuple(dict.fromkeys(peer or ())),
        seeds=tuple(range(first_seed, first_seed + seeds)),
    )
    trials = study.trials()
    rows = run_to_end(lambda: benchmark.SWEEP.run(trials, folder, workers=workers, console=log))
    report = benchmark.report(study, rows)
    print_report(report, folder, functions_tables(report))
