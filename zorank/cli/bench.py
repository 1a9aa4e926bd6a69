"""zorank bench: the measurements behind what zorank claims, to be run again by anyone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from zorank.cli import bench_policies
from zorank.cli.bench_looks import looks
from zorank.cli.bench_tables import (
    claim_table,
    new_table,
    print_files,
    run_to_end,
    with_error,
    write_results,
)
from zorank.cli.common import log, out, write_text
from zorank.errors import InvalidInput, unknown_name

app = typer.Typer(
    help="Measure zorank: with simulated people, among its peers.", no_args_is_help=True
)


class Part(StrEnum):
    """A part of the benchmark of judges."""

    people = "people"
    judges = "judges"
    mk = "mk"


@app.callback()
def _bench() -> None:
    """Measure zorank: with simulated people, among its peers."""


@app.command()
def judges(
    quick: Annotated[
        bool, typer.Option("--quick", help="A small one, in about a minute: no evidence.")
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Sessions for each condition; else 24, or 3 if quick."),
    ] = None,
    first_seed: Annotated[
        int, typer.Option(min=0, help="The first seed; from 1000 on they are for reporting.")
    ] = 1000,
    folder: Annotated[
        Path, typer.Option("--out", help="Where results go, and finished sessions are kept.")
    ] = Path("bench-judges"),
    only: Annotated[
        list[Part] | None, typer.Option(help="Only this part; may be given several times.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Answers after the first slate.")] = 20,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes; else one for each core.")
    ] = None,
    update_measured: Annotated[
        bool,
        typer.Option(
            "--update-measured",
            help="For maintainers: write what the part mk found into the package, "
            "where zorank plan reads it.",
        ),
    ] = False,
) -> None:
    """Simulated people with a hidden taste judge 126 pictures, asked by every method.

    A person picks one of six random pictures, then answers 20 rounds of six. Gains are in standard
    deviations of utility among random pictures; the best of 126 random ones gains 2 to 3. Three
    parts:

    people: rank-process, Algorithm 3 of the paper, sep-CMA-ES, picking the best neighbour, and
    picking from as many random pictures, for two tastes, three noises and three dimensions. The
    radius of the others is chosen in hindsight, as nobody could.

    judges: people who name only the best few, answer at random now and then, see no small
    difference, or tire.

    mk: how many to show and how many to have ranked.

    Ctrl-C loses nothing: the same command goes on. The seeds of a larger run include those of a
    smaller one. Delete OUT/judges.cells.jsonl to measure all anew.

    Example: zorank bench judges --quick --out quick
    """
    from zorank.experiments import judges as study_of
    from zorank.experiments import judges_findings as findings
    from zorank.experiments.baselines import load_sepcma
    from zorank.experiments.figures import load_figure
    from zorank.experiments.judges_figure import plot

    study = replace(
        study_of.QUICK if quick else study_of.Study(), first_seed=first_seed, rounds=rounds
    )
    study = replace(
        study,
        seeds=seeds or study.seeds,
        parts=tuple(dict.fromkeys(only)) if only else study.parts,
    )
    if update_measured and "mk" not in study.parts:
        raise InvalidInput("--update-measured writes what the part mk found; add --only mk")
    if update_measured and quick:
        raise InvalidInput("--update-measured needs all of mk: leave out --quick")
    if update_measured and rounds < study_of.Study().rounds:
        raise InvalidInput(
            f"--update-measured needs {study_of.Study().rounds} rounds, found {rounds}"
        )
    load_figure()
    if "people" in study.parts:
        load_sepcma()
    rows = run_to_end(
        lambda: study_of.run(study, folder, workers=workers, console=log), "sessions"
    )
    trials = study.trials()
    results = study_of.collect(trials, rows)
    found = findings.summary(study, results)
    written = write_results(
        folder,
        "judges",
        found,
        study_of.records(trials, rows),
        lambda pictures: plot(study, results, pictures),
    )
    if update_measured:
        from zorank.experiments.measured import FILE

        write_text(FILE, findings.measured(study, results).to_json())
    _report(found)
    print_files(written)


app.command()(looks)
app.add_typer(bench_policies.app, name="policies")


@app.command()
def field(
    dim: Annotated[
        list[int] | None, typer.Option(min=2, help="A dimension; else 10 and 40.")
    ] = None,
    peer: Annotated[
        list[str] | None,
        typer.Option(
            help="Who takes part: auto, pycma, pycma diagonal, pycma VkD, cmaes CMA, cmaes "
            "SepCMA; by name only, as they need libraries of their own: nevergrad OnePlusOne, "
            "nevergrad CMA, nevergrad DE, pypop7 LM-MA-ES."
        ),
    ] = None,
    instances: Annotated[
        str, typer.Option(help="Instances of every function, FIRST-LAST.")
    ] = "61-65",
    points: Annotated[int, typer.Option(min=2, help="Points to look at, per dimension.")] = 300,
    folder: Annotated[
        Path, typer.Option("--out", help="Where results go, and finished races are kept.")
    ] = Path("bench-field"),
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes; else one for each core.")
    ] = None,
) -> None:
    """Race auto against pycma and cmaes on the 24 functions of BBOB, ranks only.

    Everyone starts at the same point with the same step size, at documented defaults. The area
    says how early how many targets were hit; more is better. Writes field.json, field.png and
    field.svg. Ctrl-C loses nothing: the same command goes on.

    Example: zorank bench field --dim 10 --peer auto --peer pycma --instances 1-3
    """
    from zorank.experiments import field as races
    from zorank.experiments.peers import GUESTS, PEERS

    for name in peer or ():
        if name not in PEERS and name not in GUESTS:
            raise unknown_name("peer", name, (*PEERS, *GUESTS))
    first, _, last = instances.partition("-")
    if not (first.isdigit() and (last or first).isdigit() and int(first) <= int(last or first)):
        raise InvalidInput(f"instances are FIRST-LAST, such as 61-65, found {instances!r}")
    meeting = races.Meeting(
        dims=tuple(dict.fromkeys(dim or (10, 40))),
        instances=tuple(range(int(first), int(last or first) + 1)),
        peers=tuple(dict.fromkeys(peer or PEERS)),
        points_per_dim=points,
    )
    rows = run_to_end(lambda: races.run(meeting, folder, workers=workers, console=log), "races")
    found = races.standings(meeting, rows)
    told = races.summary(meeting, found)
    write_text(folder / "field.json", json.dumps(told, indent=1, ensure_ascii=False))
    pictures = [folder / "field.png", folder / "field.svg"]
    races.plot(meeting, found, pictures)
    out.print(_field_table(told["standings"]))
    print_files([folder / "field.json", *pictures])


def _field_table(standings: Sequence[Mapping[str, Any]]) -> Table:
    table = new_table("BBOB, ranks only: area (more is better), share of targets hit")
    groups = list(standings[0]["groups"])
    for heading in ("d", "peer", "area", *groups, "hit", "µs/point"):
        table.add_column(heading, justify="left" if heading == "peer" else "right")
    for row in standings:
        area = f"{row['area']:.1f}"
        if row["standard_error"] is not None:
            area += f" ±{row['standard_error']:.1f}"
        table.add_row(
            *(str(row["dim"]), row["peer"], area),
            *(f"{row['groups'][group]:.1f}" for group in groups),
            *(f"{row['hit']:.0f}%", f"{row['microseconds_per_point']:.0f}"),
        )
    return table


def _report(found: Mapping[str, Any]) -> None:
    if found["quick"]:
        out.print("Quick: few seeds and cases, enough to see that all works, no evidence.")
    if "cases" in found:
        out.print(_case_table(found["cases"], found["pictures"]))
    if "judges" in found:
        out.print(_habit_table(found["judges"]))
    if "mk" in found:
        out.print(_mk_table(found["mk"]))
    if found["claims"]:
        out.print(claim_table(found["claims"], "rank-process"))
    seconds = found["slowest_round_of_rank_process_seconds"]
    out.print(
        f"Longest wait for rank-process between two rounds: {seconds:.2f} s", highlight=False
    )


def _case_table(cases: Sequence[Mapping[str, Any]], pictures: int) -> Table:
    from zorank.experiments.judges import NEIGHBOURS, PAPER, PROCESS, RANDOM, SEPCMA
    from zorank.experiments.judges_findings import BEST, WORST

    columns = {
        PROCESS: "process",
        BEST: "Alg. 3",
        WORST: "worst",
        PAPER: "paper",
        SEPCMA: "CMA",
        NEIGHBOURS: "near",
        RANDOM: "random",
    }
    table = new_table(f"Gain after {pictures} pictures, sd of random pictures")
    table.caption_justify = "left"
    table.caption = (
        "process: rank-process. Alg. 3: at its best μ in hindsight; worst: at its worst; paper: "
        "with the paper's η = 1, μ = 0.1. CMA: sep-CMA-ES; near: the best neighbour, both at "
        "their best in hindsight. random: the best of as many random pictures."
    )
    for heading in ("taste", "noise", "d", *columns.values()):
        table.add_column(heading, justify="left" if heading == "taste" else "right")
    for case in cases:
        methods = case["methods"]
        told = (with_error(methods[label]["gain"], methods[label]) for label in (PROCESS, BEST))
        rest = (f"{methods[label]['gain']:.2f}" for label in list(columns)[2:])
        table.add_row(case["utility"], f"{case['noise']:g}", str(case["dim"]), *told, *rest)
    return table


def _habit_table(habits: Mapping[str, Mapping[str, Any]]) -> Table:
    table = new_table("Judges of noise 0.1: rank-process / Algorithm 3 (best μ)")
    utilities = list(next(iter(habits.values())))
    for heading in ("judge", *utilities):
        table.add_column(heading)
    for name, of in habits.items():
        cells = (" / ".join(_gain(line) for line in of[u].values()) for u in utilities)
        table.add_row(name, *cells)
    return table


def _mk_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = new_table("How many to show and to have ranked: rank-process")
    headings = ("noise", "show", "rank", "gain", "seen", "pairs", "minutes")
    for heading in (*headings, "/seen", "/pair", "/minute"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            *(
                f"{row['noise']:g}",
                str(row["m"]),
                str(row["k"] or "all"),
                with_error(row["gain"], row),
            ),
            *(str(row["pictures"]), str(row["comparisons"]), f"{row['minutes']:.1f}"),
            *(f"{row[f'gain_per_{unit}']:.3f}" for unit in ("picture", "comparison", "minute")),
        )
    return table


def _gain(line: Mapping[str, Any]) -> str:
    setting = "" if line["setting"] is None else f" ({line['setting']:g})"
    return with_error(line["gain"], line) + setting
