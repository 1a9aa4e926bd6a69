"""The studio as people use it: a real server, real pictures, a real browser."""

import io
import json
import os
import re
import time
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Error, expect

from tests.browser import DESKTOP, PHONE, QUIET, Person, launched, log, new_run, older_run
from tests.studio_server import TOKEN, Server
from zorank.renderers import Landscape
from zorank.stores import open_store
from zorank.studio.presentation import shown_order

# A server that is killed takes its connections with it; browsers say so in their console.
CUT_OFF = QUIET + r"|ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET"
UP_TO_RANK, UP_TO_BEST = ([[0]],), ([[0]], [[1], [4]])
A_WHILE = ([[0]], *([[i % 6], [(i + 2) % 6]] for i in range(9)))


# Of this module, not of the session: while Playwright runs, no other test in this process could
# start an event loop of its own.
@pytest.fixture(scope="module")
def chromium():
    with ExitStack() as stack:
        try:
            started = stack.enter_context(launched())
        except Error as error:
            pytest.fail(
                "no Chromium can be started; install Debian's chromium "
                f"(apt-get install chromium): {error}"
            )
        yield started


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    """A studio that tests share; each makes runs of its own."""
    server = Server(tmp_path_factory.mktemp("studio") / "runs.db").start()
    yield server
    server.stop()


@pytest.fixture
def serve(tmp_path, monkeypatch):
    """Starts studios of a test's own, with renderers from modules that the test wrote."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    started = []

    def start(*arguments):
        server = Server(tmp_path / f"runs-{len(started)}.db", *arguments).start()
        started.append(server)
        return server

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def person(chromium, serve):  # after the servers, so that people leave before those stop
    """Makes people with a browser each. Whatever they do, no page may ever log an error."""
    known = []

    def arrive(forgives=QUIET, **settings):
        settings = {"reduced_motion": "reduce", **(settings or DESKTOP)}
        known.append(Person(chromium.new_context(**settings), forgives))
        return known[-1]

    yield arrive
    for one in known:
        one.context.close()
    complaints = [complaint for one in known for complaint in one.complaints]
    assert complaints == []


def told(server, run_id, index, *groups):
    """What the log must say when these groups of screen positions were chosen."""
    with server.client() as client:
        exported = client.get(f"/api/runs/{run_id}/export").json()
    record = SimpleNamespace(seed=exported["seed"], name=exported["name"])
    shown = shown_order(record, index, exported["options"]["m"])
    return [[shown[position] for position in group] for group in groups]


def run_of(tab):
    return re.search(r"/runs/([\w-]+)", tab.page.url)[1]


def current_best(tab, index):
    """The screen position that shows the best so far, as the interface gives it."""
    with tab.server.client() as client:
        waiting = client.get(f"/api/runs/{run_of(tab)}/round").json()
    assert waiting["index"] == index
    (current,) = [e["position"] for e in waiting["exhibits"] if e["current"]]
    return current


def start_a_run(tab):
    tab.see("new-run").click()
    tab.see("start-run").click()
    tab.expect_round(0, "start")


def downloaded(tab, link):
    with tab.page.expect_download() as waiting:
        tab.page.locator(link).click()
    return Path(waiting.value.path()).read_bytes()


# The whole way.


def test_the_whole_way_by_mouse(studio, person):
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


def test_the_whole_way_on_a_phone(studio, person):
    tab = person(**PHONE).open(studio)
    expect(tab.see("new-run")).to_be_visible()
    tab.expect_no_overflow()
    tab.see("new-run").tap()
    expect(tab.see("start-run")).to_be_enabled()
    tab.expect_no_overflow()
    tab.see("start-run").tap()

    tab.expect_round(0, "start")
    tab.expect_no_overflow()
    tab.tap(4)
    tab.see("next").tap()
    tab.expect_round(1, "rank")
    for name in ("next", "same", "undo"):
        expect(tab.see(name)).to_be_in_viewport(ratio=1)
    tab.tap(5, 0, 2)
    tab.expect_badges(p6="1", p1="2", p3="3")
    tab.expect_no_overflow()
    expect(tab.see("next")).to_be_in_viewport(ratio=1)
    tab.see("next").tap()
    tab.expect_round(2, "rank")
    run_id = run_of(tab)
    assert log(studio, run_id)[1]["answer"]["order"] == told(studio, run_id, 1, [5], [0], [2])

    tab.see("result").tap()
    expect(tab.see("slider")).to_be_visible()
    tab.settle()
    tab.expect_no_overflow()


def test_a_finger_that_rests_on_a_picture_enlarges_it(studio, person):
    somebody = person(**PHONE)
    tab = somebody.open(studio, f"/runs/{new_run(studio, *UP_TO_RANK)}")
    tab.expect_round(1, "rank")
    box = tab.card(1).bounding_box()
    point = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    hand = somebody.context.new_cdp_session(tab.page)
    hand.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
    expect(tab.see("enlarged")).to_be_visible()
    tab.expect_no_overflow()
    hand.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    # A finger covers the picture, so it stays after the finger is gone, and nothing is ranked.
    tab.page.get_by_role("button", name="Close").filter(visible=True).tap()
    expect(tab.see("enlarged")).to_have_count(0)
    tab.expect_badges()


# Nothing is lost.


def test_undo_gives_exactly_the_earlier_pictures(studio, person):
    tab = person().open(studio, f"/runs/{new_run(studio)}")
    seen = []
    for index, question in enumerate(("start", "rank", "rank")):
        tab.expect_round(index, question)
        seen.append(tab.pictures())
        tab.press("2", "Enter")
    tab.expect_round(3, "rank")
    assert len({address for pictures in seen for address in pictures}) == 18
    for index, question in ((2, "rank"), (1, "rank"), (0, "start")):
        tab.press("z")
        tab.expect_round(index, question)
        assert tab.pictures() == seen[index]
        tab.expect_badges()
    assert log(studio, run_of(tab)) == []
    expect(tab.see("undo")).to_be_disabled()


def test_a_refresh_keeps_the_round_its_order_and_the_selection(studio, person):
    run_id = new_run(studio, *UP_TO_RANK)
    tab = person().open(studio, f"/runs/{run_id}")
    tab.expect_round(1, "rank")
    shown, answered = tab.pictures(), log(studio, run_id)
    tab.press("4", "2")
    tab.expect_badges(p4="1", p2="2")
    tab.page.reload()
    tab.expect_round(1, "rank")
    assert tab.pictures() == shown
    assert log(studio, run_id) == answered
    tab.expect_badges(p4="1", p2="2")
    tab.press("Enter")
    tab.expect_round(2, "rank")
    assert log(studio, run_id)[1]["answer"]["order"] == told(studio, run_id, 1, [3], [1])


def test_undo_after_a_refresh_clears_the_selection_and_then_takes_back_the_round(studio, person):
    tab = person().open(studio, f"/runs/{new_run(studio, *UP_TO_RANK)}")
    tab.expect_round(1, "rank")
    tab.press("4", "2")
    tab.expect_badges(p4="1", p2="2")
    tab.page.reload()
    tab.expect_round(1, "rank")
    tab.expect_badges(p4="1", p2="2")
    tab.press("z")
    tab.expect_badges()
    tab.press("z")
    tab.expect_round(0, "start")


def test_an_answer_in_one_tab_brings_the_other_to_the_current_round(studio, person):
    somebody, run_id = person(), new_run(studio, *UP_TO_RANK)
    here = somebody.open(studio, f"/runs/{run_id}")
    there = somebody.open(studio, f"/runs/{run_id}")
    for tab in (here, there):
        tab.expect_round(1, "rank")
    there.press("6")  # even in the middle of an answer, which the round no longer waits for
    here.press("2", "Enter")
    for tab in (here, there):
        tab.expect_round(2, "rank")
        expect(tab.see("banner")).to_have_count(0)
        tab.expect_badges()


def test_a_doubled_answer_counts_once(studio, person):
    somebody, run_id = person(), new_run(studio, *UP_TO_RANK)
    here = somebody.open(studio, f"/runs/{run_id}")
    there = somebody.open(studio, f"/runs/{run_id}")
    for tab in (here, there):
        tab.expect_round(1, "rank")
    # The second answer is on its way when the first arrives: that is the race, without its luck.
    on_its_way = []
    there.page.route("**/answer", lambda route: on_its_way.append(route))
    there.press("5")
    there.expect_badges(p5="1")
    with there.page.expect_request("**/answer"):
        there.press("Enter")
    here.page.bring_to_front()
    here.press("2")
    here.expect_badges(p2="1")
    here.press("Enter")
    here.expect_round(2, "rank")
    with there.page.expect_response("**/answer") as refused:
        on_its_way[0].continue_()
    assert refused.value.status == 409
    there.expect_round(2, "rank")
    expect(there.see("banner")).to_have_count(0)
    assert [line["answer"]["order"] for line in log(studio, run_id)[1:]] == [
        told(studio, run_id, 1, [1])
    ]


def test_a_restart_of_the_server_loses_no_answer(serve, person):
    server = serve()
    run_id = new_run(server, *UP_TO_RANK)
    tab = person(forgives=CUT_OFF).open(server, f"/runs/{run_id}")
    tab.expect_round(1, "rank")
    tab.click(3, 1)
    server.kill()
    server.start()
    tab.see("next").click()
    again = tab.page.get_by_role("button", name="Try again")
    # The page may notice the restart or not; the answer arrives either way.
    expect(tab.card(0).locator('img[src*="/rounds/2/"]').or_(again)).to_be_visible()
    if again.is_visible():
        again.click()
    tab.expect_round(2, "rank")
    assert log(server, run_id)[1]["answer"]["order"] == told(server, run_id, 1, [3], [1])


def test_an_answer_to_a_dead_server_can_be_given_again(serve, person):
    server = serve()
    run_id = new_run(server, *UP_TO_RANK)
    tab = person(forgives=CUT_OFF).open(server, f"/runs/{run_id}")
    tab.expect_round(1, "rank")
    tab.click(2, 5)
    server.kill()
    tab.see("next").click()
    expect(tab.see("banner")).to_contain_text("Try again")
    tab.expect_badges(p3="1", p6="2")
    server.start()
    tab.page.get_by_role("button", name="Try again").click()
    tab.expect_round(2, "rank")
    expect(tab.see("banner")).to_have_count(0)
    assert log(server, run_id)[1]["answer"]["order"] == told(server, run_id, 1, [2], [5])


# Several people.


def test_two_people_rank_together(studio, person):
    owner = person().open(studio, "/new")
    owner.page.locator("summary").click()
    owner.page.get_by_label("Answers per round").fill("2")
    owner.see("start-run").click()
    owner.expect_round(0, "start")
    run_id = run_of(owner)
    owner.page.locator("summary").click()
    owner.see("invite").click()
    invitation = owner.page.get_by_label("Invitation link")
    expect(invitation).to_have_value(re.compile("token="))
    token = invitation.input_value().partition("token=")[2]

    rater = person().open(studio, f"/runs/{run_id}", token=token)
    assert TOKEN not in rater.page.url
    rater.see("rater-name").fill("Ann")
    rater.press("Enter")
    rater.expect_round(0, "start")
    rater.click(2)
    rater.see("next").click()
    expect(rater.page.get_by_text("Waiting for one more answer")).to_be_visible()
    expect(owner.page.get_by_text("Ann", exact=True).filter(visible=True)).to_have_count(1)
    assert log(studio, run_id) == []
    owner.expect_round(0, "start")
    owner.click(2)
    owner.see("next").click()
    for tab in (owner, rater):  # the rater's page goes on by itself
        tab.expect_round(1, "rank")
    (line,) = log(studio, run_id)
    assert [ballot["rater"] for ballot in line["answer"]["ballots"]] == ["Ann", "owner"]

    rater.page.reload()  # whoever has said their name is not asked again
    rater.expect_round(1, "rank")
    expect(rater.see("rater-name")).to_have_count(0)
    expect(rater.see("invite")).to_have_count(0)


def test_a_rater_cannot_open_the_home_page(studio, person):
    run_id = new_run(studio)
    with studio.client() as client:
        link = client.post(f"/api/runs/{run_id}/invite").json()["url"]
    guest = person(forgives=QUIET + "|status of 403")
    rater = guest.open(studio, f"/runs/{run_id}", token=link.partition("token=")[2])
    rater.see("rater-name").fill("Eve")
    rater.press("Enter")
    rater.expect_round(0, "start")
    home = guest.open(studio, "/", token=None)
    expect(home.see("heading")).to_have_text("No access")
    expect(home.see("new-run")).to_have_count(0)


def test_a_rater_is_offered_no_download_that_is_the_owners(studio, person):
    run_id = new_run(studio, *UP_TO_RANK)
    with studio.client() as client:
        link = client.post(f"/api/runs/{run_id}/invite").json()["url"]
    downloads = ".downloads a:not([hidden])"
    guest = person()
    guest.open(studio, f"/runs/{run_id}", token=link.partition("token=")[2])
    rater = guest.open(studio, f"/runs/{run_id}/result", token=None)
    expect(rater.page.locator(downloads)).to_have_text(["Full-size picture"])
    owner = person().open(studio, f"/runs/{run_id}/result")
    expect(owner.page.locator(downloads)).to_have_count(4)


# Every kind of answer.


def test_a_round_ranked_offline_is_imported_with_its_rater(studio, person, tmp_path):
    run_id = new_run(studio, *UP_TO_RANK)
    tab = person().open(studio, f"/runs/{run_id}")
    tab.expect_round(1, "rank")
    with studio.client() as client:
        page = client.get(f"/api/runs/{run_id}/rounds/1/offline").content
    (tmp_path / "round.html").write_bytes(page)
    elsewhere = tab.page.context.new_page()
    elsewhere.goto((tmp_path / "round.html").as_uri())
    for position in (4, 1):
        elsewhere.locator(".card").nth(position).click()
    elsewhere.locator("#rater").fill("zoe")
    given = elsewhere.locator("#answer").input_value()
    tab.page.bring_to_front()
    tab.page.get_by_text("Rank together").click()
    tab.page.get_by_role("button", name="Import").click()
    tab.page.locator("dialog[open] textarea").fill(given)
    tab.page.locator("dialog[open] button").last.click()
    tab.expect_round(2, "rank")
    line = log(studio, run_id)[1]
    assert line["answer"]["order"] == told(studio, run_id, 1, [4], [1])
    assert line["rater"] == "zoe"


def test_ties_and_the_worst_reach_the_log(studio, person):
    run_id = new_run(studio, *UP_TO_RANK)
    tab = person().open(studio, f"/runs/{run_id}")
    tab.expect_round(1, "rank")
    tab.click(4)
    tab.click(1)
    tab.click(3, modifiers=["Shift"])
    tab.expect_badges(p5="1", p2="2", p4="2")
    tab.card(5).hover()
    tab.page.get_by_role("button", name="Mark as worst: Picture 6").click()
    tab.card(0).hover()
    tab.press("w")
    tab.see("next").click()
    tab.expect_round(2, "rank")
    answer = log(studio, run_id)[1]["answer"]
    assert answer["order"] == told(studio, run_id, 1, [4], [1, 3])
    assert answer["worst"] == told(studio, run_id, 1, [5, 0])


def test_several_can_be_ranked_to_start_from(studio, person):
    run_id = new_run(studio)
    tab = person().open(studio, f"/runs/{run_id}")
    tab.expect_round(0, "start")
    tab.click(4, 1)
    tab.expect_badges(p5="1", p2="2")
    tab.see("next").click()
    tab.expect_round(1, "rank")
    assert log(studio, run_id)[0]["answer"]["order"] == told(studio, run_id, 0, [4], [1])
    expect(tab.see("best")).to_contain_text("your start")


@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_run_of_an_earlier_studio_asks_by_turns_for_the_best(studio, person, screen):
    run_id = older_run(studio, *UP_TO_BEST)
    tab = person(**screen).open(studio, f"/runs/{run_id}")
    tab.expect_round(2, "best")
    for name in ("next", "none-better", "undo"):
        expect(tab.see(name)).to_be_in_viewport(ratio=1)
    tab.expect_no_overflow()
    current = current_best(tab, 2)
    expect(tab.page.get_by_text("best so far", exact=True).filter(visible=True)).to_have_count(1)
    expect(tab.card(current)).to_contain_text("best so far")
    tab.see("none-better").click()
    tab.expect_round(3, "rank")
    tab.click(5)
    tab.see("next").click()
    tab.expect_round(4, "best")
    better = (current_best(tab, 4) + 1) % 6
    tab.click(better)
    tab.see("next").click()
    tab.expect_round(5, "rank")
    expect(tab.see("words")).to_have_count(0)  # such a method has no model of its rater
    answers = [line["answer"]["order"] for line in log(studio, run_id)[2:]]
    assert answers == [
        [[0]],  # the first candidate of such a round is the best so far
        told(studio, run_id, 3, [5]),
        told(studio, run_id, 4, [better]),
    ]


# What the model knows.


def test_a_few_words_say_how_it_is_going(studio, person):
    run_id = new_run(studio, *A_WHILE)
    tab = person().open(studio, f"/runs/{run_id}")
    tab.expect_round(10, "rank")
    with studio.client() as client:
        shown = client.get(f"/api/runs/{run_id}").json()
    assert 1 < len(shown["words"]) <= 3
    sentences = tab.see("words").locator("p")
    expect(sentences).to_have_count(len(shown["words"]))
    for number, sentence in enumerate(shown["words"]):
        expect(sentences.nth(number)).to_contain_text(sentence)
    tab.press("s")
    tab.expect_round(11, "rank")
    expect(sentences.first).to_contain_text("These look alike to you")
    tab.press("z")
    tab.expect_round(10, "rank")
    expect(sentences.first).to_contain_text(shown["words"][0])


def test_one_is_told_when_it_is_enough(studio, person):
    run_id = new_run(studio, [[0]], *[[]] * 16)  # it looks all the same to them
    tab = person().open(studio, f"/runs/{run_id}")
    tab.expect_round(17, "rank")
    expect(tab.see("words").locator("p").last).to_contain_text("You could stop here.")
    tab.see("words").get_by_role("link", name="See the result").click()
    expect(tab.see("slider")).to_be_visible()


def test_a_rater_is_told_nothing_of_what_the_model_knows(studio, person):
    run_id = new_run(studio, *A_WHILE)
    with studio.client() as client:
        link = client.post(f"/api/runs/{run_id}/invite").json()["url"]
    rater = person().open(studio, f"/runs/{run_id}", token=link.partition("token=")[2])
    rater.see("rater-name").fill("Ann")
    rater.press("Enter")
    rater.expect_round(10, "rank")
    expect(rater.page.get_by_test_id("words")).to_have_count(0)


def test_the_start_can_be_compared_at_once(studio, person):
    """The page was opened before there was a start."""
    tab = person().open(studio, f"/runs/{new_run(studio)}")
    tab.expect_round(0, "start")
    tab.press("2", "Enter")
    tab.expect_round(1, "rank")
    tab.page.get_by_role("button", name="Compare with the start").click()
    expect(tab.page.locator("dialog[open] .slider")).to_be_visible()


def test_enter_sends_the_ranking_whichever_button_was_clicked_before(studio, person):
    """Mouse and keys are mixed: the button clicked last must not answer the next round."""
    run_id = new_run(studio, *UP_TO_RANK)
    tab = person().open(studio, f"/runs/{run_id}")
    tab.expect_round(1, "rank")
    tab.see("same").click()
    tab.expect_round(2, "rank")
    tab.press("3", "1")
    tab.expect_badges(p3="1", p1="2")
    tab.press("Enter")
    tab.expect_round(3, "rank")
    assert log(studio, run_id)[2]["answer"]["order"] == told(studio, run_id, 2, [2], [0])


def test_a_badge_or_the_tray_can_be_dragged_to_reorder(studio, person):
    run_id = new_run(studio, *UP_TO_RANK)
    tab = person().open(studio, f"/runs/{run_id}")
    tab.expect_round(1, "rank")
    tab.click(0, 1, 2)
    tab.expect_badges(p1="1", p2="2", p3="3")
    tab.drag(tab.card(2).get_by_test_id("badge"), tab.card(0))  # the third becomes the first
    tab.expect_badges(p3="1", p1="2", p2="3")
    tab.drag(tab.card(1).get_by_test_id("badge"), tab.card(5))  # another takes its place
    tab.expect_badges(p3="1", p1="2", p6="3")
    items = tab.see("tray").locator("[data-position]")
    tab.drag(items.first, items.last, beyond=40)
    tab.expect_badges(p1="1", p6="2", p3="3")
    tab.see("next").click()
    tab.expect_round(2, "rank")
    assert log(studio, run_id)[1]["answer"]["order"] == told(studio, run_id, 1, [0], [5], [2])


def test_a_picture_can_be_enlarged_and_flipped_with_the_best(studio, person):
    tab = person().open(studio, f"/runs/{new_run(studio, *UP_TO_RANK)}")
    tab.expect_round(1, "rank")
    best = tab.see("best").locator("img").get_attribute("src")
    large = tab.see("enlarged")

    def expect_shown(address):
        """Of the two pictures that lie over each other, only this one can be seen."""
        expect(large.locator("img").filter(visible=True)).to_have_attribute("src", address)

    tab.card(4).hover()
    tab.press("Space")
    expect(large).to_be_visible()
    expect_shown(tab.pictures()[4])
    tab.press("f")
    expect(large).to_contain_text("Best so far")
    expect_shown(best)
    tab.press("f", "ArrowRight")
    expect(large).to_contain_text("Picture 6")
    expect_shown(tab.pictures()[5])
    tab.press("Enter")
    tab.press("Space")
    expect(large).to_have_count(0)
    tab.expect_badges(p6="1")

    tab.press("3")
    tab.press("Escape")
    tab.expect_badges()
    held = "since => performance.now() > since + 500"
    tab.page.keyboard.down("Space")  # held, it is a look that ends with the key
    expect(large).to_be_visible()
    tab.page.wait_for_function(held, arg=tab.page.evaluate("performance.now()"))
    tab.page.keyboard.up("Space")
    expect(large).to_have_count(0)
    tab.card(1).hover()
    tab.page.mouse.down()
    expect(large).to_be_visible()
    expect_shown(tab.pictures()[1])
    tab.page.mouse.up()
    expect(large).to_have_count(0)
    tab.expect_badges()


def test_a_digit_that_the_closed_picture_still_hears_ranks(studio, person):
    tab = person().open(studio, f"/runs/{new_run(studio, *UP_TO_RANK)}")
    tab.expect_round(1, "rank")
    large = tab.see("enlarged")
    tab.card(4).hover()
    tab.press("Space")
    expect(large).to_be_visible()
    # In one task, as a quick hand does it: the dialog has closed and not yet given up the focus.
    tab.page.evaluate(
        """() => {
          const dialog = document.querySelector("dialog[open]");
          dialog.close();
          dialog.dispatchEvent(new KeyboardEvent("keydown", { key: "3", bubbles: true }));
        }"""
    )
    tab.expect_badges(p3="1")
    expect(large).to_have_count(0)


def test_a_run_is_deleted_only_when_one_is_sure(studio, person):
    run_id = new_run(studio, title="To be deleted")
    tab = person().open(studio)
    card = tab.page.locator(f'[data-run="{run_id}"]')
    card.get_by_test_id("delete").click()
    tab.press("Enter")  # the harmless choice has the focus
    expect(tab.see("confirm")).to_have_count(0)
    expect(card).to_be_visible()
    card.get_by_test_id("delete").click()
    tab.see("confirm").click()
    expect(card).to_have_count(0)
    with studio.client() as client:
        assert client.get(f"/api/runs/{run_id}").status_code == 404


# Renderers of one's own.

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
    expect(tab.page.locator("[data-testid=card] audio")).to_have_count(6)
    ready = "() => [...document.querySelectorAll('audio')].every(sound => sound.duration > 0.09)"
    tab.page.wait_for_function(ready)
    tab.page.get_by_role("button", name="Play Sound 3").click()
    tab.page.wait_for_function("!document.querySelectorAll('audio')[2].paused")
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


# A judge who orders the pictures.

JUDGES = '''
"""Judges of a user's own."""

import os
import time

import numpy as np


def brightness(pictures):
    while os.path.exists(os.environ["PYTHONPATH"] + "/still-looking"):
        time.sleep(0.02)
    if os.path.exists(os.environ["PYTHONPATH"] + "/no-eyes"):
        raise RuntimeError("no eyes")
    return [np.asarray(picture).mean() for picture in pictures]
'''


@pytest.fixture
def with_a_judge(serve, tmp_path):
    """Starts a studio with a judge; gives the server."""
    (tmp_path / "own_judges.py").write_text(JUDGES)
    return lambda: serve("--judge", "own_judges:brightness")


def judges_order(server, run_id):
    """The judge's order on screen, as the interface gives it once it has looked."""
    with server.client() as client:
        for _ in range(600):
            judge = client.get(f"/api/runs/{run_id}/round").json()["judge"]
            if judge["order"]:
                return [position for (position,) in judge["order"]]
            time.sleep(0.05)
    raise AssertionError("the judge has not looked")


def expect_order(tab, order):
    tab.expect_badges(**{f"p{position + 1}": str(i + 1) for i, position in enumerate(order)})


def test_the_judge_orders_the_person_corrects_and_they_agree_so_far(with_a_judge, person):
    server = with_a_judge()
    run_id = new_run(server, *UP_TO_RANK)
    order = judges_order(server, run_id)
    tab = person().open(server, f"/runs/{run_id}")
    tab.expect_round(1, "rank")
    expect_order(tab, order)
    expect(tab.see("judge-note")).to_contain_text(
        "sorted by brightness: correct the order, then continue"
    )
    expect(tab.see("tray").locator(".tray-item")).to_have_count(6)

    tab.drag(tab.card(order[1]).get_by_test_id("badge"), tab.card(order[0]))
    mine = [order[1], order[0], *order[2:]]
    expect_order(tab, mine)
    expect(tab.see("judge-note")).to_be_visible()
    tab.see("next").click()
    tab.expect_round(2, "rank")
    assert log(server, run_id)[1]["answer"]["order"] == told(
        server, run_id, 1, *([position] for position in mine)
    )
    expect_order(tab, judges_order(server, run_id))  # so it has looked at all earlier rounds
    with server.client() as client:
        history = client.get(f"/api/runs/{run_id}/history").json()
    assert history["rows"][1]["judge_agreement"] == pytest.approx(14 / 15)
    percent = round(100 * history["judge"]["agreement"])
    expect(tab.see("agreement")).to_have_text(
        f"You and brightness agree on {percent}% of pairs (last 2 rounds)."
    )

    # Z takes back the round, not the order that the judge has put into the next one.
    tab.press("z")
    tab.expect_round(1, "rank")
    expect_order(tab, order)


def test_picks_go_before_the_judges_order(with_a_judge, person):
    server = with_a_judge()
    run_id = new_run(server, *UP_TO_RANK)
    order = judges_order(server, run_id)
    tab = person().open(server, f"/runs/{run_id}")
    expect_order(tab, order)
    first, second = order[4], order[2]
    tab.click(first, second)
    rest = [position for position in order if position not in (first, second)]
    expect_order(tab, [first, second, *rest])
    tab.click(first)  # taken out, for good
    expect_order(tab, [second, *rest])
    tab.press("z", "z", "z")
    expect_order(tab, order)
    tab.click(order[0], order[5])  # what the judge has put there is confirmed
    mine = [order[0], order[5], *order[1:5]]
    expect_order(tab, mine)
    tab.see("next").click()
    tab.expect_round(2, "rank")
    assert log(server, run_id)[1]["answer"]["order"] == told(
        server, run_id, 1, *([position] for position in mine)
    )


def test_the_judges_order_can_be_cleared_for_good(with_a_judge, person):
    server = with_a_judge()
    run_id = new_run(server, *UP_TO_RANK)
    order = judges_order(server, run_id)
    tab = person().open(server, f"/runs/{run_id}")
    expect_order(tab, order)
    tab.see("judge-clear").click()
    tab.expect_badges()
    expect(tab.see("judge-note")).to_have_count(0)
    expect(tab.see("next")).to_be_disabled()
    tab.page.reload()
    tab.expect_round(1, "rank")
    tab.expect_badges()
    tab.click(3, 0)
    tab.expect_badges(p4="1", p1="2")
    tab.press("Enter")
    tab.expect_round(2, "rank")
    assert log(server, run_id)[1]["answer"]["order"] == told(server, run_id, 1, [3], [0])
    expect_order(tab, judges_order(server, run_id))
    tab.press("Escape")
    tab.expect_badges()


def test_a_judge_that_is_late_does_not_disturb_who_ranks_already(with_a_judge, tmp_path, person):
    looking = tmp_path / "still-looking"
    looking.touch()
    server = with_a_judge()
    run_id = new_run(server, *UP_TO_RANK)
    somebody = person()
    busy, idle = (somebody.open(server, f"/runs/{run_id}") for _ in range(2))
    for tab in (busy, idle):
        tab.page.bring_to_front()
        tab.expect_round(1, "rank")
        tab.expect_badges()
    busy.click(4)
    looking.unlink()
    expect_order(idle, judges_order(server, run_id))  # it comes by itself
    busy.expect_badges(p5="1")
    expect(busy.see("judge-note")).to_have_count(0)
    busy.see("next").click()
    busy.expect_round(2, "rank")
    assert log(server, run_id)[1]["answer"]["order"] == told(server, run_id, 1, [4])


def test_a_judge_that_fails_is_told_once_and_ranking_goes_on(with_a_judge, tmp_path, person):
    (tmp_path / "no-eyes").touch()
    server = with_a_judge()
    run_id = new_run(server, *UP_TO_RANK)
    tab = person().open(server, f"/runs/{run_id}")
    tab.expect_round(1, "rank")
    banner = tab.page.locator("#banner")
    expect(banner).to_contain_text("brightness failed")
    expect(banner).to_contain_text("no eyes")
    tab.click(2, 1)
    tab.see("next").click()
    tab.expect_round(2, "rank")
    tab.click(0)
    expect(banner).to_be_hidden()
    tab.see("next").click()
    tab.expect_round(3, "rank")
    expect(banner).to_be_hidden()
    expect(tab.see("agreement")).to_have_count(0)


def choose_judge(tab, name):
    tab.see("new-run").click()
    tab.see("judges").get_by_role("radio", name=name, exact=True).check()


def test_a_judge_is_chosen_for_a_new_run(serve, person):
    """The judge and the model that come along, from the page that starts a run to the log."""
    small = ("--option", "size=64", "--option", "steps=2")
    server = serve("--renderer", "dream", "--prompt", "snowy night", *small)
    tab = person().open(server)
    tab.see("new-run").click()
    nobody = tab.see("judges").get_by_role("radio", name="None")
    expect(nobody).to_be_checked()
    tab.see("start-run").click()
    tab.expect_round(0, "start")
    alone = run_of(tab)

    tab.page.goto(server.url)
    choose_judge(tab, "Built-in")
    tab.see("start-run").click()
    tab.expect_round(0, "start")
    judged = run_of(tab)
    order = judges_order(server, judged)
    expect_order(tab, order)
    expect(tab.see("judge-note")).to_contain_text("sorted by dream")
    tab.see("next").click()
    tab.expect_round(1, "rank")
    expect_order(tab, judges_order(server, judged))
    expect(tab.see("agreement")).to_contain_text("You and dream agree on 100% of pairs")
    assert log(server, judged)[0]["answer"]["order"] == told(
        server, judged, 0, *([position] for position in order)
    )
    with server.client() as client:
        kept = client.get(f"/api/runs/{judged}/export").json()["meta"]["judge"]
        assert kept == {"name": "dream", "options": {}}  # it takes the prompt of the pictures
        assert "judge" not in client.get(f"/api/runs/{alone}/export").json()["meta"]


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


def test_a_judge_needs_words_where_the_pictures_have_none(studio, person):
    tab = person().open(studio)
    choose_judge(tab, "Built-in")
    tab.see("start-run").click()
    wanted = tab.page.get_by_label("What the model looks for")
    expect(wanted).to_be_focused()  # the browser asks for it, and nothing was started
    expect(wanted).to_have_css("opacity", "1")
    wanted.fill("snowy night")
    tab.see("start-run").click()
    tab.expect_round(0, "start")
    expect_order(tab, judges_order(studio, run_of(tab)))


def test_the_studios_judge_is_chosen_until_somebody_says_otherwise(with_a_judge, person):
    server = with_a_judge()
    tab = person().open(server)
    tab.see("new-run").click()
    own = tab.see("judges").get_by_role("radio", name="Brightness")
    expect(own).to_be_checked()
    tab.see("judges").get_by_role("radio", name="None").check()
    tab.see("start-run").click()
    tab.expect_round(0, "start")
    with server.client() as client:
        run_id = run_of(tab)
        assert client.get(f"/api/runs/{run_id}/round").json()["judge"] is None
        assert client.get(f"/api/runs/{run_id}/export").json()["meta"]["judge"] is None


# How it looks, and to whom it speaks.


def test_light_and_dark_follow_the_system_and_the_choice_is_kept(studio, person):
    tab = person().open(studio)
    theme = """() => [document.documentElement.dataset.theme,
      getComputedStyle(document.body).backgroundColor]"""
    looks = {}
    for scheme in ("dark", "light"):
        tab.set_system_theme(scheme)
        name, looks[scheme] = tab.page.evaluate(theme)
        assert name == scheme
    assert looks["dark"] != looks["light"]
    tab.page.get_by_role("button", name="Switch to the dark theme").click()
    tab.page.reload()
    tab.settle()
    assert tab.page.evaluate(theme) == ["dark", looks["dark"]]
    tab.page.goto(f"{studio.url}/new")  # on every page
    tab.settle()
    assert tab.page.evaluate(theme) == ["dark", looks["dark"]]


def open_side(tab):
    """The side is a drawer on small screens."""
    toggle = tab.page.locator(".drawer-toggle").filter(visible=True)
    if toggle.count():
        toggle.click()
    expect(tab.see("words")).to_be_visible()
    tab.see("words").scroll_into_view_if_needed()


def every_page(server, visitor, size=96, a_while=A_WHILE):
    """Goes through all pages and states of a new studio, and stops at each: name and tab."""
    tab = visitor.open(server)
    expect(tab.see("new-run")).to_be_visible()
    yield "home-empty", tab
    tab.see("new-run").click()
    expect(tab.see("start-run")).to_be_enabled()
    tab.page.locator("summary").click()
    yield "new", tab
    tab.page.goto(f"{server.url}/runs/{new_run(server, size=size, title='Evening')}")
    tab.expect_round(0, "start")
    yield "start", tab
    tab.press("4", "Enter")
    tab.expect_round(1, "rank")
    tab.press("2", "6", "1")
    tab.expect_badges(p2="1", p6="2", p1="3")
    yield "rank", tab
    tab.press("?")
    expect(tab.see("help")).to_be_visible()
    yield "help", tab
    tab.press("Escape")
    expect(tab.see("help")).to_have_count(0)  # keys belong to the page again
    tab.press("Space")
    expect(tab.see("enlarged")).to_be_visible()
    yield "enlarged", tab
    tab.press("Escape")
    tab.see("next").click()
    tab.expect_round(2, "rank")
    tab.page.goto(f"{server.url}/runs/{new_run(server, *a_while, size=size, title='Evening')}")
    tab.expect_round(len(a_while), "rank")
    expect(tab.page.get_by_test_id("words")).not_to_be_empty()
    open_side(tab)
    yield "going", tab
    tab.page.goto(tab.page.url)
    tab.expect_round(len(a_while), "rank")
    tab.see("result").click()
    expect(tab.see("slider")).to_be_visible()
    yield "result", tab
    tab.page.goto(server.url)
    expect(tab.see("run")).to_have_count(2)
    yield "home", tab
    tab.page.goto(f"{server.url}/runs/nothing")
    expect(tab.see("heading")).to_have_text("No such run")
    yield "message", tab


@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_axe_finds_no_barrier_on_any_page(serve, person, screen):
    # The policy of the pages forbids the scripts that axe needs to be put in.
    visitor = person(forgives=QUIET + "|status of 404", bypass_csp=True, **screen)
    found = {}
    for name, tab in every_page(serve(), visitor):
        for scheme in ("light", "dark"):
            tab.set_system_theme(scheme)
            for violation in Axe().run(tab.page).response["violations"]:
                if violation["impact"] in ("serious", "critical"):
                    where = [node["target"] for node in violation["nodes"]]
                    found[name, scheme, violation["id"]] = where
    assert found == {}


@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_every_page_can_be_photographed_and_none_overflows(serve, person, tmp_path, screen):
    """With ZORANK_SCREENSHOTS=folder, the pictures stay there to be looked at."""
    wanted = os.environ.get("ZORANK_SCREENSHOTS")
    album = Path(wanted or tmp_path / "screenshots")
    album.mkdir(parents=True, exist_ok=True)
    device = "phone" if screen is PHONE else "desktop"
    taken = set()
    visitor = person(forgives=QUIET + "|status of 404", **screen)
    for name, tab in every_page(serve(), visitor, size=512 if wanted else 96):
        tab.expect_no_overflow()
        for scheme in ("light", "dark"):
            tab.set_system_theme(scheme)
            file = album / f"{device}-{name}-{scheme}.png"
            tab.page.screenshot(path=file)
            taken.add(file.name)
            with Image.open(file) as picture:
                assert len(picture.convert("L").getcolors()) > 2, "an empty page"
    assert len(taken) == 20
