"""zorank plan: which m and k to ask of people."""

from __future__ import annotations

from typing import Annotated

import typer
from rich import box
from rich.table import Table

from zorank import theory
from zorank.cli.common import out


def plan(
    dim: Annotated[int, typer.Option(help="The dimension of a candidate.")],
    largest: Annotated[int, typer.Option(help="The most candidates to show at once.")] = 12,
    rank: Annotated[int | None, typer.Option(help="Only plans that rank this many.")] = None,
    rows: Annotated[int, typer.Option(min=1, help="How many plans to list.")] = 10,
    round_seconds: Annotated[
        float, typer.Option(min=0, help="A person's seconds for a round as such.")
    ] = theory.TYPICAL.round,
    look_seconds: Annotated[
        float, typer.Option(min=0, help="Seconds to look at one candidate.")
    ] = theory.TYPICAL.look,
    compare_seconds: Annotated[
        float, typer.Option(min=0, help="Seconds to compare two candidates.")
    ] = theory.TYPICAL.compare,
) -> None:
    """How many candidates to show a person, and how many of them to have ranked.

    Quality is the share of an exact gradient's progress that one answer gives. The seconds are
    assumptions: set them to what you observe.
    """
    costs = theory.Costs(round_seconds, look_seconds, compare_seconds)
    ordered = theory.plans(dim, largest, rank, costs)
    chosen = theory.recommend(ordered)
    base = theory.plan(2, 1, dim, costs)
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


def _worth(p: theory.Plan) -> tuple[float, ...]:
    return p.quality, p.per_candidate, p.per_comparison, p.per_minute
