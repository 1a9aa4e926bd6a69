"""zorank bench: run the benchmarks behind zorank's claims, one module each."""

from __future__ import annotations

import typer

from zorank.cli.bench import policies
from zorank.cli.bench.field import field
from zorank.cli.bench.functions import functions
from zorank.cli.bench.items import items
from zorank.cli.bench.judges import judges
from zorank.cli.bench.largescale import largescale
from zorank.cli.bench.looks import looks
from zorank.cli.bench.mixed import mixed
from zorank.cli.bench.noise import noise

app = typer.Typer(
    help="Run benchmarks: with simulated raters, and against other optimizers.",
    no_args_is_help=True,
)
for command in (judges, looks, field, functions, noise, largescale, mixed, items):
    app.command()(command)
app.add_typer(policies.app, name="policies")


@app.callback()
def _bench() -> None:
    """Run benchmarks: with simulated raters, and against other optimizers."""
