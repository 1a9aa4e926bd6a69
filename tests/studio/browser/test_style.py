"""style: a photo chosen on the page that starts a run, and a style found by ranking."""

import pytest
from playwright.sync_api import expect

from tests.helpers import photos as files
from tests.helpers.browser import log, run_of


@pytest.fixture
def photo(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    path = tmp_path / "holiday.png"
    path.write_bytes(files.file_of(files.picture(480, 320), "PNG"))
    return path


def shape_of_first(tab):
    return tab.page.locator("[data-testid=card] img").first.evaluate(
        "picture => [picture.naturalWidth, picture.naturalHeight]"
    )


def test_six_paintings_of_the_photo_of_the_command_line_are_ranked(serve, person, photo):
    server = serve("--renderer", "style", "--photo", str(photo), "--option", "styles=mix")
    tab = person().open(server)
    tab.see("new-run").click()
    expect(tab.see("photo-shown")).to_be_visible()
    tab.see("start-run").click()
    tab.expect_round(0, "start")
    expect(tab.page.locator("[data-testid=card] img")).to_have_count(6)
    tab.settle()
    assert shape_of_first(tab) == [512, 341]
    tab.press("3", "Enter")
    tab.expect_round(1, "rank")
    tab.press("2", "4", "1", "Enter")
    tab.expect_round(2, "rank")
    assert [line["answer"] is not None for line in log(server, run_of(tab))][:2] == [True, True]


def test_a_photo_is_chosen_on_the_page_and_another_one_refused(serve, person, photo, tmp_path):
    server = serve("--renderer", "style", "--option", "styles=mix")
    tab = person(forgives="status of 422").open(server)
    tab.see("new-run").click()
    shown = tab.see("photo-shown")
    expect(tab.see("photo-file")).to_be_visible()
    expect(shown).to_be_hidden()
    wrong = tmp_path / "drawing.png"
    wrong.write_bytes(b"<svg xmlns='http://www.w3.org/2000/svg'/>")
    tab.see("photo-file").set_input_files(wrong)
    expect(tab.page.get_by_text("not a JPEG, PNG or WebP file")).to_be_visible()
    tab.see("photo-file").set_input_files(photo)
    expect(shown).to_be_visible()
    tab.expect_no_overflow()
    tab.see("start-run").click()
    tab.expect_round(0, "start")
    tab.settle()
    assert shape_of_first(tab) == [512, 341]
    with server.client() as client:
        run = client.get(f"/api/runs/{run_of(tab)}/export").json()
    assert run["meta"]["renderer_options"]["photo"].startswith("kept:")
