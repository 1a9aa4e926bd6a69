"""The owner invites people by name; they join on a phone, answer, are revoked and forgotten."""

import re
from datetime import datetime
from zoneinfo import ZoneInfo

from playwright.sync_api import expect

from tests.helpers.browser import DESKTOP, PHONE, QUIET, log, new_run

# The browser of somebody whose link was revoked logs that it is refused.
REVOKED = QUIET + "|status of 401|/events"


def invited(owner, name, role="ranks"):
    """Invite somebody on the owner's page, and return the token of their link."""
    owner.see("person-name").fill(name)
    owner.page.get_by_label("Role").select_option(role)
    owner.page.locator("button[data-testid=invite-person]").click()
    link = owner.page.get_by_label(f"Link of {name}")
    expect(link).to_be_visible()
    address, _, token = link.input_value().partition("?token=")
    assert address.startswith(f"{owner.server.url}/runs/")
    return token


def row(owner, name):
    return owner.page.locator(f'[data-person="{name}"]')


def test_a_person_is_invited_by_name_answers_and_is_revoked(studio, person):
    the_whole_path(studio, person)


def test_a_person_joins_and_leaves_below_a_path_of_nginx(proxied, person):
    """The same from the phone to the events, over HTTPS and with a prefix."""
    studio = proxied("--method", "rank-process", "--trust-proxy")
    the_whole_path(studio, person, ignore_https_errors=True)


def the_whole_path(studio, person, **browser):
    """Invite a person, join on a phone, answer, revoke, forget."""
    run_id = new_run(studio, raters=2)
    owner = person(**DESKTOP, **browser).open(studio, f"/runs/{run_id}")
    owner.expect_round(0, "start")
    owner.page.get_by_text("Rank together").click()
    token = invited(owner, "Ann")
    expect(row(owner, "Ann")).to_contain_text("no answer yet")

    phone = person(forgives=REVOKED, **PHONE, **browser)
    ann = phone.open(studio, f"/runs/{run_id}", token=token)
    ann.expect_round(0, "start")
    assert ann.page.url == f"{studio.url}/runs/{run_id}"  # without the token
    expect(ann.see("rater-name")).to_have_count(0)  # the link has the name
    expect(ann.see("greeting")).to_have_text("Hello, Ann.")
    ann.expect_no_overflow()
    ann.tap(2)
    ann.see("next").tap()
    expect(ann.page.get_by_text("Waiting for one more answer")).to_be_visible()
    expect(row(owner, "Ann")).to_contain_text("1 answer")
    expect(row(owner, "Ann")).to_have_class("person has-answered")
    owner.click(2)
    owner.see("next").click()
    ann.expect_round(1, "rank")
    (line,) = log(studio, run_id)
    assert [ballot["rater"] for ballot in line["answer"]["ballots"]] == ["Ann", "owner"]

    row(owner, "Ann").get_by_test_id("revoke-person").click()
    expect(ann.see("banner")).to_contain_text("no longer valid")
    expect(owner.page.get_by_label("Link of Ann")).to_have_count(0)
    for path in (f"/runs/{run_id}", f"/runs/{run_id}?token={token}"):  # the cookie, the link
        assert phone.context.new_page().goto(f"{studio.url}{path}").status == 401, path

    row(owner, "Ann").get_by_test_id("forget-person").click()
    owner.see("confirm").click()
    expect(row(owner, "rater 1")).to_contain_text("1 answer")
    expect(row(owner, "Ann")).to_have_count(0)
    assert "Ann" not in str(log(studio, run_id))


def test_answers_are_removed_with_their_person(studio, person):
    run_id = new_run(studio, [[0]], raters=1)
    owner = person().open(studio, f"/runs/{run_id}")
    owner.expect_round(1, "rank")
    owner.page.get_by_text("Rank together").click()
    ann = person(forgives=REVOKED).open(studio, f"/runs/{run_id}", token=invited(owner, "Ann"))
    ann.expect_round(1, "rank")
    ann.click(3)
    ann.see("next").click()
    owner.expect_round(2, "rank")
    expect(row(owner, "Ann")).to_contain_text("1 answer")
    row(owner, "Ann").get_by_test_id("forget-person").click()
    owner.see("forget-answers").check()
    owner.see("confirm").click()
    expect(row(owner, "Ann")).to_have_count(0)
    first, second = log(studio, run_id)
    assert (first["rater"], second["rater"], second["answer"]) == ("owner", None, {"order": []})
    owner.expect_round(2, "rank")


def test_a_viewer_watches_without_controls(studio, person):
    run_id = new_run(studio)
    owner = person().open(studio, f"/runs/{run_id}")
    owner.expect_round(0, "start")
    owner.page.get_by_text("Rank together").click()
    token = invited(owner, "Vic", "watches")
    viewer = person().open(studio, f"/runs/{run_id}", token=token)
    expect(viewer.see("heading")).to_have_text("You are watching")
    expect(viewer.see("greeting")).to_have_text("Hello, Vic.")
    for control in ("next", "same", "others", "undo", "tray"):
        expect(viewer.see(control)).to_have_count(0)
    viewer.press("s", "Enter")
    viewer.click(0)
    expect(viewer.see("enlarged")).to_be_visible()
    assert log(studio, run_id) == []
    viewer.press("Escape")
    owner.click(2)
    owner.see("next").click()
    expect(viewer.see("round")).to_have_text("Round 1")  # it follows by itself


def test_a_name_that_is_taken_is_refused_in_a_sentence(studio, person):
    run_id = new_run(studio)
    owner = person(forgives=QUIET + "|status of 422").open(studio, f"/runs/{run_id}")
    owner.expect_round(0, "start")
    owner.page.get_by_text("Rank together").click()
    invited(owner, "Ann")
    owner.see("person-name").fill("ANN")
    owner.page.locator("button[data-testid=invite-person]").click()
    expect(owner.see("banner")).to_contain_text("looks like 'Ann'")


IN_TOKYO = {"timezone_id": "Asia/Tokyo", "locale": "en-GB"}


def closing_time(server, run_id):
    """The time at which the waiting round closes, on a clock in Tokyo."""
    with server.client() as client:
        closes_at = client.get(f"/api/runs/{run_id}/round").raise_for_status().json()["closes_at"]
    return datetime.fromtimestamp(closes_at, ZoneInfo("Asia/Tokyo")).strftime("%H:%M")


def test_everybody_sees_when_the_round_closes(studio, person):
    run_id = new_run(studio, raters=3)
    owner = person().open(studio, f"/runs/{run_id}")
    owner.expect_round(0, "start")
    owner.page.get_by_text("Rank together").click()
    tokens = [invited(owner, "Ann"), invited(owner, "Vic", "watches")]
    ann, vic = (
        person(**kind, **IN_TOKYO).open(studio, f"/runs/{run_id}", token=token)
        for kind, token in zip((PHONE, DESKTOP), tokens, strict=True)
    )
    everybody = (owner, ann, vic)
    expect(vic.see("heading")).to_have_text("You are watching")
    ann.expect_round(0, "start")
    for tab in everybody:
        expect(tab.page.get_by_test_id("closes")).to_be_hidden()

    minutes = owner.page.get_by_label("Minutes until it closes")
    minutes.fill("1000")
    minutes.press("Tab")
    expect(owner.see("closes")).to_contain_text("This round closes at ")
    at = closing_time(studio, run_id)
    left = re.compile(rf"^This round closes at {at}, in 1\d hours( and \d+ minutes?)?\.$")
    for tab in (ann, vic):
        expect(tab.see("closes")).to_have_text(left)
    ann.expect_no_overflow()
    for tab in (ann, vic):
        tab.page.reload()
        expect(tab.see("closes")).to_have_text(left)

    minutes.fill("")
    minutes.press("Tab")
    for tab in everybody:
        expect(tab.page.get_by_test_id("closes")).to_be_hidden()


def test_after_the_deadline_the_next_answer_closes_the_round(studio, person):
    run_id = new_run(studio, raters=2)
    with studio.client() as client:
        client.patch(f"/api/runs/{run_id}", json={"deadline": 1}).raise_for_status()
    owner = person().open(studio, f"/runs/{run_id}")
    owner.expect_round(0, "start")
    expect(owner.see("closes")).to_have_text("This round closes with the next answer.")
    with studio.client() as client:
        client.patch(f"/api/runs/{run_id}", json={"deadline": 3600}).raise_for_status()
    expect(owner.see("closes")).to_contain_text(re.compile(r"in \d+ minutes?\.|in 1 hour\."))
    with studio.client() as client:
        client.patch(f"/api/runs/{run_id}", json={"deadline": 1}).raise_for_status()
    expect(owner.see("closes")).to_have_text("This round closes with the next answer.")
    owner.click(2)
    owner.see("next").click()
    owner.expect_round(1, "rank")


def test_the_remaining_time_is_that_of_the_server(studio, person):
    """A clock that is an hour late shows another time, and the same time left."""
    run_id = new_run(studio, raters=2)
    with studio.client() as client:
        client.patch(f"/api/runs/{run_id}", json={"deadline": 36_000}).raise_for_status()
    somebody = person(**DESKTOP, **IN_TOKYO)
    somebody.context.add_init_script("const now = Date.now; Date.now = () => now() - 3_600_000;")
    tab = somebody.open(studio, f"/runs/{run_id}")
    expect(tab.see("closes")).to_contain_text(re.compile(r"in (9 hours|10 hours\.)"))
    shown = re.search(r"at (\d\d:\d\d),", tab.see("closes").inner_text())[1]
    late = datetime.strptime(closing_time(studio, run_id), "%H:%M") - datetime.strptime(
        shown, "%H:%M"
    )
    assert 55 <= late.seconds / 60 <= 65  # the header with the server's time has whole seconds
