"""From the first page to the result, by mouse and by keyboard."""

import io
import json
from pathlib import Path

from PIL import Image
from playwright.sync_api import expect

from tests.helpers.browser import (
    log,
    run_of,
    told,
)
from zorank.renderers import Landscape


def start_a_run(tab):
    tab.see("new-run").click()
    tab.see("start-run").click()
    tab.expect_round(0, "start")


def downloaded(tab, link):
    with tab.page.expect_download() as waiting:
        tab.page.locator(link).click()
    return Path(waiting.value.path()).read_bytes()


def test_the_whole_way_by_mouse(serve, person):
    studio = serve()
    somebody = person()
    tab = somebody.open(studio)
    start_a_run(tab)
    first = tab.pictures()
    tab.see("others").click()
    tab.expect_round(1, "start")
    assert not set(first) & set(tab.pictures())

    tab.click(3)
    expect(tab.card(3).get_by_test_id("badge")).to_be_visible()
    tab.see("next").click()
    tab.expect_round(2, "rank")
    expect(tab.see("best")).to_be_visible()
    expect(tab.see("next")).to_be_disabled()
    tab.click(1, 0, 5)
    tab.expect_badges(p2="1", p1="2", p6="3")
    tab.click(0)  # taken back, those behind it move up
    tab.expect_badges(p2="1", p6="2")
    tab.see("next").click()

    for index in (3, 4, 5):
        tab.expect_round(index, "rank")
        tab.click(2, 4)
        tab.see("next").click()
    tab.expect_round(6, "rank")
    expect(tab.see("words").locator("p")).to_have_count(4)  # two of them of looks

    run_id = run_of(tab)
    answers = [line["answer"]["order"] for line in log(studio, run_id)]
    assert answers[:3] == [
        [],
        told(studio, run_id, 1, [3]),
        told(studio, run_id, 2, [1], [5]),
    ]
    tab.see("result").click()
    check_the_result_page(tab)
    assert somebody.complaints == []


def check_the_result_page(tab):
    slider = tab.see("slider")
    tab.settle()
    box = slider.bounding_box()
    for share in (0.2, 0.8):  # the picture of the start is cut where the pointer is
        tab.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        tab.page.mouse.down()
        tab.page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] / 2, steps=5)
        tab.page.mouse.up()
        assert abs(float(slider.locator("input").input_value()) - 100 * share) < 4
    assert len({image.get_attribute("src") for image in slider.locator("img").all()}) == 2

    # The start, and every time that something better was found.
    with tab.server.client() as client:
        rows = client.get(f"/api/runs/{run_of(tab)}/history").json()["rows"]
    found = [row["best"] for row in rows if row["moved"]]
    thumbs = tab.see("journey").locator("img")
    expect(thumbs).to_have_count(len(found))
    assert [thumb.get_attribute("src") for thumb in thumbs.all()] == found
    assert len(found) > 1

    picture = Image.open(io.BytesIO(downloaded(tab, "#download-best")))
    assert picture.size == (1024, 1024)
    assert len(json.loads(downloaded(tab, "#download-vector"))) == Landscape().dim
    recipe = json.loads(downloaded(tab, "#download-recipe"))
    assert len([line for line in recipe["rounds"] if line["answer"]]) == 6
    journey = downloaded(tab, "#download-journey")
    assert journey[:4] == b"RIFF"
    assert b"ANIM" in journey


def test_the_whole_way_by_keyboard(studio, person):
    tab = person().open(studio)
    expect(tab.see("new-run")).to_be_visible()
    tab.tab_to("new-run")
    tab.press("Enter")
    expect(tab.see("start-run")).to_be_enabled()
    tab.tab_to("start-run")
    tab.press("Enter")
    tab.expect_round(0, "start")
    tab.press("s")
    tab.expect_round(1, "start")
    # The first arrow goes to the pictures, the next ones between them.
    tab.press("ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "ArrowRight")
    expect(tab.card(1).locator(".pick")).to_be_focused()
    tab.press("Enter")
    expect(tab.card(1).get_by_test_id("badge")).to_be_visible()
    tab.press("Enter")

    tab.expect_round(2, "rank")
    tab.press("3", "1", "6")
    tab.expect_badges(p3="1", p1="2", p6="3")
    tab.press("1")
    tab.expect_badges(p3="1", p6="2")
    tab.press("z")
    tab.expect_badges(p3="1", p1="2", p6="3")
    tab.press("Escape")
    tab.expect_badges()
    tab.press("2", "5")
    tab.press("?")
    expect(tab.see("help")).to_be_visible()
    tab.press("Escape")
    expect(tab.see("help")).to_have_count(0)
    tab.expect_badges(p2="1", p5="2")  # Esc closed the help and nothing else
    tab.press("Enter")

    tab.expect_round(3, "rank")
    tab.press("s")
    tab.expect_round(4, "rank")
    expect(tab.see("words")).to_contain_text("the next ones differ more")
    tab.press("z")
    tab.expect_round(3, "rank")
    tab.press("4", "Enter")
    tab.expect_round(4, "rank")
    run_id = run_of(tab)
    answers = [line["answer"]["order"] for line in log(studio, run_id)]
    assert answers == [
        [],
        told(studio, run_id, 1, [1]),
        told(studio, run_id, 2, [1], [4]),
        told(studio, run_id, 3, [3]),
    ]

    tab.tab_to("result")
    tab.press("Enter")
    slider = tab.see("slider").locator("input")
    expect(slider).to_have_value("50")
    tab.tab_to("slider")
    tab.press("ArrowLeft", "ArrowLeft", "ArrowLeft")
    expect(slider).to_have_value("47")
