"""zorank studio: people rank in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from zorank.cli.common import load_object, open_store, read_pairs, read_values
from zorank.errors import MissingExtra


def studio(
    renderer: Annotated[
        str | None,
        typer.Option(
            help="Offer only this: a renderer's name, or one of your own, module:object."
        ),
    ] = None,
    prompt: Annotated[
        str | None, typer.Option(help="What to paint, for renderers that take a prompt.")
    ] = None,
    negative_prompt: Annotated[str | None, typer.Option(help="What not to paint.")] = None,
    model: Annotated[
        str | None,
        typer.Option(help="The model to paint with: a folder, or the hub id of a downloaded one."),
    ] = None,
    env: Annotated[
        str | None, typer.Option(help="The environment, for clips of policies.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(help="Another option of the renderer, name=value; as often as needed."),
    ] = None,
    store: Annotated[str | None, typer.Option(help="Where runs are kept (a URL or file).")] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; others than loopback are reachable.")
    ] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(help="The port; else 8321, or any free one.")] = None,
    token: Annotated[
        str | None, typer.Option(help="The owner's token; else one that is kept.")
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            help="Who orders the pictures for people to correct: clip, or your own, module:object."
        ),
    ] = None,
    judge_option: Annotated[
        list[str] | None,
        typer.Option(help="What the judge is made from, name=value; may be repeated."),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the link.")] = False,
) -> None:
    """Open the studio: a page on which people rank, and the pictures get better.

    Everything is kept as you go: close it, start it again, and go on. Options of the renderer are
    filled in on the page that starts a run.
    """
    try:
        from zorank.studio.offer import offer, offer_judge
        from zorank.studio.server import serve
    except ModuleNotFoundError as error:
        raise MissingExtra("the studio", error.name or "FastAPI", "studio") from error
    named = {"prompt": prompt, "negative_prompt": negative_prompt, "model": model, "env": env}
    given = {name: text for name, text in named.items() if text is not None}
    offered = offer(renderer, load_object, {**read_pairs(option or []), **given})
    panel = offer_judge(judge, read_values(judge_option or []), load_object)
    serve(open_store(store), offered, host, port, token, browser=not no_browser, panel=panel)
