"""Undo, refreshed pages, several tabs and refused streams: no answer is lost or counted twice."""

from contextlib import ExitStack

import pytest
from playwright.sync_api import expect

from tests.helpers.browser import QUIET, UP_TO_RANK, log, new_run, run_of, told


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


@pytest.fixture
def two_tabs(studio, person):
    """A run, and two pages of it in one browser, which wait for a ranking."""
    somebody, run_id = person(), new_run(studio, *UP_TO_RANK)
    here = somebody.open(studio, f"/runs/{run_id}")
    there = somebody.open(studio, f"/runs/{run_id}")
    for tab in (here, there):
        tab.expect_round(1, "rank")
    return run_id, here, there


def test_an_answer_in_one_tab_brings_the_other_to_the_current_round(two_tabs):
    _, here, there = two_tabs
    there.press("6")  # even in the middle of an answer, which the round no longer waits for
    here.press("2", "Enter")
    for tab in (here, there):
        tab.expect_round(2, "rank")
        expect(tab.see("banner")).to_have_count(0)
        tab.expect_badges()


def test_a_doubled_answer_counts_once(studio, two_tabs):
    run_id, here, there = two_tabs
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


REFUSED = QUIET + r"|status of 503"


def test_a_refused_stream_is_opened_again_by_itself(serve, person):
    server = serve("--method", "rank-process", "--limit", "streams=1")
    run_id = new_run(server, *UP_TO_RANK)
    somebody = person(forgives=REFUSED)
    with server.client() as owner, ExitStack() as stack:
        path = f"/api/runs/{run_id}"
        assert stack.enter_context(owner.stream("GET", f"{path}/events")).status_code == 200
        tab = somebody.open(server, f"/runs/{run_id}")
        with tab.page.expect_response("**/events") as refused:
            tab.expect_round(1, "rank")
        assert refused.value.status == 503
        with tab.page.expect_response(lambda said: said.url.endswith("/events") and said.ok):
            stack.close()
        owner.post(f"{path}/rounds/1/answer", json={"order": [[1]]}).raise_for_status()
    tab.expect_round(2, "rank")


def test_a_banner_about_loading_disappears_when_loading_succeeds(serve, person):
    """The stream is refused and the round cannot be loaded either, until both are possible."""
    server = serve("--method", "rank-process", "--limit", "streams=1")
    run_id = new_run(server, *UP_TO_RANK)
    somebody = person(forgives=REFUSED + r"|ERR_FAILED")
    with server.client() as owner, owner.stream("GET", f"/api/runs/{run_id}/events"):
        tab = somebody.open(server, f"/runs/{run_id}")
        tab.expect_round(1, "rank")
        tab.click(3)
        tab.page.route("**/round", lambda route: route.abort())
        expect(tab.see("banner")).to_contain_text("No response")
        tab.page.unroute("**/round")
        expect(tab.see("banner")).to_have_count(0)
        tab.expect_badges(p4="1")


def test_a_revoked_link_is_not_tried_again(studio, person):
    run_id = new_run(studio, *UP_TO_RANK)
    with studio.client() as owner:
        link = owner.post(f"/api/runs/{run_id}/invite").json()["url"]
        tab = person(forgives=r"status of 40[139]").open(
            studio, f"/runs/{run_id}", link.partition("token=")[2]
        )
        asked = []
        tab.page.on("request", lambda sent: asked.append(sent.url))
        tab.page.get_by_test_id("rater-name").fill("Ann")
        tab.page.keyboard.press("Enter")
        tab.expect_round(1, "rank")
        owner.delete(f"/api/runs/{run_id}/invite").raise_for_status()
        expect(tab.see("banner")).to_be_visible()
        before = len([url for url in asked if url.endswith("/events")])
        tab.page.wait_for_timeout(5000)  # the first pause is shorter
        assert len([url for url in asked if url.endswith("/events")]) == before
