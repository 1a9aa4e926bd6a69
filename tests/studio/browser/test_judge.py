"""A judge orders the pictures and the person corrects it."""

import pytest
from playwright.sync_api import expect

from tests.helpers.browser import (
    UP_TO_RANK,
    expect_order,
    judges_order,
    log,
    new_run,
    told,
)


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


@pytest.fixture
def presorted(with_a_judge, person):
    """A server, a run, the judge's order, and a page that shows it."""
    server = with_a_judge()
    run_id = new_run(server, *UP_TO_RANK)
    order = judges_order(server, run_id)
    tab = person().open(server, f"/runs/{run_id}")
    expect_order(tab, order)
    return server, run_id, order, tab


def test_picks_go_before_the_judges_order(presorted):
    server, run_id, order, tab = presorted
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


def test_the_judges_order_can_be_cleared_for_good(presorted):
    server, run_id, _, tab = presorted
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
