"""zorank bench: run the benchmarks behind zorank's claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from rich.table import Table

from zorank.cli import bench_policies
from zorank.cli.common import log, out
from zorank.cli.tables import (
    field_tables,
    items_tables,
    judges_tables,
    largescale_tables,
    looks_tables,
    mixed_tables,
)

if TYPE_CHECKING:
    from zorank.experiments.report import Report

app = typer.Typer(
    help="Run benchmarks: with simulated raters, and against other optimizers.",
    no_args_is_help=True,
)

app.add_typer(bench_policies.app, name="policies")

T = TypeVar("T")
FolderOption = Annotated[
    Path, typer.Option("--out", help="The folder for results and finished trials.")
]
WorkersOption = Annotated[
    int | None, typer.Option(min=1, help="Number of processes; default: one per core.")
]
QuickOption = Annotated[
    bool, typer.Option("--quick", help="A small version, about a minute; not conclusive.")
]


class JudgesPart(StrEnum):
    """A part of the study of judges."""

    people = "people"
    judges = "judges"
    mk = "mk"


class LooksPart(StrEnum):
    """A part of the study of looks."""

    landscape = "landscape"
    dream = "dream"
    peers = "peers"
    style = "style"
    faces = "faces"


@app.callback()
def _bench() -> None:
    """Run benchmarks: with simulated raters, and against other optimizers."""


@app.command()
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


@app.command()
def looks(
    quick: QuickOption = False,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Sessions per condition; default: 20 for landscapes and style, 10 for dream and "
            "boxes.",
        ),
    ] = None,
    first_seed: Annotated[
        int, typer.Option(min=0, help="The first seed; report seeds from 3000 on.")
    ] = 3000,
    only: Annotated[
        list[LooksPart] | None, typer.Option(help="Only this part; may be repeated.")
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this method: rank-looks, rank-process, algorithm 3, neighbours, random; in "
            "boxes also qEUBO and optuna. May be repeated."
        ),
    ] = None,
    taste: Annotated[
        list[str] | None,
        typer.Option(help="Only this taste, such as warm or ridges; may be repeated."),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(min=1, help="Answers after the first slate; default: 20, or 5 with --quick."),
    ] = None,
    folder: FolderOption = Path("bench-looks"),
    workers: WorkersOption = None,
) -> None:
    """Measure the gain from knowing what pictures look like, with simulated raters.

    rank-looks learns from what pictures look like, rank-process only from the coordinates of
    candidates. A rater picks one of six random pictures, then ranks six in each of 20 rounds.
    Gains are in standard deviations of utility among random pictures. There are five parts:

    landscape: d = 62, 19 tastes, two noises. "sketched": tastes that rank-looks was developed on;
    "held out": other kinds, such as a target picture, a palette or the rule of thirds; "numbers":
    tastes in the coordinates, where looks cannot help.

    dream: the embedded diffusion model, with another prompt and rater for each seed; slow. It is
    not part of --quick.

    peers: points in a box, no pictures. The comparison includes BoTorch's qEUBO, with the best of
    two priors in hindsight, and Optuna's PreferentialGPSampler (extra peers); each of their
    sessions takes minutes.

    style: a photo in painting styles; the rater has a mixture of three of 26 styles in mind and
    judges by a perceptual distance to it. It is run only if it is named (extras style and peers).
    faces: a GAN, judged by a model of facial expressions. It runs only if named, with the folder
    of the models that benchmarks/faces/convert.py makes in the environment variable ZORANK_FACES.

    Ctrl-C loses no finished session: run the same command again to continue. Finished sessions are
    stored in OUT/looks.cells.jsonl; runs with other seeds, methods or tastes add to them.

    Example: zorank bench looks --only landscape --taste warm --taste palette --seeds 3
    """
    from zorank.experiments import looks as benchmark

    study = benchmark.study_for(
        quick=quick,
        seeds=seeds,
        first_seed=first_seed,
        rounds=rounds,
        parts=tuple(dict.fromkeys(map(str, only or ()))),
        methods=tuple(dict.fromkeys(method or ())),
        tastes=tuple(taste or ()),
    )
    rows = run_to_end(lambda: benchmark.run(study, folder, workers=workers, console=log))
    report = benchmark.report(study, rows)
    print_report(report, folder, looks_tables(report), quick)


@app.command()
def field(
    dim: Annotated[
        list[int] | None, typer.Option(min=2, help="A dimension; default: 10 and 40.")
    ] = None,
    peer: Annotated[
        list[str] | None,
        typer.Option(
            help="An optimizer: auto, pycma, pycma diagonal, pycma VkD, cmaes CMA, cmaes SepCMA. "
            "These need other libraries and run only if named: nevergrad OnePlusOne, nevergrad "
            "CMA, nevergrad DE, pypop7 LM-MA-ES."
        ),
    ] = None,
    instances: Annotated[
        str, typer.Option(help="Instances of every function, FIRST-LAST.")
    ] = "61-65",
    points: Annotated[int, typer.Option(min=2, help="Evaluated points per dimension.")] = 300,
    folder: FolderOption = Path("bench-field"),
    workers: WorkersOption = None,
) -> None:
    """Compare auto with pycma and cmaes on the 24 functions of BBOB, with ranks only.

    All optimizers start at the same point with the same step size and their documented defaults.
    The area under the runtime distribution is larger if more targets are hit earlier. Writes
    field.json, field.png and field.svg. Ctrl-C loses no finished trial: run the same command again
    to continue.

    Example: zorank bench field --dim 10 --peer auto --peer pycma --instances 1-3
    """
    from zorank.experiments import bbob
    from zorank.experiments.peers import PEERS

    study = bbob.Study(
        dims=tuple(dict.fromkeys(dim or (10, 40))),
        instances=bbob.instance_range(instances),
        peers=tuple(dict.fromkeys(peer or PEERS)),
        points_per_dim=points,
    )
    rows = run_to_end(lambda: bbob.SWEEP.run(study.trials(), folder, workers=workers, console=log))
    report = bbob.report(study, rows)
    print_report(report, folder, field_tables(report))


@app.command()
def largescale(
    dim: Annotated[
        list[int] | None,
        typer.Option(
            help="80, 160, 320, 640 (bbob-largescale), 1000 or 10000 (single functions)."
        ),
    ] = None,
    peer: Annotated[
        list[str] | None,
        typer.Option(help="Only auto and this optimizer: pycma VkD, cmaes SepCMA, LM-MA-ES."),
    ] = None,
    points: Annotated[
        int | None,
        typer.Option(min=2, help="Evaluated points per dimension; default: 5 to 100."),
    ] = None,
    folder: FolderOption = Path("bench-largescale"),
    workers: WorkersOption = None,
) -> None:
    """Compare auto with optimizers for many dimensions, with ranks only.

    bbob-largescale in d = 80 to 640 and single functions in d = 1,000 and 10,000. "points" is the
    geometric mean of a peer's points to targets divided by auto's; an unreached target counts as
    reached at the end of the budget. Without --dim this takes hours. Ctrl-C loses no finished
    trial: run the same command again to continue.

    Example: zorank bench largescale --dim 1000 --peer LM-MA-ES --points 10
    """
    from zorank.experiments import largescale as benchmark

    found = benchmark.studies(tuple(dict.fromkeys(dim or ())), tuple(peer or ()), points)
    trials = [trial for study in found for trial in study.trials()]
    rows = run_to_end(lambda: benchmark.SWEEP.run(trials, folder, workers=workers, console=log))
    report = benchmark.report(found, rows)
    print_report(report, folder, largescale_tables(report))


@app.command()
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


@app.command()
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


def run_to_end(run: Callable[[], T]) -> T:
    """Return the result of `run`; on Ctrl-C, say how to continue, and exit."""
    try:
        return run()
    except KeyboardInterrupt:
        log.print("stopped; finished trials are stored, run the same command again to continue")
        raise typer.Exit(130) from None


def print_report(
    report: Report, folder: Path, tables: Iterable[Table], quick: bool = False
) -> None:
    """Write the files of a report, and print its tables and the names of the files."""
    files = report.save(folder)
    if quick:
        out.print("Quick: only a check that everything works; too few runs to be conclusive.")
    for table in tables:
        out.print(table)
    out.print(
        f"files: {', '.join(map(str, files))}", highlight=False, markup=False, soft_wrap=True
    )
