"""zorank reproduce: the paper's figures and claims, measured again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from zorank.cli.common import log, out

if TYPE_CHECKING:
    from zorank.experiments.paper import Report
    from zorank.experiments.paper.claims import Claim


def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            help="tuning, simple, mk, highdim, noise, continuity, latent-judges, rl, rl-scobo, or "
            "all."
        ),
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="A small run, in about a minute: no evidence.")
    ] = False,
    folder: Annotated[
        Path, typer.Option("--out", help="Where results go, and finished runs are kept.")
    ] = Path("reproduced"),
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes; else one for each core.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="A diffusers pipeline for continuity and latent-judges; else dream."),
    ] = None,
) -> None:
    """Run an experiment of the paper: its figure, every curve, and whether its claims hold.

    tuning: the grids of settings behind the others. simple: five methods on two functions,
    d = 100 (figure 1). mk: how many to show and to rank (figure 2). highdim: d = 10,000. noise:
    noisy oracles. continuity: neighbouring latents of a diffusion model. latent-judges: a person
    and a model as judges of its pictures. rl: policies in MuJoCo from ranked episodes. rl-scobo:
    the same, beside comparisons.

    Writes NAME.png, NAME.svg, NAME.csv and NAME.json into OUT. The first five take about 50
    minutes on two cores; the next two paint some 15,000 pictures more, and the last two simulate
    a hundred million steps, which takes hours. Ctrl-C loses nothing: the
    same command goes on, and what is finished is not computed again. Delete
    OUT/NAME.cells.jsonl to measure anew.

    Example: zorank reproduce all --quick --out quick
    """
    from zorank.experiments.figures import load_figure
    from zorank.experiments.paper import FIGURES, Lab, figures_of
    from zorank.experiments.paper.claims import load_students_t
    from zorank.optimizers.cma_es import load_pycma

    names = figures_of(name)
    load_figure()
    load_pycma()
    load_students_t()
    lab = Lab(folder, quick, workers, log, model)
    for figure in names:
        try:
            report = FIGURES[figure](lab)
        except KeyboardInterrupt:
            log.print("stopped; finished runs are kept, and the same command goes on from there")
            raise typer.Exit(130) from None
        files = report.save(lab)
        _tell(report, quick)
        out.print(
            f"files: {', '.join(map(str, files))}", highlight=False, markup=False, soft_wrap=True
        )


def _tell(report: Report, quick: bool) -> None:
    from zorank.experiments.paper.claims import by_line

    lines = by_line(report.claims)
    marks = list(dict.fromkeys(claim.at for claim in report.claims))
    table = Table(
        title=report.title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title_justify="left"
    )
    for heading in ("claim", "on"):
        table.add_column(heading)
    for mark in marks:
        table.add_column(mark, justify="right")
    for (name, where), claims in lines.items():
        table.add_row(name, where, *(_verdict(claims.get(mark)) for mark in marks))
    table.caption_justify = "left"
    table.caption = (
        f"{report.measure}; 95% intervals are in the JSON file. "
        "✓: the claim holds with 95% confidence; ✗: it does not; ?: these runs cannot tell."
    )
    out.print(table)
    if quick:
        out.print("Quick: few runs and short ones, enough to see that all works, no evidence.")


def _verdict(claim: Claim | None) -> str:
    if claim is None:
        return ""
    colour = {"✓": "green", "✗": "bold red", "?": "yellow"}[claim.verdict]
    return f"[{colour}]{claim.measured:.3g} {claim.verdict}[/]"
