"""The studio below a path of an HTTPS proxy, in a real browser."""

import re

from playwright.sync_api import expect

from tests.helpers.browser import DESKTOP, log, run_of


def test_a_run_below_a_path_of_nginx(proxied, person):
    studio = proxied("--method", "rank-process", "--trust-proxy")
    somebody = person(**DESKTOP, ignore_https_errors=True)
    tab = somebody.open(studio)
    assert tab.page.url == f"{studio.url}/"
    tab.see("new-run").click()
    tab.see("start-run").click()
    tab.expect_round(0, "start")
    tab.click(3)
    tab.see("next").click()
    tab.expect_round(1, "rank")
    tab.click(1, 4)
    tab.see("next").click()
    tab.expect_round(2, "rank")
    assert all(picture.startswith("/rank/api/") for picture in tab.pictures())
    run_id = run_of(tab)
    assert tab.page.url == f"{studio.url}/runs/{run_id}"
    assert len(log(studio, run_id)) == 2

    # Events reach the page: another answer brings the next round.
    with studio.client() as client:
        url = f"/api/runs/{run_id}/rounds/2/answer"
        client.post(url, json={"order": [[0], [1]]}).raise_for_status()
    tab.expect_round(3, "rank")

    (cookie,) = somebody.context.cookies()
    assert (cookie["secure"], cookie["httpOnly"], cookie["path"]) == (True, True, "/rank")
    tab.page.locator("summary").click()
    tab.see("invite").click()
    link = tab.page.get_by_label("Invitation link")
    expect(link).to_have_value(re.compile(re.escape(f"{studio.url}/runs/{run_id}?token=")))
    guest = person(**DESKTOP, ignore_https_errors=True)
    page = guest.context.new_page()
    page.goto(link.input_value())
    expect(page.get_by_test_id("rater-name")).to_be_visible()
    assert page.url == f"{studio.url}/runs/{run_id}"

    tab.see("result").click()
    expect(tab.see("slider")).to_be_visible()
    tab.settle()
    tab.page.locator(".brand").click()
    expect(tab.see("run")).to_have_count(1)
    assert tab.page.url == f"{studio.url}/"

    # The link for the machine itself leads to the same pages, without the proxy.
    near = somebody.open(studio.studio)
    assert near.page.url == f"{studio.studio.url}/rank/"
    expect(near.see("run")).to_have_count(1)
