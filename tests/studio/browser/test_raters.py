"""Several people rank together, online and offline."""

import json
import re

from playwright.sync_api import expect

from tests.helpers.browser import A_WHILE, QUIET, UP_TO_RANK, log, new_run, run_of, told
from tests.helpers.studio_server import TOKEN


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


def test_a_rater_is_told_nothing_of_what_the_model_knows(studio, person):
    run_id = new_run(studio, *A_WHILE)
    with studio.client() as client:
        link = client.post(f"/api/runs/{run_id}/invite").json()["url"]
    rater = person().open(studio, f"/runs/{run_id}", token=link.partition("token=")[2])
    rater.see("rater-name").fill("Ann")
    rater.press("Enter")
    rater.expect_round(10, "rank")
    expect(rater.page.get_by_test_id("words")).to_have_count(0)


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


def imported(tab, text):
    """Paste a text as an answer."""
    tab.page.get_by_role("button", name="Import").click()
    tab.page.locator("dialog[open] textarea").fill(text)
    tab.page.locator("dialog[open] button").last.click()


def test_an_imported_answer_reaches_its_own_round_only(studio, person):
    other = new_run(studio, *UP_TO_RANK)
    run_id = new_run(studio, *UP_TO_RANK)
    before = log(studio, run_id), log(studio, other)
    tab = person().open(studio, f"/runs/{run_id}")
    tab.expect_round(1, "rank")
    with studio.client() as client:
        key = client.get(f"/api/runs/{run_id}/round").json()["key"]
    tab.page.get_by_text("Rank together").click()
    banner = tab.page.get_by_test_id("banner")
    for changed, said in [
        ({"round": f"../../{other}/undo?"}, "must be a whole number"),
        ({"round": -1}, "must be a whole number"),
        ({"rater": " Owner "}, "cannot be the owner's"),
        ({"key": f"not {key}"[:64]}, "shows other pictures now"),
    ]:
        imported(tab, json.dumps({"round": 1, "order": [[0]], "key": key, **changed}))
        expect(banner).to_contain_text(said)
    assert (log(studio, run_id), log(studio, other)) == before
    imported(tab, json.dumps({"round": 1, "order": [[0]], "key": key, "rater": "zoe"}))
    tab.expect_round(2, "rank")
