"""zorank bench mixed: spaces of real, whole and categorical parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zorank.cli.bench.common import FolderOption, WorkersOption, print_report, run_to_end
from zorank.cli.common import log
from zorank.cli.tables import mixed_tables


def mixed(
    peer: Annotated[
        list[str] | None,
        typer.Option(
            help="An optimizer: auto, random, CMAwM, CatCMA, CatCMAwM; TPE and NGOpt run only if "
            "named, and need optuna and nevergrad. May be repeated."
        ),
    ] = None,
    problem: Annotated[
        list[str] | None, typer.Option(help="Only this problem; may be repeated.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Instances of every problem.")] = 10,
    first_seed: Annotated[
        int, typer.Option(min=0, help="The first seed; report seeds from 1000 on.")
    ] = 1000,
    slow_seeds: Annotated[
        int,
        typer.Option(
            min=0, help="TPE runs 1,000 points on this many instances, 300 on the others."
        ),
    ] = 3,
    folder: FolderOption = Path("bench-mixed"),
    workers: WorkersOption = None,
) -> None:
    """Compare auto with others in spaces of real, whole and categorical parameters.

    Eleven problems with random optima; the value found after 100, 300 and 1,000 points. auto gets
    ranks only and counts what minimize returns; the others get values and count the best they
    saw. A win rate is the share of instances on which auto found the smaller value.

    Ctrl-C loses no finished trial: run the same command again to continue.

    Example: zorank bench mixed --peer auto --peer CatCMA --seeds 3
    """
    from zorank.experiments import mixed as benchmark

    study = benchmark.Study(
        seeds=tuple(range(first_seed, first_seed + seeds)),
        slow_seeds=slow_seeds,
        peers=tuple(dict.fromkeys(peer or benchmark.DEFAULT)),
        problems=tuple(dict.fromkeys(problem or benchmark.PROBLEMS)),
    )
    rows = run_to_end(
        lambda: benchmark.SWEEP.run(study.trials(), folder, workers=workers, console=log)
    )
    report = benchmark.report(study, rows)
    print_report(report, folder, mixed_tables(report))
