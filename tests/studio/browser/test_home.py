"""The home page."""

from playwright.sync_api import expect

from tests.helpers.browser import (
    new_run,
)


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
