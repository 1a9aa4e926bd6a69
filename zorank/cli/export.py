"""`zorank runs export --format`: the answers of a run as data."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from rich.text import Text

from zorank import renderers
from zorank.cli.common import allow_environment, load_object, log, out, read_values
from zorank.data_export import Export, export_data, renderer_of
from zorank.data_export.exhibits import RunRenderer
from zorank.renderers.interface import RendererKind, kinds_of
from zorank.run import Run

Progress: TypeAlias = Callable[[int, int], None]

FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Export the answers as data: csv, pairs, trl, diffusion-dpo, parquet or json "
        "(docs/preference-data.md).",
    ),
]
PicturesOption = Annotated[
    Path | None,
    typer.Option("--pictures", help="Render the candidates into this folder, and refer to them."),
]
RendererOption = Annotated[
    str | None,
    typer.Option("--renderer", help="The renderer, if it is your own (module:object) or another."),
]
RendererSettings = Annotated[
    list[str] | None,
    typer.Option("--option", help="An option of the renderer, name=value; may be repeated."),
]
PromptOption = Annotated[
    str | None, typer.Option("--prompt", help="The prompt or caption; by default the renderer's.")
]
TiesFlag = Annotated[bool, typer.Option("--ties", help="Include ties in the format pairs.")]
NamesFlag = Annotated[
    bool, typer.Option("--names", help="Write the names of raters instead of numbers.")
]
ForceFlag = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]


def write_data(
    run: Run,
    export: Export,
    wanted: str | None,
    settings: list[str] | None,
    progress: Callable[[str], AbstractContextManager[Progress]],
) -> None:
    """Export the answers of a run, and print what was written."""

    def renderer() -> RunRenderer:
        options = read_values(settings or [])
        allow_environment(options.get("env"))
        return renderer_of(run.record, offered_renderers(wanted), wanted, options)

    with progress("render") as show:
        written = export_data(run, export, renderer, show)
    for remark in written.remarks:
        log.print(Text(remark), soft_wrap=True)
    if written.file is not None:
        what = f"{_several(written.rows, 'row')} of {_several(written.raters, 'rater')} in "
        what += _several(written.rounds, "round")
        out.print(Text(f"{written.file} has {what}"), soft_wrap=True)


def _several(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def offered_renderers(wanted: str | None) -> dict[str, RendererKind]:
    """Return zorank's renderers, and the user's own if it is named."""
    offered = kinds_of(renderers.REGISTRY)
    if wanted is not None and ":" in wanted:
        offered[wanted] = RendererKind.tried(wanted, load_object(wanted))
    return offered
