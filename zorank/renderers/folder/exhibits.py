"""Files and rows as exhibits that are safe to show.

Pictures are decoded and encoded again, which removes everything but the picture, such as the place
where a photograph was taken. Texts and rows become pages in which every character is escaped.
"""

from __future__ import annotations

import html
from io import BytesIO

from zorank.errors import InvalidInput, required_by, unreadable
from zorank.renderers.folder.kinds import SOUND
from zorank.renderers.folder.table import Row
from zorank.types import Exhibit

MAX_PIXELS = 100_000_000
MAX_CHARACTERS = 20_000
"""How much of a text is shown."""

_PAGE = """<!doctype html><meta charset="utf-8"><style>
:root {{ color-scheme: light dark }}
body {{ margin: 0; padding: 3.6rem 1.2rem 1.2rem; font: 16px/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere }}
p {{ margin: 0; white-space: pre-wrap }}
dl {{ margin: 0 }} dt {{ font-size: .8em; opacity: .65 }}
dd {{ margin: 0 0 .7em; white-space: pre-wrap }}
</style>{body}"""


def picture(content: bytes, size: int) -> Exhibit:
    """Return a picture as JPEG, upright, with sides of at most `size` pixels."""
    with required_by("a folder of pictures", "pillow", "studio"):
        from PIL import Image, ImageOps
    with (
        unreadable("a picture cannot be decoded", "replace the file"),
        Image.open(BytesIO(content)) as opened,
    ):
        if opened.width * opened.height > MAX_PIXELS:
            raise InvalidInput(
                f"a picture of {opened.width} × {opened.height} pixels is too large; at most "
                f"{MAX_PIXELS // 1_000_000} million can be shown"
            )
        opened.draft("RGB", (size, size))
        shown = ImageOps.exif_transpose(opened)
        shown.thumbnail((size, size), Image.Resampling.LANCZOS)
        if shown.mode in ("RGBA", "LA", "PA") or "transparency" in shown.info:
            on_white = Image.new("RGBA", shown.size, "white")
            shown = Image.alpha_composite(on_white, shown.convert("RGBA"))
        file = BytesIO()
        shown.convert("RGB").save(file, "JPEG", quality=90)
    return Exhibit("image/jpeg", file.getvalue())


def sound(content: bytes) -> Exhibit:
    """Return a sound as it is."""
    return Exhibit(SOUND.media_type(content[:64]) or "application/octet-stream", content)


def text(content: bytes) -> Exhibit:
    """Return a text as a page."""
    words = content.decode("utf-8-sig", errors="replace")
    cut = words if len(words) <= MAX_CHARACTERS else words[:MAX_CHARACTERS] + " […]"
    return _page(f"<p>{html.escape(cut)}</p>")


def row(found: Row) -> Exhibit:
    """Return a row as a page with a line for each column."""
    cells = ((h, c[:MAX_CHARACTERS]) for h, c in found.cells if c.strip())
    lines = (f"<dt>{html.escape(h)}</dt><dd>{html.escape(c)}</dd>" for h, c in cells)
    return _page(f"<dl>{''.join(lines)}</dl>")


def _page(body: str) -> Exhibit:
    return Exhibit("text/html", _PAGE.format(body=body).encode())
