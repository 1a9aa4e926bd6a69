"""A folder of pictures, from the command line to the order."""

from playwright.sync_api import expect

from tests.helpers.browser import run_of
from tests.helpers.folders import write_pictures


def test_a_folder_is_ranked_and_its_order_shown(serve, person, tmp_path):
    folder = write_pictures(tmp_path / "greys", 8)
    server = serve("--folder", str(folder))
    tab = person().open(server)
    tab.see("new-run").click()
    expect(tab.page.get_by_text("8 pictures of greys").first).to_be_visible()
    tab.see("start-run").click()
    for index in range(6):
        tab.expect_round(index, "rank")
        expect(tab.page.locator("#intro-section")).to_be_hidden()  # it speaks of a start
        tab.click(*brightest_first(tab))
        tab.see("next").click()
    tab.expect_round(6, "rank")
    expect(tab.page.locator("#compare")).to_be_hidden()
    expect(tab.page.locator("#words")).to_contain_text("of all pairs are in the right order")
    tab.page.goto(f"{server.url}/runs/{run_of(tab)}/result")
    places = tab.see("place")
    expect(places).to_have_count(8)
    expect(tab.see("order-heading")).to_have_text("8 pictures of greys")
    expect(tab.see("order-summary")).to_contain_text("6 rounds")
    names = tab.page.locator(".order-name").all_text_contents()
    assert names == [f"grey {level}.png" for level in range(7, -1, -1)]
    tab.settle()
    expect(places.first.locator("img")).to_be_visible()
    tab.expect_no_overflow()


def brightest_first(tab):
    """The screen positions, by the brightness of the picture in the middle."""
    levels = tab.page.evaluate(
        """() => [...document.querySelectorAll("[data-testid=card] img")].map((picture) => {
          const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
          canvas.getContext("2d").drawImage(picture, 0, 0, 1, 1);
          return canvas.getContext("2d").getImageData(0, 0, 1, 1).data[0];
        })"""
    )
    return sorted(range(len(levels)), key=lambda position: -levels[position])
