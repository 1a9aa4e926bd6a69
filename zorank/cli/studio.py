"""`zorank studio`: rank in the browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zorank import renderers
from zorank.cli.common import (
    allow_environment,
    load_object,
    log,
    open_store,
    read_pairs,
    read_start,
    read_values,
)
from zorank.errors import InvalidInput, MissingExtra
from zorank.oracles import JUDGES

if TYPE_CHECKING:
    from zorank.renderers.interface import RendererKind

HELP = {
    "folder": "Rank what is there: the pictures, sounds or texts of a folder, or the rows of a "
    "table (.csv, .tsv).",
    "renderer": f"Offer only this renderer: {', '.join(renderers.REGISTRY)}, comfyui, or your "
    "own as module:object.",
    "prompt": "The prompt, for renderers that have one.",
    "negative_prompt": "The negative prompt.",
    "model": "The diffusion model: a folder, a .safetensors file, or the hub id of a downloaded "
    "one.",
    "photo": "The photo that the renderer style paints, a JPEG, PNG or WebP file; it is copied.",
    "workflow": "A workflow of ComfyUI in its API format, for the renderer comfyui.",
    "url": "Where that ComfyUI listens; by default http://127.0.0.1:8188.",
    "env": "The environment, for the renderer policy; module:Name imports your own module.",
    "option": "Another option of the renderer, name=value; may be repeated.",
    "start": "Where new runs start: seed:N (seed:N:cuda for noise of an Nvidia GPU), a file with "
    "a vector, or a PNG of A1111 or ComfyUI; by default people pick a start.",
    "store": "Where runs are stored: a URL or a file.",
    "host": "The address to listen on; any but loopback is reachable from the network.",
    "port": "The port; by default 8321, or a free one if it is taken.",
    "token": "The owner's token, at least 16 characters; by default a stored one.",
    "public_url": "The address at which people open the studio behind a proxy, such as "
    "https://example.org/rank.",
    "trust_proxy": "Take client address and scheme from the X-Forwarded-For and -Proto headers of "
    "a proxy on this machine, or at the addresses in FORWARDED_ALLOW_IPS.",
    "workers": "The number of server processes, which share the store and rendered exhibits. "
    "Each loads its own model.",
    "limit": "A limit of the server, name=value, such as runs=64; may be repeated. "
    "docs/deploy.md lists them.",
    "log_level": "What the log has: debug, info (with a line for each request), warning, error.",
    "log_format": "How the log is written: text, or json (one object a line).",
    "judge": f"The model that pre-sorts pictures: {', '.join(JUDGES)}, or your own as "
    "module:object.",
    "judge_option": "An option of the judge, name=value; may be repeated.",
    "method": "The method of new runs: rank-looks, rank-process, or zo-ranksgd-memory, the "
    "paper's Algorithm 3; by default, the renderer's speed decides between the first two.",
    "method_option": "A setting of the method, name=value; zo-ranksgd-memory has mu, step and "
    "gamma.",
}
"""The help of each option of `zorank studio`."""


REPEATED = frozenset({"lora"})
"""Options of renderers that may be given several times."""


def _option(name: str) -> Any:
    return typer.Option(help=HELP[name])


def studio(
    folder: Annotated[str | None, _option("folder")] = None,
    renderer: Annotated[str | None, _option("renderer")] = None,
    prompt: Annotated[str | None, _option("prompt")] = None,
    negative_prompt: Annotated[str | None, _option("negative_prompt")] = None,
    model: Annotated[str | None, _option("model")] = None,
    photo: Annotated[str | None, _option("photo")] = None,
    workflow: Annotated[str | None, _option("workflow")] = None,
    url: Annotated[str | None, _option("url")] = None,
    env: Annotated[str | None, _option("env")] = None,
    option: Annotated[list[str] | None, _option("option")] = None,
    start: Annotated[str | None, _option("start")] = None,
    store: Annotated[str | None, _option("store")] = None,
    host: Annotated[str, _option("host")] = "127.0.0.1",
    port: Annotated[int | None, _option("port")] = None,
    token: Annotated[str | None, _option("token")] = None,
    public_url: Annotated[str | None, _option("public_url")] = None,
    trust_proxy: Annotated[bool, typer.Option("--trust-proxy", help=HELP["trust_proxy"])] = False,
    workers: Annotated[int, _option("workers")] = 1,
    limit: Annotated[list[str] | None, _option("limit")] = None,
    log_level: Annotated[str, _option("log_level")] = "warning",
    log_format: Annotated[str, _option("log_format")] = "text",
    judge: Annotated[str | None, _option("judge")] = None,
    judge_option: Annotated[list[str] | None, _option("judge_option")] = None,
    method: Annotated[str | None, _option("method")] = None,
    method_option: Annotated[list[str] | None, _option("method_option")] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the link without opening the browser.")
    ] = False,
) -> None:
    """Start the studio, a web page on which people rank pictures, clips, sounds or texts.

    Every answer is stored at once: stop the studio at any time, start it again, and continue. The
    given renderer options are the defaults in the form for a new run.
    """
    try:
        from zorank.studio.catalog import select_judges, select_method
        from zorank.studio.limits import read_limits
        from zorank.studio.server import serve
        from zorank.studio.workers import check_workers
    except ModuleNotFoundError as error:
        raise MissingExtra("the studio", error.name or "FastAPI", "studio") from error
    check_workers(workers, store)
    named = {"prompt": prompt, "negative_prompt": negative_prompt, "model": model}
    named = {**named, "photo": photo, "env": env}
    given = {name: text for name, text in named.items() if text is not None}
    options = {**read_pairs(option or [], REPEATED), **given}
    allow_environment(options.get("env"))
    offered = _offered(renderer, folder, workflow, url, method, options)
    panel = select_judges(judge, read_values(judge_option or []), load_object)
    chosen = select_method(method, read_values(method_option or []))
    serve(
        *(open_store(store), offered, host, port, token),
        browser=not no_browser,
        panel=panel,
        method=chosen,
        public_url=public_url,
        trust_proxy=trust_proxy,
        workers=workers,
        log_level=log_level,
        log_format=log_format,
        limits=read_limits(read_values(limit or [])),
        start=None if start is None else read_start(start),
    )


def _offered(
    renderer: str | None,
    folder: str | None,
    workflow: str | None,
    url: str | None,
    method: str | None,
    options: Mapping[str, str],
) -> dict[str, RendererKind]:
    """Return the renderers to choose from; print which files of a folder are left out."""
    from zorank.studio.catalog import select_folder, select_renderers, select_workflow

    if renderer in (None, "comfyui") and folder is None and workflow is not None:
        renderer = "comfyui"
    elif workflow is not None or (url is not None and renderer != "comfyui"):
        raise InvalidInput(
            "--workflow and --url are for ComfyUI; combine them with --renderer comfyui only"
        )
    if folder is not None:
        offered, left_out = select_folder(folder, [renderer, method, *options])
        for sentence in left_out:
            log.print(sentence, markup=False, highlight=False, soft_wrap=True)
        return offered
    if renderer == "comfyui":
        return select_workflow(workflow, url, options)
    return select_renderers(renderer, load_object, options)
