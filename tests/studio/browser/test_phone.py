"""The studio on a phone: taps and small screens."""

from playwright.sync_api import expect

from tests.helpers.browser import (
    PHONE,
    UP_TO_RANK,
    log,
    new_run,
    run_of,
    told,
)


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
