"""zorank bench policies: policies learned from ranked episodes, by several methods."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from zorank.cli.common import allow_environment, out, read_values
from zorank.cli.tables import new_table
from zorank.errors import unknown_name

app = typer.Typer(
    help="Measure policies learned from ranked episodes (extra rl).", no_args_is_help=True
)

Env = Annotated[
    str, typer.Argument(help="An environment, or ENV@STEPS to rank by the first STEPS.")
]
Seeds = Annotated[int, typer.Argument(min=1, help="The number of seeds.")]


@app.command()
def recipes(
    env: Env,
    episodes: Annotated[int, typer.Argument(min=1, help="The number of ranked episodes.")],
    seeds: Seeds,
    names: Annotated[
        list[str] | None, typer.Argument(help="Only these methods, such as recipe or auto.")
    ] = None,
    file: Annotated[
        Path, typer.Option("--out", help="The file of results; its seeds are not run again.")
    ] = Path("policies.json"),
) -> None:
    """Compare the recipe of zorank rl with other methods, on seeds from 200 on.

    Example: zorank bench policies recipes Swimmer-v4 500 10
    """
    from zorank.experiments import policy_recipes as study

    known = study.methods(env)
    for name in names or known:
        if name not in known:
            raise unknown_name("method", name, known)
    first = study.FIRST_REPORTED_SEED
    for name in names or known:
        reported = range(first, first + seeds)
        found = study.measure(file, name, env, known[name], episodes, reported)
        out.print(Text(str(found)), soft_wrap=True)


@app.command()
def tune(
    env: Env,
    seeds: Seeds,
    method: Annotated[str, typer.Argument(help="A method, such as rank-ars.")],
    settings: Annotated[list[str] | None, typer.Argument(help="Its settings, name=value.")] = None,
    file: Annotated[
        Path, typer.Option("--out", help="The file of results; its seeds are not run again.")
    ] = Path("policies-tuning.json"),
) -> None:
    """Measure settings of a method on the tuning seeds, those from 0 on.

    Example: zorank bench policies tune Reacher-v4 4 rank-ars m=8 step=.03
    """
    from zorank.experiments import policy_recipes as study

    options = read_values(settings or [])
    name = f"{method} {json.dumps(options)}"
    optimizer = study.make_method(method, options)
    episodes = study.tuning_episodes(env)
    found = study.measure(file, name, env, optimizer, episodes, range(seeds))
    out.print(Text(str(found)), soft_wrap=True)


@app.command()
def gaits() -> None:
    """Let a simulated rater rank clips of HalfCheetah; compare with as many random gaits."""
    from zorank.experiments import policy_gaits as study

    table = _table("How much the rater likes a gait", study.HEADINGS)
    for vigour, *likes in study.measure():
        table.add_row(f"{vigour:g}", *(f"{like:.0f}" for like in likes))
    out.print(table)


@app.command()
def landscape(env: Env, seeds: Seeds) -> None:
    """Print the returns near each policy of a search, in per cent of that policy's return.

    Example: zorank bench policies landscape HalfCheetah-v4 5
    """
    from zorank.experiments import policy_landscape as study

    radii = [f"radius {radius:g}" for radius in study.RADII]
    steps = [f"step {step:g}" for step in study.STEPS]
    table = _table(
        "Median return of random candidates (share of better ones), return along the gradient",
        ("episodes", "seed", "reward", "directions", "early", *radii, *steps),
    )
    allow_environment(env)
    for one in study.examine(env, seeds):
        table.add_row(
            *(f"{one.episodes}", f"{one.seed}", f"{one.reward:,.0f}"),
            *(f"{one.directions:.1f}", f"{one.early:.2f}"),
            *(f"{median:.0f} ({better:.0f})" for median, better in one.nearby),
            *(f"{value:.0f}" for value in one.uphill),
        )
    out.print(table)


def _table(title: str, headings: Iterable[str]) -> Table:
    table = new_table(title)
    for heading in headings:
        table.add_column(heading, justify="right")
    return table
