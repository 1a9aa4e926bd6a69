"""The display of exhibits, slates, runs and results in notebooks: a line of text, small HTML.

The objects are read by their public members only, so that this module can be imported by the
modules that define them. Nothing is rendered or evaluated to show an object.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

LARGEST_INLINE = 4_000_000
"""Bytes of an exhibit that are put into a page; a larger one is only described."""
LONGEST_TEXT = 2_000
"""Characters of a text that are shown."""
MOST_ROWS = 8
MOST_COLUMNS = 8
LARGEST_DIMENSION = 10_000
"""Candidates of more coordinates are not computed to be shown."""
COLUMNS = ("round", "points", "question", "rater", "seconds", "value", "best", "radius")
"""Columns of a history that are shown, if it has them."""


def of_exhibit(exhibit: Any) -> dict[str, str]:
    """Return the picture, clip, sound or text itself, unless it is large."""
    line = f"<Exhibit {exhibit.media_type}, {_size(len(exhibit.data))}>"
    shown = _medium(exhibit.media_type, bytes(exhibit.data))
    return {"text/plain": line, "text/html": shown or _paragraph(line)}


def of_slate(slate: Any) -> dict[str, str]:
    """Return the question and the first coordinates of the first candidates."""
    k = f", the best {slate.k}" if slate.k is not None else ""
    line = f"<Slate of {len(slate)} candidates, {slate.dim} dimensions: {slate.question}{k}>"
    if slate.dim > LARGEST_DIMENSION:
        return {"text/plain": line, "text/html": _paragraph(line)}
    columns = range(min(slate.dim, MOST_COLUMNS))
    rows = [
        [str(i), *(_number(x) for x in slate[i][: len(columns)].tolist())]
        for i in range(min(len(slate), MOST_ROWS))
    ]
    head = ["", *(f"x{_subscript(j)}" for j in columns)]
    more = _more(len(slate) - len(rows), "candidate") + _more(
        slate.dim - len(columns), "coordinate"
    )
    return {"text/plain": line, "text/html": _paragraph(line) + _table(head, rows) + _notes(more)}


def of_run(run: Any) -> dict[str, str]:
    """Return a line, and the last rounds of the history."""
    line, history = repr(run), run.history
    return {"text/plain": line, "text/html": _paragraph(line) + _last_rounds(history)}


def of_result(result: Any) -> dict[str, str]:
    """Return the numbers of a result and its last rounds; f is not evaluated for it."""
    known: dict[str, Any] = {"message": result.message, "points": result.points}
    known["rounds"] = result.rounds
    if "fun" in vars(result):
        known["fun"] = _number(result.fun)
    elif result.history and result.history[-1].get("best") is not None:
        known["best value seen"] = _number(result.history[-1]["best"])
    first = ", ".join(_number(x) for x in result.x[:MOST_COLUMNS].tolist())
    known["x"] = f"[{first}{', …' if result.x.size > MOST_COLUMNS else ''}]"
    width = max(len(name) for name in known)
    text = "\n".join(f"{name:>{width}}  {value}" for name, value in known.items())
    table = _table((), [[name, str(value)] for name, value in known.items()])
    return {"text/plain": text, "text/html": table + _last_rounds(result.history)}


def _medium(media_type: str, data: bytes) -> str:
    """Return the HTML that shows a file; empty if it is large or of an unknown type."""
    from html import escape

    kind, label = media_type.partition("/")[0], escape(media_type)
    if len(data) > LARGEST_INLINE:
        return ""
    if kind == "text":
        text = data.decode(errors="replace")
        if media_type.startswith("text/html"):  # without scripts and without an origin
            return (
                f'<iframe sandbox srcdoc="{escape(text)}" title="{label}" '
                'style="width:100%;max-width:480px;height:240px;border:0;background:#fff"></iframe>'
            )
        cut = text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + " …"
        return f'<pre style="white-space:pre-wrap">{escape(cut)}</pre>'
    source = f'src="{_data_url(media_type, data)}"'
    size = 'style="max-width:min(100%,480px);max-height:480px"'
    return {
        "image": f'<img alt="{label}" {source} {size}>',
        "audio": f"<audio controls {source}></audio>",
        "video": f"<video controls muted loop playsinline {source} {size}></video>",
    }.get(kind, "")


def _data_url(media_type: str, data: bytes) -> str:
    from base64 import b64encode
    from html import escape

    return f"data:{escape(media_type)};base64,{b64encode(data).decode()}"


def _last_rounds(history: Sequence[Mapping[str, Any]]) -> str:
    if not history:
        return ""
    names = [name for name in COLUMNS if any(row.get(name) is not None for row in history)]
    rows = [[_cell(row.get(name)) for name in names] for row in history[-MOST_ROWS:]]
    return _table(names, rows) + _notes(_more(len(history) - len(rows), "earlier round"))


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    from html import escape

    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = [f"<thead><tr>{names}</tr></thead>"] if names else []
    lines.append("<tbody>")
    for row in rows:
        lines.append(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>")
    return f"<table>{''.join(lines)}</tbody></table>"


def _paragraph(text: str) -> str:
    from html import escape

    return f"<p>{escape(text.removeprefix('<').removesuffix('>'))}</p>"


def _notes(notes: Sequence[str]) -> str:
    return f"<p><small>{', '.join(notes)}</small></p>" if notes else ""


def _more(count: int, noun: str) -> list[str]:
    return [f"{count} {noun}{'s' if count > 1 else ''} more"] if count > 0 else []


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return _number(value) if isinstance(value, float) else str(value)


def _number(value: float) -> str:
    return f"{value:.4g}"


def _subscript(index: int) -> str:
    return str(index).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def _size(count: int) -> str:
    """Return a number of bytes as a readable text."""
    for unit, name in ((1_000_000, "MB"), (1_000, "kB")):
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count} bytes"
