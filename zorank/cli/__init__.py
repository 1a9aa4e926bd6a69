"""The command line: translates arguments into calls, and prints the results."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Annotated, NoReturn

import typer

from zorank._version import __version__
from zorank.cli import bench, rl, runs
from zorank.cli.comfyui_node import comfyui_node
from zorank.cli.common import log, out
from zorank.cli.minimize import minimize
from zorank.cli.plan import plan
from zorank.cli.reproduce import reproduce
from zorank.cli.studio import studio
from zorank.errors import ZorankError

app = typer.Typer(
    name="zorank",
    help="Optimise what can be ranked but not scored.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
for command in (studio, minimize, plan, reproduce, comfyui_node):
    app.command()(command)
app.add_typer(rl.app, name="rl")
app.add_typer(runs.app, name="runs")
app.add_typer(bench.app, name="bench")


def main() -> None:
    """Run the command line; print a ZorankError as one sentence and exit with code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # terminals that cannot encode μ must not fail
    try:
        app()
    except ZorankError as error:
        _fail(str(error))
    except MemoryError as error:
        _fail(f"not enough memory ({error}); use fewer dimensions or smaller slates")


def _fail(problem: str) -> NoReturn:
    log.print(f"zorank: {problem}", style="red", markup=False, highlight=False, soft_wrap=True)
    sys.exit(2)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        out.print(__version__, highlight=False)
        raise typer.Exit
