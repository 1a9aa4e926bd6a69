"""zorank bench largescale: auto against optimizers for many dimensions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zorank.cli.bench.common import (
    Dims,
    FolderOption,
    WorkersOption,
    print_report,
    run_to_end,
)
from zorank.cli.common import log
from zorank.cli.tables import largescale_tables


def largescale(
    dim: Dims = None,
    peer: Annotated[
        list[str] | None, typer.Option(help="pycma VkD, cmaes SepCMA or LM-MA-ES.")
    ] = None,
    points: Annotated[int | None, typer.Option(min=2, help="Points per dimension.")] = None,
    folder: FolderOption = Path("bench-largescale"),
    workers: WorkersOption = None,
) -> None:
    """Compare auto with optimizers for many dimensions, with ranks only.

    bbob-largescale in d = 80, 160, 320 and 640, and single functions in d = 1000 and 10000; auto
    always takes part. "points" is the geometric mean of a peer's points to targets divided by
    auto's; an unreached target counts as reached at the end of the budget. The default budget is
    5 to 100 points per dimension; without --dim this takes hours. Ctrl-C loses no finished trial:
    run the same command again to continue.

    Example: zorank bench largescale --dim 1000 --peer LM-MA-ES --points 10
    """
    from zorank.experiments import largescale as benchmark

    found = benchmark.studies(tuple(dict.fromkeys(dim or ())), tuple(peer or ()), points)
    trials = [trial for study in found for trial in study.trials()]
    rows = run_to_end(lambda: benchmark.SWEEP.run(trials, folder, workers=workers, console=log))
    report = benchmark.report(found, rows)
    print_report(report, folder, largescale_tables(report))
