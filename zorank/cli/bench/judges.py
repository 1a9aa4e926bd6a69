"""zorank bench judges: all methods with simulated raters."""

from __future__ import annotations

from enum import StrEnum
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
from zorank.cli.common import log, out
from zorank.cli.tables import judges_tables


class JudgesPart(StrEnum):
    """A part of the study of judges."""

    people = "people"
    judges = "judges"
    mk = "mk"


def judges(
    quick: QuickOption = False,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Sessions per condition; default: 24, or 3 with --quick."),
    ] = None,
    first_seed: Annotated[
        int, typer.Option(min=0, help="The first seed; report seeds from 1000 on.")
    ] = 1000,
    folder: FolderOption = Path("bench-judges"),
    only: Annotated[
        list[JudgesPart] | None, typer.Option(help="Only this part; may be repeated.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Answers after the first slate.")] = 20,
    workers: WorkersOption = None,
    update_measured: Annotated[
        bool,
        typer.Option(
            "--update-measured",
            help="For maintainers: write the results of the part mk into the package, "
            "where zorank plan reads them.",
        ),
    ] = False,
) -> None:
    """Compare all methods with simulated raters, who have a hidden taste and see 126 pictures.

    A rater picks one of six random pictures, then answers 20 rounds of six. Gains are in standard
    deviations of utility among random pictures; the best of 126 random ones gains 2 to 3. There
    are three parts:

    people: rank-process, Algorithm 3 of the paper, sep-CMA-ES, picking the best neighbour, and
    picking from equally many random pictures, for two tastes, three noises and three dimensions.
    The radius of the other methods is the best in hindsight.

    judges: raters who rank only the best few, give some random answers, do not see small
    differences, or tire.

    mk: how many to show and how many to rank.

    Ctrl-C loses no finished session: run the same command again to continue. The seeds of a larger
    run include those of a smaller one. Delete OUT/judges.cells.jsonl to start again.

    Example: zorank bench judges --quick --out quick
    """
    from zorank.experiments import judges as benchmark

    study = benchmark.study_for(
        quick=quick,
        seeds=seeds,
        first_seed=first_seed,
        rounds=rounds,
        parts=tuple(dict.fromkeys(only or ())),
        update_measured=update_measured,
    )
    rows = run_to_end(lambda: benchmark.run(study, folder, workers=workers, console=log))
    if update_measured:
        benchmark.update_measured(study, rows)
    report = benchmark.report(study, rows)
    print_report(report, folder, judges_tables(report), quick)
    seconds = report.summary["slowest_round_of_rank_process_seconds"]
    out.print(f"Longest time of rank-process between two rounds: {seconds:.2f} s", highlight=False)
