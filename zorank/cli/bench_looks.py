"""zorank bench looks: simulated people judge pictures, and methods may look at them too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from zorank.cli.bench_tables import (
    claim_table,
    new_table,
    print_files,
    run_to_end,
    with_error,
    write_results,
)
from zorank.cli.common import log, out


class LooksPart(StrEnum):
    """A part of the benchmark of looks."""

    landscape = "landscape"
    dream = "dream"
    peers = "peers"


def looks(
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="A small one, in about a minute and without dream: no proof."
        ),
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1, help="Sessions for each condition; else 20 landscapes, 10 dreams, 10 boxes."
        ),
    ] = None,
    first_seed: Annotated[
        int, typer.Option(min=0, help="The first seed; from 3000 on they are for reporting.")
    ] = 3000,
    only: Annotated[
        list[LooksPart] | None, typer.Option(help="Only this part; may be given several times.")
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this method: rank-looks, rank-process, algorithm 3, neighbours, random; in "
            "boxes also qEUBO and optuna. May be given several times."
        ),
    ] = None,
    taste: Annotated[
        list[str] | None,
        typer.Option(help="Only this taste, such as warm or ridges; several times if you like."),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(min=1, help="Answers after the first slate; else 20, or 5 if quick."),
    ] = None,
    folder: Annotated[
        Path, typer.Option("--out", help="Where results go, and finished sessions are kept.")
    ] = Path("bench-looks"),
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes; else one for each core.")
    ] = None,
) -> None:
    """Simulated people judge pictures: what is it worth to see them, too?

    rank-looks learns from what pictures look like, rank-process from the candidates' numbers
    alone. A person picks one of six random pictures, then ranks six in each of 20 rounds. Gains
    are in standard deviations of utility among random pictures. Three parts:

    landscape: 62 numbers, 19 tastes, two noises. "sketched": tastes that rank-looks was sketched
    on; "held out": other kinds, such as a picture in mind, a palette or the rule of thirds;
    "numbers": tastes in the numbers themselves, where looks cannot help.

    dream: the embedded diffusion model, another prompt and person for each seed; slow.

    peers: points in a box, no pictures. BoTorch's qEUBO, at the better of two priors in hindsight,
    and Optuna's PreferentialGPSampler take part (extra peers); a session of theirs takes
    minutes.

    Ctrl-C loses nothing: the same command goes on. Sessions are kept one by one in
    OUT/looks.cells.jsonl, so runs with other seeds, methods or tastes add to it.

    Example: zorank bench looks --only landscape --taste warm --taste palette --seeds 3
    """
    from zorank.experiments import looks as study_of
    from zorank.experiments import looks_findings as findings
    from zorank.experiments.figures import load_figure
    from zorank.experiments.looks_figure import plot

    study = study_of.QUICK if quick else study_of.Study()
    study = replace(
        study,
        first_seed=first_seed,
        rounds=rounds or study.rounds,
        parts=tuple(dict.fromkeys(map(str, only))) if only else study.parts,
        methods=tuple(dict.fromkeys(method)) if method else study.methods,
    )
    study = study.with_tastes(taste) if taste else study
    study = study.with_seeds(seeds) if seeds else study
    load_figure()
    study_of.check(study)
    rows = run_to_end(
        lambda: study_of.run(study, folder, workers=workers, console=log), "sessions"
    )
    trials = study.trials()
    results = study_of.collect(trials, rows)
    found = findings.summary(study, results)
    written = write_results(
        folder,
        "looks",
        found,
        study_of.records(trials, rows),
        lambda pictures: plot(study, results, pictures),
    )
    _report(found)
    print_files(written)


def _report(found: Mapping[str, Any]) -> None:
    if found["quick"]:
        out.print("Quick: few seeds and cases, enough to see that all works, no evidence.")
    pictures = [case for case in found["cases"] if case["part"] != "peers"]
    boxes = [case for case in found["cases"] if case["part"] == "peers"]
    after = f"after {found['rounds']} rounds of six"
    if pictures:
        out.print(_gain_table(f"Pictures: gain {after}, sd of random pictures", pictures))
    if boxes:
        out.print(_gain_table(f"Boxes: gain {after}, sd of random points", boxes))
        out.print(_time_table(boxes))
    if found["claims"] and not found["quick"]:
        out.print(claim_table(found["claims"], "rank-looks"))


def _gain_table(title: str, cases: Sequence[Mapping[str, Any]]) -> Table:
    methods = _methods(cases)
    table = new_table(title)
    for heading in ("", "taste", "d", "noise"):
        table.add_column(heading, justify="left" if heading in ("", "taste") else "right")
    for heading in methods:
        table.add_column(heading, justify="right")
    if any(line["setting"] is not None for case in cases for line in case["methods"].values()):
        table.caption_justify = "left"
        table.caption = (
            "algorithm 3 and neighbours: at their best μ in hindsight; qEUBO: at its better prior."
        )
    for case in cases:
        gains = (_gain(case["methods"].get(name)) for name in methods)
        about = (case["group"], case["taste"], str(case["dim"]), f"{case['noise']:g}")
        table.add_row(*about, *gains)
    return table


def _gain(line: Mapping[str, Any] | None) -> str:
    return "" if line is None else with_error(line["gain"], line)


def _time_table(cases: Sequence[Mapping[str, Any]]) -> Table:
    methods = _methods(cases)
    table = new_table("Boxes: gains after 5 / 10 / 20 rounds; seconds of a round: median, longest")
    for heading in ("taste", "d", *methods):
        table.add_column(heading, justify="right" if heading == "d" else "left")
    for case in cases:
        table.add_row(
            *(case["taste"], str(case["dim"])),
            *(_timed(case["methods"].get(name)) for name in methods),
        )
    return table


def _timed(line: Mapping[str, Any] | None) -> str:
    if line is None:
        return ""
    gains = " / ".join(f"{gain:.2f}" for gain in line["after"].values())
    return f"{gains}\n{line['median_seconds']:.2g} s, {line['longest_seconds']:.2g} s"


def _methods(cases: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for case in cases for name in case["methods"]))
