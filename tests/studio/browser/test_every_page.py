"""Every page in both themes on both screens: accessible, within the screen, and not empty."""

import os
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import expect

from tests.helpers.browser import (
    A_WHILE,
    DESKTOP,
    PHONE,
    QUIET,
    new_run,
)


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
    tab.enlarge()
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
def test_every_page_is_accessible_fits_and_can_be_photographed(serve, person, tmp_path, screen):
    """With ZORANK_SCREENSHOTS=folder, the photographs stay there to be looked at."""
    wanted = os.environ.get("ZORANK_SCREENSHOTS")
    album = Path(wanted or tmp_path / "screenshots")
    album.mkdir(parents=True, exist_ok=True)
    device = "phone" if screen is PHONE else "desktop"
    # The policy of the pages forbids the scripts that axe needs to be put in.
    visitor = person(forgives=QUIET + "|status of 404", bypass_csp=True, **screen)
    barriers, taken = {}, set()
    for name, tab in every_page(serve(), visitor, size=512 if wanted else 96):
        tab.expect_no_overflow()
        for scheme in ("light", "dark"):
            tab.set_system_theme(scheme)
            file = album / f"{device}-{name}-{scheme}.png"
            tab.page.screenshot(path=file)
            taken.add(file.name)
            with Image.open(file) as picture:
                assert len(picture.convert("L").getcolors()) > 2, "an empty page"
            # A theme changes the colours only.
            rules = {} if scheme == "light" else {"runOnly": ["color-contrast"]}
            for violation in Axe().run(tab.page, options=rules).response["violations"]:
                if violation["impact"] in ("serious", "critical"):
                    where = [node["target"] for node in violation["nodes"]]
                    barriers[name, scheme, violation["id"]] = where
    assert barriers == {}
    assert len(taken) == 20
