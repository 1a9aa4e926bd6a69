"""zorank plan: which m and k to ask of people."""

from __future__ import annotations

from typing import Annotated

import typer
from rich import box
from rich.table import Table

from zorank import planning
from zorank.cli.common import out
from zorank.experiments import measured


def plan(
    dim: Annotated[int, typer.Option(help="The dimension of a candidate.")],
    largest: Annotated[int, typer.Option(help="The most candidates to show at once.")] = 12,
    rank: Annotated[int | None, typer.Option(help="Only plans that rank this many.")] = None,
    rows: Annotated[int, typer.Option(min=1, help="How many plans to list.")] = 10,
    round_seconds: Annotated[
        float, typer.Option(min=0, help="A person's seconds for a round as such.")
    ] = planning.DEFAULT_COSTS.round,
    look_seconds: Annotated[
        float, typer.Option(min=0, help="Seconds to look at one candidate.")
    ] = planning.DEFAULT_COSTS.look,
    compare_seconds: Annotated[
        float, typer.Option(min=0, help="Seconds to compare two candidates.")
    ] = planning.DEFAULT_COSTS.compare,
) -> None:
    """How many candidates to show a person, and how many of them to have ranked.

    First what theory says of one answer and Algorithm 1: quality is the share of an exact
    gradient's progress that it gives. Then what rank-process gained with simulated people in
    sessions of equal length. The seconds are assumptions: set them to what you observe.
    """
    costs = planning.Costs(round_seconds, look_seconds, compare_seconds)
    ordered = planning.plans(dim, largest, rank, costs)
    chosen = planning.recommend(ordered)
    base = planning.plan(2, 1, dim, costs)
    table = Table(
        title=f"Plans for {dim} dimensions, best per minute first",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for heading in ("show", "rank", "quality", "compares", "seconds"):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("×round", "×shown", "×compare", "×minute"):
        table.add_column(heading, justify="right", no_wrap=True)
    for p in [*ordered[:rows], *([] if chosen in ordered[:rows] else [chosen])]:
        table.add_row(
            *(str(p.m), str(p.k), f"{p.quality:.2%}", str(p.comparisons), f"{p.seconds:.0f}"),
            *(f"{mine / pair:.2f}" for mine, pair in zip(_worth(p), _worth(base), strict=True)),
            style="bold green" if p is chosen else None,
        )
    out.print(table)
    out.print(
        "Show m candidates and have the best k ranked. Quality: the share of an exact gradient's "
        "progress that one answer gives. Compares: comparisons a person makes. ×: quality per "
        "round, candidate shown, comparison and minute, as multiples of a single pair's. "
        f"Assumed: {costs.round:g} s a round, {costs.look:g} s a candidate, "
        f"{costs.compare:g} s a comparison.",
        highlight=False,
    )
    out.print(
        f"Recommended: show {chosen.m}, have the best {chosen.k} ranked, "
        f"about {chosen.seconds:.0f} s a round: the least tiring plan within 5% of the best.",
        style="bold",
        highlight=False,
    )
    found = measured.packaged()
    if found is not None:
        _print_measured(found, largest, rank, rows, costs)


def _print_measured(
    found: measured.Measured, largest: int, rank: int | None, rows: int, costs: planning.Costs
) -> None:
    """What was gained by the plans that were asked for, if any of them was measured."""
    wanted = [row for row in found.rows if row.m <= largest and (not rank or row.ranks(rank))]
    if not wanted:
        return
    minutes, offers = measured.compare(wanted, costs)
    chosen = measured.advise(offers, costs)
    noises = sorted({row.noise for row in wanted})
    table = Table(
        title=f"Measured: simulated people, {found.pictures} pictures",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    headings = ("show", "rank", *(f"gain ({noise:g})" for noise in noises))
    for heading in (*headings, "compares", "minutes", f"in {minutes:.1f} min"):
        table.add_column(heading, justify="right", no_wrap=True)
    for offer in [*offers[:rows], *([] if chosen in offers[:rows] else [chosen])]:
        row = offer.rows[0]
        gained = {r.noise: f"{r.gain:.2f} ±{r.standard_error or 0:.2f}" for r in offer.rows}
        table.add_row(
            *(str(row.m), "all" if row.k is None else str(row.k)),
            *(gained.get(noise, "") for noise in noises),
            *(str(row.comparisons), f"{row.minutes(costs):.1f}", f"{offer.gain:.2f}"),
            style="bold green" if offer is chosen else None,
        )
    out.print(table)
    out.print(
        "Gain of rank-process over a random picture, in standard deviations of utility among "
        "random pictures, ± its standard error, for judges of this noise (in the same unit); "
        f"{found.seeds} seeds and two tastes, {found.dim} dimensions. The last column: what is "
        "gained in as many minutes, a mean over the noises.",
        highlight=False,
    )
    best = chosen.rows[0]
    named = "all of them" if best.k is None else f"the best {best.k}"
    out.print(
        f"Measured advice: show {best.m}, have {named} ranked: the shortest round within 5% of "
        f"the most gained in {minutes:.1f} minutes.",
        style="bold",
        highlight=False,
    )


def _worth(p: planning.Plan) -> tuple[float, ...]:
    return p.quality, p.per_candidate, p.per_comparison, p.per_minute
