"""Exports the answers of a run as data that other programs read.

`export_data` checks everything first, then renders what is needed (`exhibits.py`), then writes one
file (`tables.py`) in a format (`formats.py`) and, for a folder, its card (`card.py`).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from zorank.data_export.card import card
from zorank.data_export.exhibits import Gallery, RunRenderer, renderer_of
from zorank.data_export.formats import FORMATS, MOST_CSV_COORDINATES, Format, Source
from zorank.data_export.tables import (
    TEXT_WRITERS,
    Table,
    check_folder,
    check_form,
    not_writable,
    replacing,
    write_file,
)
from zorank.errors import InvalidInput, unknown_name
from zorank.preference_data import Judgement
from zorank.run import Run

__all__ = ["FORMATS", "Export", "Written", "export_data", "renderer_of"]

CARD = "README.md"


@dataclass(frozen=True)
class Export:
    """The settings of an export.

    Attributes:
        format: a name in `FORMATS`.
        out: a file with an extension of the format, or a folder, which also gets a card; None is
            standard output.
        pictures: the folder for rendered candidates, to which the rows then refer.
        prompt: what the exhibits should show; None takes that of the renderer, or the run's title.
        ties: include pairs that tie; only in the format pairs.
        names: write the names of raters instead of numbers.
        force: replace files that exist.
    """

    format: str
    out: Path | None = None
    pictures: Path | None = None
    prompt: str | None = None
    ties: bool = False
    names: bool = False
    force: bool = False


@dataclass(frozen=True)
class Written:
    """The result of an export: its file (None for standard output), its size, and remarks."""

    file: Path | None
    rows: int
    raters: int
    rounds: int
    remarks: tuple[str, ...] = ()


def export_data(
    run: Run,
    export: Export,
    renderer: Callable[[], RunRenderer],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Written:
    """Export the answers of a run.

    Args:
        run: the run.
        export: its settings.
        renderer: makes the run's renderer; called only if candidates must be rendered.
        progress: takes the number of candidates that are rendered, and of all.
    """
    if export.format not in FORMATS:
        raise unknown_name("format", export.format, FORMATS)
    form = FORMATS[export.format]
    if export.ties and export.format != "pairs":
        raise InvalidInput(f"--ties is an option of the format pairs, found {export.format}")
    file = _checked_file(form, export)
    answers = _checked_answers(run, form, export)
    rendered = renderer() if form.needs or export.pictures is not None else None
    with ExitStack() as stack:
        gallery = None
        if rendered is not None:
            _check_media(form, export.format, rendered)
            folder = export.pictures or Path(stack.enter_context(tempfile.TemporaryDirectory()))
            gallery = Gallery(folder, rendered)
            gallery.fill(answers, form.positions(export.ties), progress)
        beside, paths = Path() if file is None else file.parent, export.pictures is not None
        prompt = export.prompt or _prompt(run, rendered)
        table = form.table(Source(answers, gallery, beside, paths, export.ties, prompt))
        rows = _write(run, export, form, table, answers, file)
    raters, rounds = ({getattr(a, what) for a in answers} for what in ("rater", "round"))
    return Written(file, rows, len(raters), len(rounds), tuple(_remarks(run, export, rendered)))


def _prompt(run: Run, rendered: RunRenderer | None) -> str:
    """Return the renderer's prompt, or else the run's title."""
    own = "" if rendered is None else rendered.renderer.prompt
    return own or str(run.record.meta.get("title", ""))


def _checked_file(form: Format, export: Export) -> Path | None:
    """Return the file to write; raise unless it can be written."""
    out, names = export.out, " or ".join(form.extensions)
    if out is None:
        if form.extensions[0] not in TEXT_WRITERS:
            raise InvalidInput(
                f"the format {export.format} is not a text; name a file with --out data.parquet"
            )
        return None
    folder = out.is_dir() or not out.suffix
    if not folder and out.suffix not in form.extensions:
        raise InvalidInput(
            f"the format {export.format} needs a file that ends in {names}, or a folder, "
            f"found {out}"
        )
    file = out / f"data{form.extensions[0]}" if folder else out
    for path in (file, out / CARD) if folder else (file,):
        if path.exists() and not export.force:
            raise InvalidInput(f"{path} exists; choose another name, or replace it with --force")
    parent = next(p for p in file.parents if p.exists()) if folder else file.parent
    if not parent.is_dir():
        raise InvalidInput(f"{file} cannot be written: {parent} is not a folder")
    check_folder(parent, file)
    check_form(file)
    return file


def _checked_answers(run: Run, form: Format, export: Export) -> list[Judgement]:
    """Return the answers of a run, anonymised unless names are wanted; raise if there are none."""
    answers = list(run.judgements())
    if not answers:
        raise InvalidInput(
            f"run {run.name!r} has no answers yet, so there is nothing to export; answer a round "
            "first"
        )
    positions = form.positions(export.ties)
    if not any(positions(answer) for answer in answers):
        raise InvalidInput(
            f"the answers of run {run.name!r} prefer no candidate to another, so the format "
            f"{export.format} would be empty; export it as csv"
        )
    if export.names:
        return answers
    named = dict.fromkeys(answer.rater for answer in answers if answer.rater is not None)
    numbers = {name: f"rater {i}" for i, name in enumerate(named, start=1)}
    return [replace(a, rater=None if a.rater is None else numbers[a.rater]) for a in answers]


def _check_media(form: Format, name: str, source: RunRenderer) -> None:
    """Raise unless the renderer makes exhibits that the format can hold."""
    makes = source.renderer.media_type
    if form.needs == "text/" and not makes.startswith("text/"):
        hint = (
            "; in TRL's format pictures belong to the prompt, and only texts are preferred, so "
            "use --format diffusion-dpo"
            if makes.startswith("image/")
            else ""
        )
        raise InvalidInput(
            f"the format {name} holds texts, but the renderer {source.renderer.name} makes "
            f"{makes}{hint}"
        )
    if form.needs == "image/" and (not makes.startswith("image/") or "svg" in makes):
        raise InvalidInput(
            f"the format {name} holds JPEG pictures, but the renderer {source.renderer.name} "
            f"makes {makes}"
        )


def _write(
    run: Run,
    export: Export,
    form: Format,
    table: Table,
    answers: Sequence[Judgement],
    file: Path | None,
) -> int:
    """Write the table, and the card of a folder; return the number of rows."""
    if file is None:
        return TEXT_WRITERS[form.extensions[0]](table, sys.stdout)
    if file == export.out:
        return write_file(table, file)
    with _made(file.parent):
        rows = write_file(table, file)
        text = card(run.record, answers, form, table.columns, file.name, rows, export.names)
        with replacing(file.parent / CARD) as part:
            part.write_text(text, encoding="utf-8")
    return rows


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make a folder; remove it again if it is empty after an error."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_writable(folder, error) from error
    try:
        yield
    except BaseException:
        with suppress(OSError):
            folder.rmdir()
        raise


def _remarks(run: Run, export: Export, rendered: RunRenderer | None) -> Iterator[str]:
    """Yield remarks about the files for the user."""
    dim = run.record.x0.size
    if export.format == "csv" and export.pictures is None and dim > MOST_CSV_COORDINATES:
        yield (
            f"the file has no coordinates, because there are {dim}; the formats json and parquet "
            "have them"
        )
    if rendered is not None and rendered.changed:
        yield (
            f"the weights of the renderer {rendered.renderer.name} have changed since the run "
            "began, so these exhibits may differ from those that were ranked"
        )
