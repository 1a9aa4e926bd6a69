"""A person ranks in a real JupyterLab: they run cells, click cards, press keys."""

import json

import pytest
from playwright.sync_api import expect

RANK = """
import json
import numpy as np
import zorank
from zorank.renderers import Landscape

renderer = Landscape(size=64)
x0 = np.random.default_rng(7).standard_normal(renderer.dim)
run = zorank.Run("rank-process", x0, name="shown")
widget = zorank.notebook.rank(run, renderer, rater="ann")
widget
"""
LOG = """
from zorank._presentation import shown_order, to_screen

def on_screen(line):
    return to_screen(line.answer, shown_order(run.record, line.index, 6)).to_json()["order"]

print(json.dumps([on_screen(line) for line in run.rounds() if line.answer is not None]))
"""
AWAIT_RUN = "print('told', json.dumps((await widget.answered()).to_json()))"
AWAIT_SLATE = """
order = await zorank.notebook.ask(run, renderer)
run.tell(order)
print('told', json.dumps(order.to_json()), len(run.history))
"""
EVERYTHING = """
import numpy as np
import zorank
from tests.helpers.renderers import Breakable

class Mixed(Breakable):
    dim = 3
    together = 6

    def exhibits(self, candidates):
        svg = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"></svg>'
        made = [
            ("image/svg+xml", svg.encode()), ("text/plain", b"<b>plain</b> words"),
            ("text/html", b"<b>bold</b><script>document.body.innerHTML = 'ran'</script>"),
            ("audio/wav", b"RIFF"), ("application/x-thing", b"?"),
            ("text/plain", "naïve".encode()),
        ]
        return [zorank.Exhibit(*one) for one in made][: len(list(candidates))]

renderer = Mixed()
run = zorank.Run("rank-process", np.zeros(3))
renderer.broken = True
zorank.notebook.rank(run, renderer)
"""


def answers(notebook, index):
    """What the log says on screen, printed by the cell of this index."""
    notebook.run(index)
    notebook.expect_status("idle")
    printed = notebook.output(index)
    expect(printed).to_have_count(1)
    return json.loads(printed.inner_text())


def test_cards_are_ranked_by_mouse_and_by_keys(lab, page):
    notebook = lab.notebook(page, RANK, LOG, LOG, LOG)
    notebook.run(0)
    notebook.expect_slate("Round 0", 6)
    notebook.click(2, 4)
    notebook.click(0, modifiers=["Shift"])
    notebook.expect_badges(p3="1", p5="2", p1="2")
    notebook.press("z")
    notebook.expect_badges(p3="1", p5="2")
    notebook.see("tie").click()
    notebook.click(5)
    notebook.expect_badges(p3="1", p5="2", p6="2")
    notebook.see("next").click()
    notebook.expect_slate("Round 1", 6)
    # In JupyterLab digits would turn the cell into a heading.
    notebook.press("2", "1", "Shift+Digit3")
    notebook.expect_badges(p2="1", p1="2", p3="2")
    notebook.press("Enter")
    notebook.expect_slate("Round 2", 6)
    assert answers(notebook, 1) == [[[2], [4, 5]], [[1], [0, 2]]]
    notebook.see("undo").click()
    notebook.expect_slate("Round 1", 6)
    notebook.expect_badges(p2="1", p1="2", p3="2")
    assert answers(notebook, 2) == [[[2], [4, 5]]]
    notebook.see("same").click()
    notebook.expect_slate("Round 2", 6)
    expect(page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(4)  # no key made another
    assert answers(notebook, 3) == [[[2], [4, 5]], []]


@pytest.mark.parametrize("comms", ["perCommTarget", "disabled"])
def test_a_cell_waits_for_an_answer(lab, page, comms):
    """Whether JupyterLab sends messages of widgets to a thread of their own, or not."""
    lab.set("kernels-settings", commsOverSubshells=comms)
    lab.set("themes", theme="JupyterLab Dark")
    notebook = lab.notebook(page, RANK, AWAIT_RUN, AWAIT_SLATE, LOG)
    notebook.run(0)
    notebook.expect_slate("Round 0", 6)
    expect(page.locator(".zorank")).to_have_attribute("data-theme", "dark")
    notebook.run(1)
    notebook.expect_status("busy")
    notebook.click(3)
    notebook.see("next").click()
    expect(notebook.output(1)).to_contain_text("told")
    notebook.expect_status("idle")
    notebook.run(2)
    second = notebook.cell(2)
    expect(second.get_by_test_id("card")).to_have_count(6)
    second.locator("[data-position='1'] .pick").click()
    second.get_by_test_id("next").click()
    expect(second).to_contain_text("told")
    expect(second).to_contain_text("ranked:")
    expect(second.get_by_test_id("card")).to_have_count(0)
    assert answers(notebook, 3) == [[[3]], [[1]]]


def test_every_kind_of_exhibit_and_a_renderer_that_fails(lab, page):
    notebook = lab.notebook(page, EVERYTHING, "renderer.broken = False", "print(len(run.history))")
    notebook.run(0)
    expect(notebook.see("problem")).to_contain_text("RuntimeError: out of ink")
    expect(notebook.see("next")).to_be_disabled()
    notebook.run(1)
    notebook.expect_status("idle")
    notebook.see("retry").click()
    notebook.expect_slate("Round 0", 6)
    expect(notebook.see("problem")).to_have_count(0)
    assert notebook.card(0).locator("img").evaluate("picture => picture.naturalWidth") == 40
    expect(notebook.card(1)).to_contain_text("<b>plain</b> words")
    framed = notebook.card(2).locator("iframe").content_frame
    expect(framed.locator("body")).to_have_text("bold")
    expect(notebook.card(3).get_by_label("Play Sound 4")).to_be_visible()
    expect(notebook.card(4)).to_contain_text("application/x-thing cannot be shown")
    expect(notebook.card(5)).to_contain_text("naïve")
    notebook.card(1).click()
    notebook.press("3", "Enter")
    notebook.expect_slate("Round 1", 6)
    notebook.run(2)
    expect(notebook.output(2)).to_have_text("1")
