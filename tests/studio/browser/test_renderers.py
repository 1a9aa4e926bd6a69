"""Exhibits of all kinds: renderers of a user's own, and pictures of other weights."""

import pytest
from playwright.sync_api import expect

from tests.helpers.browser import (
    QUIET,
    log,
    new_run,
    told,
)
from zorank.stores import open_store

RENDERERS = '''
"""Renderers of a user's own."""

import io
import os
import wave

from zorank.renderers import Landscape
from zorank.types import Exhibit


class Fragile(Landscape):
    """Paints as long as a file is not there."""

    def __init__(self, size=64):
        super().__init__(size)

    def render(self, candidates):
        if os.path.exists(os.environ["PYTHONPATH"] + "/out-of-paint"):
            raise RuntimeError("out of paint")
        return super().render(candidates)


class Sound:
    dim = 3
    media_type = "audio/wav"

    def render(self, candidates):
        return [Exhibit(self.media_type, self.tone(x)) for x in candidates]

    def tone(self, candidate):
        file = io.BytesIO()
        with wave.open(file, "wb") as sound:
            sound.setnchannels(1)
            sound.setsampwidth(1)
            sound.setframerate(8000)
            sound.writeframes(bytes(128 + (i % 40) for i in range(800)))
        return file.getvalue()


class Text:
    dim = 3
    media_type = "text/html"

    def render(self, candidates):
        page = "<h1>Haiku {:.2f}</h1><script>document.title = 'no'</script>"
        return [Exhibit(self.media_type, page.format(x[0]).encode()) for x in candidates]


class Clip:
    dim = 3
    media_type = "video/mp4"

    def render(self, candidates):
        return [Exhibit(self.media_type, b"not a film, but called one") for _ in candidates]
'''


@pytest.fixture
def of_ones_own(serve, tmp_path):
    """Starts a studio with one of these renderers and makes a run; the server and the run's id."""
    (tmp_path / "own_renderers.py").write_text(RENDERERS)

    def start(name):
        server = serve("--renderer", f"own_renderers:{name}")
        with server.client() as client:
            body = {"renderer": f"own_renderers:{name}", "method": "rank-process"}
            made = client.post("/api/runs", json=body).raise_for_status()
        return server, made.json()["id"]

    return start


def test_a_renderer_that_fails_can_be_tried_again(of_ones_own, tmp_path, person):
    broken = tmp_path / "out-of-paint"
    broken.touch()
    server, run_id = of_ones_own("Fragile")
    tab = person(forgives=QUIET + "|status of 503").open(server, f"/runs/{run_id}")
    again = tab.page.get_by_role("button", name="Draw it again")
    expect(again).to_have_count(6)
    tab.press("2")  # the round stays answerable all the same
    expect(tab.card(1).get_by_test_id("badge")).to_be_visible()
    expect(tab.see("next")).to_be_enabled()
    broken.unlink()
    for left in range(5, -1, -1):
        again.first.click()
        expect(again).to_have_count(left)
    tab.expect_round(0, "start")
    tab.see("next").click()
    tab.expect_round(1, "rank")
    assert log(server, run_id)[0]["answer"]["order"] == told(server, run_id, 0, [1])


def test_sounds_are_played(of_ones_own, person):
    server, run_id = of_ones_own("Sound")
    tab = person().open(server, f"/runs/{run_id}")
    expect(tab.page.locator("[data-testid=card].ready .audio")).to_have_count(6)
    expect(tab.card(2).locator(".sound-length")).to_have_text("0.1 s")
    tab.see("loop").click()
    tab.page.get_by_role("button", name="Play Sound 3").click()
    expect(tab.page.get_by_role("button", name="Stop Sound 3")).to_be_visible()
    tab.expect_badges()  # to listen is not to choose
    tab.press("5")
    tab.see("next").click()
    expect(tab.see("heading")).to_contain_text("Rank")
    assert log(server, run_id)[0]["answer"]["order"] == told(server, run_id, 0, [4])


def test_texts_are_shown_in_frames_without_scripts(of_ones_own, person):
    # Chromium notes that it did not run the script: that is what the sandbox is for.
    server, run_id = of_ones_own("Text")
    tab = person(forgives=QUIET + "|[Bb]locked script|Content Security Policy").open(
        server, f"/runs/{run_id}"
    )
    frames = tab.page.locator("[data-testid=card] iframe")
    expect(frames).to_have_count(6)
    expect(frames.first).to_have_attribute("sandbox", "")
    expect(frames.nth(3).content_frame.locator("h1")).to_contain_text("Haiku")
    tab.click(3)
    tab.see("next").click()
    expect(tab.see("heading")).to_contain_text("Rank")
    assert log(server, run_id)[0]["answer"]["order"] == told(server, run_id, 0, [3])


def test_films_are_shown_as_films(of_ones_own, person):
    server, run_id = of_ones_own("Clip")
    tab = person().open(server, f"/runs/{run_id}")
    films = tab.page.locator("[data-testid=card] video")
    expect(films).to_have_count(6)
    assert all(film.evaluate("film => film.muted && film.loop") for film in films.all())
    # This one cannot be decoded, and says so.
    expect(tab.page.get_by_role("button", name="Draw it again")).to_have_count(6)


def test_a_run_that_began_with_other_weights_says_so_calmly(serve, person):
    small = ("--option", "size=64", "--option", "steps=2")
    server = serve("--renderer", "dream", *small)
    run_id = new_run(server, [[0]], renderer="dream", size=64)
    somebody = person()
    tab = somebody.open(server, f"/runs/{run_id}")
    tab.expect_round(1, "rank")
    expect(tab.see("run-note")).to_have_count(0)
    before = tab.pictures()

    store = open_store(server.store)
    store.change_meta(run_id, {"weights": "those of yesterday"})
    store.close()
    for path in (f"/runs/{run_id}", f"/runs/{run_id}/result"):
        tab.page.goto(f"{server.url}{path}")
        expect(tab.see("run-note")).to_contain_text("its pictures may differ")
        expect(tab.page.locator("#banner")).to_be_hidden()
    tab.page.goto(f"{server.url}/runs/{run_id}")
    tab.expect_round(1, "rank")
    assert tab.pictures() == before
