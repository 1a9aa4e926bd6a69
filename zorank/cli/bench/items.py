"""zorank bench items: ways to order 60 items from noisy answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zorank.cli.bench.common import (
    FolderOption,
    QuickOption,
    WorkersOption,
    print_report,
    run_to_end,
)
from zorank.cli.common import log
from zorank.cli.tables import items_tables


def items(
    quick: QuickOption = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Sets of items; default: 20, or 2 with --quick.")
    ] = None,
    first_seed: Annotated[
        int, typer.Option(min=0, help="The first seed; report seeds from 5000 on.")
    ] = 5000,
    method: Annotated[
        list[str] | None,
        typer.Option(help="Only this method, such as 'random slates'; may be repeated."),
    ] = None,
    folder: FolderOption = Path("bench-items"),
    workers: WorkersOption = None,
) -> None:
    """Compare rank-items with other ways to order 60 items from noisy answers.

    The judge orders what is shown by utility plus noise (Bradley and Terry, Plackett and Luce).
    Kendall's tau with the true order is compared after equal numbers of items shown: a slate of
    six counts 6, a pair 2. The others are random slates and pairs, TrueSkill (extra peers) and
    merge sort. Ctrl-C loses no finished trial: run the same command again to continue.

    Example: zorank bench items --quick --method rank-items --method 'random slates'
    """
    from zorank.experiments import items as benchmark
    from zorank.experiments.item_rankers import RANKERS

    count = seeds or (2 if quick else 20)
    study = benchmark.Study(
        seeds=tuple(range(first_seed, first_seed + count)),
        methods=tuple(dict.fromkeys(method or RANKERS)),
        marks=benchmark.MARKS[:2] if quick else benchmark.MARKS,
    )
    rows = run_to_end(
        lambda: benchmark.SWEEP.run(study.trials(), folder, workers=workers, console=log)
    )
    report = benchmark.report(study, rows)
    print_report(report, folder, items_tables(report), quick)
