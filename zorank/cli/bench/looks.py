"""zorank bench looks: the gain from knowing what pictures look like."""

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
from zorank.cli.common import log
from zorank.cli.tables import looks_tables


class LooksPart(StrEnum):
    """A part of the study of looks."""

    landscape = "landscape"
    dream = "dream"
    peers = "peers"
    style = "style"
    faces = "faces"


def looks(
    quick: QuickOption = False,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Sessions per condition; default: 20 for landscapes and style, 10 for dream, "
            "boxes and faces.",
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
    faces: a GAN, judged by a model of facial expressions; candidates are all latents ("happy") or
    main axes of them ("happy main"). It runs only if named, with the folder of the models that
    benchmarks/faces/convert.py makes in the environment variable ZORANK_FACES.

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
