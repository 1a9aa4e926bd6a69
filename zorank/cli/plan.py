"""zorank plan: recommend how many candidates to show people, and how many to have ranked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeVar

import typer
from rich import box
from rich.table import Table

from zorank import planning
from zorank.cli.common import out
from zorank.experiments import measured

Row = TypeVar("Row")
RoundSeconds = Annotated[float, typer.Option(min=0, help="Fixed seconds per round.")]
LookSeconds = Annotated[float, typer.Option(min=0, help="Seconds to look at one candidate.")]
CompareSeconds = Annotated[float, typer.Option(min=0, help="Seconds to compare two candidates.")]


def plan(
    dim: Annotated[int, typer.Option(help="The dimension of a candidate.")],
    largest: Annotated[int, typer.Option(help="The most candidates to show at once.")] = 12,
    rank: Annotated[int | None, typer.Option(help="Only plans that rank this many.")] = None,
    rows: Annotated[int, typer.Option(min=1, help="How many plans to list.")] = 10,
    round_seconds: RoundSeconds = planning.DEFAULT_COSTS.round,
    look_seconds: LookSeconds = planning.DEFAULT_COSTS.look,
    compare_seconds: CompareSeconds = planning.DEFAULT_COSTS.compare,
) -> None:
    """Recommend how many candidates to show a person, and how many of them to have ranked.

    The first table is theory, for one answer and Algorithm 1: quality is the progress of a step
    relative to a step along the exact gradient. The second table is measured: the gain of
    rank-process with simulated raters in sessions of equal length. The seconds are assumptions:
    set them to what you observe.
    """
    costs = planning.Costs(round_seconds, look_seconds, compare_seconds)
    _print_predicted(planning.plans(dim, largest, rank, costs), rows, dim, costs)
    found = measured.packaged()
    if found is not None:
        wanted = [row for row in found.rows if row.m <= largest and (not rank or row.ranks(rank))]
        if wanted:
            _print_measured(found, wanted, rows, costs)


def _print_predicted(
    ordered: Sequence[planning.Plan], rows: int, dim: int, costs: planning.Costs
) -> None:
    chosen = planning.recommend(ordered)
    pair = planning.plan(2, 1, dim, costs)
    table = _table(
        f"Plans for {dim} dimensions, best per minute first",
        *("show", "rank", "quality", "compares", "seconds"),
        *("×round", "×shown", "×compare", "×minute"),
    )
    for p in _with_chosen(ordered[:rows], chosen):
        table.add_row(
            *(str(p.m), str(p.k), f"{p.quality:.2%}", str(p.comparisons), f"{p.seconds:.0f}"),
            *(f"{a / b:.2f}" for a, b in zip(_rates(p), _rates(pair), strict=True)),
            style="bold green" if p is chosen else None,
        )
    out.print(table)
    out.print(
        "Show m candidates and have the best k ranked. Quality: the progress of a step relative "
        "to one along the exact gradient. Compares: comparisons a person makes. ×: quality per "
        "round, candidate shown, comparison and minute, as multiples of a single pair's. "
        f"Assumed: {costs.round:g} s a round, {costs.look:g} s a candidate, "
        f"{costs.compare:g} s a comparison.",
        highlight=False,
    )
    out.print(
        f"Recommended: show {chosen.m}, have the best {chosen.k} ranked, "
        f"about {chosen.seconds:.0f} s a round: the shortest round within 5% of the best plan.",
        style="bold",
        highlight=False,
    )


def _print_measured(
    found: measured.Measured, wanted: Sequence[measured.Gained], rows: int, costs: planning.Costs
) -> None:
    minutes, offers = measured.compare(wanted, costs)
    chosen = measured.advise(offers, costs)
    noises = sorted({row.noise for row in wanted})
    table = _table(
        f"Measured: simulated raters, {found.pictures} pictures",
        *("show", "rank", *(f"gain ({noise:g})" for noise in noises)),
        *("compares", "minutes", f"in {minutes:.1f} min"),
    )
    for offer in _with_chosen(offers[:rows], chosen):
        row = offer.rows[0]
        gains = {r.noise: f"{r.gain:.2f} ±{r.standard_error or 0:.2f}" for r in offer.rows}
        table.add_row(
            *(str(row.m), "all" if row.k is None else str(row.k)),
            *(gains.get(noise, "") for noise in noises),
            *(str(row.comparisons), f"{row.minutes(costs):.1f}", f"{offer.gain:.2f}"),
            style="bold green" if offer is chosen else None,
        )
    out.print(table)
    out.print(
        "Gain of rank-process over a random picture, in standard deviations of utility among "
        "random pictures, ± its standard error, for raters of this noise (in the same unit); "
        f"{found.seeds} seeds and two tastes, {found.dim} dimensions. The last column: the gain "
        "within that many minutes, averaged over the noises.",
        highlight=False,
    )
    best = chosen.rows[0]
    ranked = "all of them" if best.k is None else f"the best {best.k}"
    out.print(
        f"Recommended by measurement: show {best.m}, have {ranked} ranked: the shortest round "
        f"within 5% of the largest gain in {minutes:.1f} minutes.",
        style="bold",
        highlight=False,
    )


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _with_chosen(listed: Sequence[Row], chosen: Row) -> list[Row]:
    return [*listed, *([] if chosen in listed else [chosen])]


def _rates(p: planning.Plan) -> tuple[float, ...]:
    return p.quality, p.per_candidate, p.per_comparison, p.per_minute
