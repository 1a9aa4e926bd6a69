"""The page that starts a run, and the choice of a judge on it."""

from playwright.sync_api import expect

from tests.helpers.browser import (
    expect_order,
    judges_order,
    log,
    run_of,
    told,
)


def choose_judge(tab, name):
    tab.see("new-run").click()
    tab.see("judges").get_by_role("radio", name=name, exact=True).check()


def test_a_judge_is_chosen_for_a_new_run(serve, person):
    """The judge and the model that come along, from the page that starts a run to the log."""
    small = ("--option", "size=64", "--option", "steps=2")
    plain = ("--method", "rank-process")  # looks of dream take long, and the judge needs none
    server = serve("--renderer", "dream", "--prompt", "snowy night", *small, *plain)
    tab = person().open(server)
    tab.see("new-run").click()
    nobody = tab.see("judges").get_by_role("radio", name="None")
    expect(nobody).to_be_checked()
    tab.see("start-run").click()
    tab.expect_round(0, "start")
    alone = run_of(tab)

    tab.page.goto(server.url)
    choose_judge(tab, "Built-in")
    tab.see("start-run").click()
    tab.expect_round(0, "start")
    judged = run_of(tab)
    order = judges_order(server, judged)
    expect_order(tab, order)
    expect(tab.see("judge-note")).to_contain_text("sorted by dream")
    tab.see("next").click()
    tab.expect_round(1, "rank")
    expect_order(tab, judges_order(server, judged))
    expect(tab.see("agreement")).to_contain_text("You and dream agree on 100% of pairs")
    assert log(server, judged)[0]["answer"]["order"] == told(
        server, judged, 0, *([position] for position in order)
    )
    with server.client() as client:
        kept = client.get(f"/api/runs/{judged}/export").json()["meta"]["judge"]
        assert kept == {"name": "dream", "options": {}}  # it takes the prompt of the pictures
        assert "judge" not in client.get(f"/api/runs/{alone}/export").json()["meta"]


def test_the_papers_method_is_chosen_with_its_settings(studio, person):
    tab = person().open(studio)
    tab.see("new-run").click()
    expect(tab.see("start-run")).to_be_enabled()
    tab.page.locator("summary").click()
    expect(tab.see("method")).to_have_value("rank-process")  # the default of this studio
    tab.see("method").select_option("Descent (Algorithm 3)")
    expect(tab.page.locator("#method-help")).to_contain_text("by turns for a ranking")
    tab.page.get_by_label("μ, radius").fill("0.4")
    tab.see("start-run").click()
    tab.expect_round(0, "start")
    tab.press("3", "Enter")
    tab.expect_round(1, "rank")
    tab.press("2", "4", "Enter")
    tab.expect_round(2, "best")
    with studio.client() as client:
        made = client.get(f"/api/runs/{run_of(tab)}").json()["optimizer"]
    assert made["method"] == "zo-ranksgd-memory"
    assert made["options"]["mu"] == 0.4
    assert made["options"]["step"] == 1.0


def test_a_judge_needs_words_where_the_pictures_have_none(studio, person):
    tab = person().open(studio)
    choose_judge(tab, "Built-in")
    tab.see("start-run").click()
    wanted = tab.page.get_by_label("What the model looks for")
    expect(wanted).to_be_focused()  # the browser asks for it, and nothing was started
    expect(wanted).to_have_css("opacity", "1")
    wanted.fill("snowy night")
    tab.see("start-run").click()
    tab.expect_round(0, "start")
    expect_order(tab, judges_order(studio, run_of(tab)))


def test_the_studios_judge_is_chosen_until_somebody_says_otherwise(with_a_judge, person):
    server = with_a_judge()
    tab = person().open(server)
    tab.see("new-run").click()
    own = tab.see("judges").get_by_role("radio", name="Brightness")
    expect(own).to_be_checked()
    tab.see("judges").get_by_role("radio", name="None").check()
    tab.see("start-run").click()
    tab.expect_round(0, "start")
    with server.client() as client:
        run_id = run_of(tab)
        assert client.get(f"/api/runs/{run_id}/round").json()["judge"] is None
        assert client.get(f"/api/runs/{run_id}/export").json()["meta"]["judge"] is None
