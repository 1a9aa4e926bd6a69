"""zorank bench noise: auto and tuned ZO-RankSGD with a noisy judge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zorank.cli.bench.common import FolderOption, WorkersOption, print_report, run_to_end
from zorank.cli.common import log
from zorank.cli.tables import figure_table


def noise(
    tuned: Annotated[
        Path, typer.Argument(help="The file noise.json that `zorank reproduce noise` wrote.")
    ],
    points: Annotated[int, typer.Option(min=10, help="Candidates of each run.")] = 10_000,
    folder: FolderOption = Path("bench-noise"),
    workers: WorkersOption = None,
) -> None:
    """Compare auto with tuned ZO-RankSGD under a noisy judge, in 100 dimensions.

    ZO-RankSGD has the best settings of a grid for each noise, which were chosen on other seeds.
    The ratio of values at the end is above 1 where auto is ahead. Ctrl-C loses no
    finished trial: run the same command again to continue.

    Example: zorank bench noise docs/results/noise.json
    """
    from zorank.experiments import noisy_judge as benchmark

    cases = benchmark.cases_of(tuned, points)
    trials = benchmark.trials(cases)
    rows = run_to_end(lambda: benchmark.SWEEP.run(trials, folder, workers=workers, console=log))
    report = benchmark.report(cases, rows)
    print_report(report, folder, [figure_table(report)])
