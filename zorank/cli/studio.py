"""`zorank studio`: rank in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from zorank.cli.common import load_object, open_store, read_pairs, read_values
from zorank.errors import MissingExtra


def studio(
    renderer: Annotated[
        str | None,
        typer.Option(help="Offer only this renderer: a name, or your own as module:object."),
    ] = None,
    prompt: Annotated[
        str | None, typer.Option(help="The prompt, for renderers that have one.")
    ] = None,
    negative_prompt: Annotated[str | None, typer.Option(help="The negative prompt.")] = None,
    model: Annotated[
        str | None,
        typer.Option(help="The diffusion model: a folder, or the hub id of a downloaded one."),
    ] = None,
    env: Annotated[
        str | None, typer.Option(help="The environment, for the renderer policy.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(help="Another option of the renderer, name=value; may be repeated."),
    ] = None,
    store: Annotated[
        str | None, typer.Option(help="Where runs are stored: a URL or a file.")
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            help="The address to listen on; any but loopback is reachable from the network."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(help="The port; by default 8321, or a free one if it is taken.")
    ] = None,
    token: Annotated[
        str | None, typer.Option(help="The owner's token; by default a stored one.")
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            help="The model that pre-sorts pictures: dream, clip, or your own as module:object."
        ),
    ] = None,
    judge_option: Annotated[
        list[str] | None,
        typer.Option(help="An option of the judge, name=value; may be repeated."),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the link without opening the browser.")
    ] = False,
) -> None:
    """Start the studio, a web page on which people rank pictures, clips, sounds or texts.

    Every answer is stored at once: stop the studio at any time, start it again, and continue. The
    given renderer options are the defaults in the form for a new run.
    """
    try:
        from zorank.studio.catalog import select_judges, select_renderers
        from zorank.studio.server import serve
    except ModuleNotFoundError as error:
        raise MissingExtra("the studio", error.name or "FastAPI", "studio") from error
    named = {"prompt": prompt, "negative_prompt": negative_prompt, "model": model, "env": env}
    given = {name: text for name, text in named.items() if text is not None}
    offered = select_renderers(renderer, load_object, {**read_pairs(option or []), **given})
    panel = select_judges(judge, read_values(judge_option or []), load_object)
    serve(open_store(store), offered, host, port, token, browser=not no_browser, panel=panel)
