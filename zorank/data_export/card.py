"""The card of a data set: a README.md with the YAML header that data set hubs read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime

from zorank._version import __version__
from zorank.data_export.formats import Format
from zorank.data_export.tables import Column
from zorank.preference_data import Judgement
from zorank.types import RunRecord

TYPES = {
    int: "whole number",
    float: "number",
    str: "text",
    bool: "true or false",
    bytes: "bytes",
    list: "list of numbers",
}

MOST_LINES = 40
"""How many columns a card describes; a table of coordinates has more."""

PAGE = """---
license: unknown  # fill in
pretty_name: {title}
tags:
- preference
- zorank
configs:
- config_name: default
  data_files: {file}
---

# {heading}

{about} The answers are those of a run of zorank, in which people or models rank candidates.

| | |
| --- | --- |
| rows | {rows} |
| raters | {raters} |
| rounds | {rounds} |
| answers | {answers} |
| answered | {dates} |
| candidates | {dim} coordinates, chosen by {optimizer}{renderer} |
| licence | unknown: fill in |
| written by | zorank {version} on {today} |

{people}

## Columns of {file}

| column | type | meaning |
| --- | --- | --- |
{columns}
"""


def card(
    record: RunRecord,
    answers: Sequence[Judgement],
    form: Format,
    columns: Sequence[Column],
    file: str,
    rows: int,
    names: bool,
) -> str:
    """Return the text of the card."""
    title = _line(record.meta.get("title") or record.name)
    raters = {answer.rater for answer in answers}
    times = [answer.answered_at for answer in answers if answer.answered_at is not None]
    first, last = (_day(t) for t in (min(times), max(times))) if times else ("?", "?")
    renderer = record.meta.get("renderer")
    lines = [f"| `{c.name}` | {TYPES[c.type]} | {c.about} |" for c in columns]
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], "| … | | |"]
    return PAGE.format(
        title=json.dumps(title, ensure_ascii=False),
        heading=title,
        about=form.about,
        file=file,
        rows=rows,
        raters=len(raters),
        rounds=len({answer.round for answer in answers}),
        answers=len(answers),
        dates=first if first == last else f"{first} to {last}",
        dim=record.x0.size,
        optimizer=record.optimizer,
        renderer=f", shown by the renderer {_line(renderer)}" if renderer else "",
        version=__version__,
        today=_day(datetime.now(UTC).timestamp()),
        people="Raters have the names that they used."
        if names
        else "Names of raters are replaced by numbers.",
        columns="\n".join(lines),
    )


def _line(text: object) -> str:
    return " ".join(str(text).split())


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
