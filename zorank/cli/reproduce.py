"""zorank reproduce: make the paper's figures again, and check its claims."""

from __future__ import annotations

from functools import partial
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
from zorank.cli.tables import figure_table
from zorank.errors import unknown_name

JUDGE_NAMES = ("dream", "clip")


def reproduce(
    name: Annotated[str, typer.Argument(help="The name of a figure, or all.")],
    quick: QuickOption = False,
    folder: FolderOption = Path("reproduced"),
    workers: WorkersOption = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="A diffusers pipeline for continuity and latent-judges; default: dream."
        ),
    ] = None,
    prompt: Annotated[
        str | None,
        typer.Option(help="The prompt of continuity and latent-judges; default: ten prompts."),
    ] = None,
    judge: Annotated[
        str, typer.Option(help="The model judge of latent-judges: dream or clip.")
    ] = "dream",
    judge_model: Annotated[
        str | None, typer.Option(help="The CLIP model of --judge clip: a folder or a hub id.")
    ] = None,
) -> None:
    """Run an experiment of the paper: make its figure, and check whether its claims hold.

    tuning: the grids of settings behind the others. simple: five methods on two functions,
    d = 100 (figure 1). mk: how many to show and to rank (figure 2). highdim: d = 10,000. noise:
    noisy oracles. ablations: parts of the methods left out. estimates: how much an answer tells.
    continuity: neighbouring latents of a diffusion model. latent-judges: a person and a model as
    judges of its pictures. rl: policies in MuJoCo from ranked episodes. rl-scobo: the same,
    compared with pairwise comparisons.

    Writes NAME.png, NAME.svg, NAME.csv and NAME.json into OUT. The first seven take about 50
    minutes on two cores. The next two render about 15,000 pictures, and the last two simulate a
    hundred million steps, which takes hours. Ctrl-C loses no finished trial: run the same command
    again to continue. Delete OUT/NAME.cells.jsonl to start again.

    Example: zorank reproduce all --quick --out quick. The paper's own pictures, if both models are
    downloaded: zorank reproduce latent-judges --model FOLDER --prompt "A teddy bear" --judge clip
    """
    from zorank.experiments.paper import FIGURES, FigureContext, check_extras, figure_names

    names = figure_names(name)
    check_extras()
    context = FigureContext(folder, quick, workers, log, model, prompt, judge, judge_model)
    if judge not in JUDGE_NAMES:
        raise unknown_name("judge", judge, JUDGE_NAMES)
    for figure in names:
        report = run_to_end(partial(FIGURES[figure], context))
        print_report(report, folder, [figure_table(report)], quick)
