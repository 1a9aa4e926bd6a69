"""The ranking page: every kind of answer, and a closer look at pictures."""

import pytest
from playwright.sync_api import expect

from tests.helpers.browser import (
    A_WHILE,
    DESKTOP,
    PHONE,
    UP_TO_BEST,
    UP_TO_RANK,
    log,
    new_run,
    older_run,
    run_of,
    told,
)


def current_best(tab, index):
    """The screen position that shows the best so far, as the interface gives it."""
    with tab.server.client() as client:
        waiting = client.get(f"/api/runs/{run_of(tab)}/round").json()
    assert waiting["index"] == index
    (current,) = [e["position"] for e in waiting["exhibits"] if e["current"]]
    return current


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


def test_the_status_has_sentences_about_progress(studio, person):
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


def test_the_status_says_when_to_stop(studio, person):
    run_id = new_run(studio, [[0]], *[[]] * 16)  # it looks all the same to them
    tab = person().open(studio, f"/runs/{run_id}")
    tab.expect_round(17, "rank")
    expect(tab.see("words").locator("p").last).to_contain_text("You could stop here.")
    tab.see("words").get_by_role("link", name="See the result").click()
    expect(tab.see("slider")).to_be_visible()


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
    tab.enlarge()
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


def test_a_digit_pressed_as_an_enlarged_picture_closes_ranks(studio, person):
    tab = person().open(studio, f"/runs/{new_run(studio, *UP_TO_RANK)}")
    tab.expect_round(1, "rank")
    large = tab.see("enlarged")
    tab.card(4).hover()
    tab.enlarge()
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
