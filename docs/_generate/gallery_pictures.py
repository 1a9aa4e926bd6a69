"""Takes the pictures of docs/gallery.md in Chromium: what each example prints, or draws.

python docs/_generate/gallery_pictures.py [NAME ...]; needs the extra dev and a Chromium.
"""

import base64
import importlib
import io
import os
import subprocess
import sys
import tempfile
import wave
from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Page

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "docs"), str(ROOT / "examples")]

from _generate.gallery import PICTURES, scripts  # noqa: E402
from tests.helpers.browser import launched  # noqa: E402
from zorank.types import Exhibit  # noqa: E402

CLASSES = {
    "spirals": "Spirals",
    "pendulums": "Pendulums",
    "tones": "Synthesiser",
    "themes": "Theme",
}
SHOWN = 3
WIDTH, LONGEST = 760, 14
STYLE = """
body { margin: 0; padding: 18px; background: #15161a; color: #e8e8ea; width: max-content;
  font: 15px/1.5 ui-monospace, monospace }
pre { margin: 0; width: 48ch; min-height: 160px; white-space: pre-wrap }
.exhibits { display: flex; gap: 12px }
.exhibits > * { width: 232px; height: 232px; object-fit: cover; border: 0; border-radius: 8px;
  background: white }
"""


def main(names: Sequence[str]) -> None:
    """Take the named pictures, or all."""
    found = scripts()
    with launched() as chromium:
        page = chromium.new_page(viewport={"width": WIDTH, "height": 300}, device_scale_factor=1.5)
        for name in names or found:
            html = _exhibits(name) if name in CLASSES else _printed(found[name])
            _photograph(page, html, ROOT / "docs" / PICTURES / f"{name}.jpg")


def _photograph(page: Page, html: str, file: Path) -> None:
    page.set_content(f"<!doctype html><style>{STYLE}</style>{html}")
    page.wait_for_load_state("networkidle")
    png = page.locator("body").screenshot()
    file.parent.mkdir(exist_ok=True)
    Image.open(io.BytesIO(png)).convert("RGB").save(file, quality=82)


def _printed(script: Path) -> str:
    """Return what an example prints, below the command."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "90"}
        command = [sys.executable, script]
        printed = subprocess.check_output(command, cwd=folder, env=environment, text=True)
    lines = printed.rstrip().splitlines()
    if len(lines) > LONGEST:
        lines = [*lines[: LONGEST - 2], "…", lines[-1]]
    typed = f"$ python {script.relative_to(ROOT).as_posix()}"
    return f"<pre>{escape(typed)}\n{escape(chr(10).join(lines))}</pre>"


def _exhibits(name: str) -> str:
    """Return a row of exhibits of an example's renderer, drawn from N(0, I)."""
    renderer = getattr(importlib.import_module(f"renderers.{name}"), CLASSES[name])()
    candidates = np.random.default_rng(3).standard_normal((SHOWN, renderer.dim))
    shown = "".join(map(_element, renderer.render(list(candidates))))
    return f'<div class="exhibits">{shown}</div>'


def _element(exhibit: Exhibit) -> str:
    if exhibit.media_type == "text/html":
        return f'<iframe srcdoc="{escape(exhibit.data.decode())}"></iframe>'
    if exhibit.media_type == "audio/wav":
        return _waveform(exhibit.data)
    data, kind = exhibit.data, exhibit.media_type
    if kind == "video/mp4":
        import imageio.v3 as iio

        frames = list(iio.imiter(data, extension=".mp4"))
        file = io.BytesIO()
        Image.fromarray(frames[len(frames) // 2]).save(file, "PNG")
        data, kind = file.getvalue(), "image/png"
    return f'<img src="data:{kind};base64,{base64.b64encode(data).decode()}">'


def _waveform(data: bytes) -> str:
    with wave.open(io.BytesIO(data)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2") / 2**15
    tops = [float(np.abs(part).max()) for part in np.array_split(samples, 58)]
    bars = "".join(
        f'<rect x="{4 * i}" y="{50 - 45 * top:.1f}" width="3" height="{90 * top + 1:.1f}"/>'
        for i, top in enumerate(tops)
    )
    return f'<svg viewBox="0 0 232 100" fill="#3f51b5">{bars}</svg>'


if __name__ == "__main__":
    main(sys.argv[1:])
