"""Takes the pictures of the studio in the docs: every page, and a moving picture of it at work.

python docs/_generate/studio_pictures.py; needs the extra dev and a Chromium. The pages are those
that tests/studio/browser/test_every_page.py visits.
"""

import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import expect

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.helpers.browser import Person, Tab, launched  # noqa: E402
from tests.helpers.studio_server import Server  # noqa: E402
from zorank.renderers import Landscape  # noqa: E402
from zorank.studio.exports import animation  # noqa: E402

IMAGES = ROOT / "docs" / "images"
EVERY_PAGE = "tests/studio/browser/test_every_page.py"
WIDTH = 1000
WISHES = ("night", "snow", "moon", "aurora", "lake")
ROUNDS, NAMED = 7, 3
CLICK, LOOK, END = 450, 1500, 3000
"""Milliseconds for which a frame of the moving picture stays."""


def main() -> None:
    """Take all pictures."""
    with tempfile.TemporaryDirectory() as folder:
        _every_page(Path(folder))
        _moving_picture(Path(folder))


def _every_page(folder: Path) -> None:
    """Let the test take its photographs, and keep the light ones of a desktop."""
    command = [sys.executable, "-m", "pytest", "-q", EVERY_PAGE, "-k", "desktop"]
    environment = os.environ | {"ZORANK_SCREENSHOTS": str(folder), "PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    (IMAGES / "studio").mkdir(exist_ok=True)
    for file in sorted(folder.glob("desktop-*-light.png")):
        picture = Image.open(file).convert("RGB")
        picture.thumbnail((WIDTH, WIDTH))
        name = file.stem.removeprefix("desktop-").removesuffix("-light")
        picture.save(IMAGES / "studio" / f"{name}.jpg", quality=80)


def _moving_picture(folder: Path) -> None:
    """Rank some rounds as a person who wishes for something; each click is a frame."""
    server = Server(folder / "runs.db").start()
    try:
        with launched() as chromium:
            settings = {"viewport": {"width": 1120, "height": 700}, "color_scheme": "dark"}
            tab = Person(chromium.new_context(**settings)).open(server)
            frames = _session(server, tab)
    finally:
        server.stop()
    pictures = [_small(png) for png, _ in frames]
    times = [time for _, time in frames]
    (IMAGES / "studio.webp").write_bytes(animation(pictures, times, quality=55, effort=6))


def _session(server: Server, tab: Tab) -> list[tuple[bytes, int]]:
    painter = Landscape()
    with server.client() as owner:
        body = {"renderer": "landscape", "seed": 11, "title": "A night of snow"}
        run = owner.post("/api/runs", json=body).raise_for_status().json()["id"]
        tab.page.goto(f"{server.url}/runs/{run}")
        frames = []
        for index in range(ROUNDS + 1):
            tab.expect_round(index, "rank" if index else "start")
            tab.settle()
            frames.append((tab.page.screenshot(), LOOK))
            shown = owner.get(f"/api/runs/{run}/rounds/{index}/candidates").json()["candidates"]
            liked = [sum(painter.attributes(x)[wish] for wish in WISHES) for x in shown]
            order = sorted(range(len(shown)), key=lambda i: -liked[i])
            for position in order[: NAMED if index else 1]:
                tab.press(str(position + 1))
                tab.settle()
                frames.append((tab.page.screenshot(), CLICK))
            if index < ROUNDS:
                tab.press("Enter")
        tab.see("result").click()
        expect(tab.see("slider")).to_be_visible()
        tab.page.wait_for_load_state("networkidle")
        tab.settle()
        frames.append((tab.page.screenshot(), END))
    return frames


def _small(png: bytes) -> Image.Image:
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    return picture.resize((800, 800 * picture.height // picture.width), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    main()
