"""The widget without a page: the messages that a page sends drive a run."""

import asyncio
import threading

import numpy as np
import pytest

import zorank
from tests.helpers.processes import python
from tests.helpers.renderers import Breakable
from zorank.errors import install_command
from zorank.slates import Points

pytest.importorskip("anywidget", reason="anywidget is not installed (extra notebook)")


def send(widget, content):
    """Hand a widget the message that arrives when a page calls `model.send`."""
    state = {"method": "custom", "content": content}
    widget._handle_msg({"content": {"data": state}, "buffers": []})


class Page:
    """The page's part: every action has an id of its own, as in rank.js."""

    def __init__(self, widget):
        self.widget = widget
        self._count = 0

    def act(self, **action):
        self._count += 1
        send(self.widget, {"id": str(self._count), **action})
        assert self.widget.handled == str(self._count)
        assert self.widget.status == ""

    def answer(self, *order):
        self.act(kind="answer", slate=self.widget.slate["number"], order=list(order))

    def texts(self):
        return [exhibit["data"].decode() for exhibit in self.widget.exhibits]


@pytest.fixture
def run():
    return zorank.Run("zo-ranksgd-memory", np.zeros(4), seed=3)


@pytest.fixture
def renderer():
    return Breakable()


@pytest.fixture
def page(run, renderer):
    return Page(zorank.notebook.rank(run, renderer, rater="ann"))


def test_picks_on_screen_map_to_candidates_of_the_run(run, page):
    shown = page.texts()
    candidates = [str(x.tolist()) for x in run.ask()]
    assert sorted(shown) == sorted(candidates)
    assert shown != candidates, "positions are shuffled"
    page.answer(2, [0, 5])
    wanted = [[candidates.index(shown[p]) for p in group] for group in ([2], [0, 5])]
    assert run.rounds()[0].answer == zorank.Ranking.of(wanted)
    assert run.rounds()[0].rater == "ann"
    assert page.widget.slate["name"] == "Round 1"
    assert page.widget.run is run


def test_an_action_that_arrives_twice_counts_once(run, page):
    """Pages send it as a message and as a trait, because each host delays or lacks one of them."""
    action = {"id": "x", "kind": "answer", "slate": 1, "order": [0]}
    page.widget.action = action
    assert len(run.history) == 1
    send(page.widget, action)
    assert (len(run.history), page.widget.problem) == (1, "")


def test_each_question_has_its_words(run, page):
    assert page.widget.slate["question"] == "rank"
    page.answer(1)
    assert page.widget.slate["heading"] == "Which is best?"
    start = zorank.notebook.rank(zorank.Run("pick-start", np.zeros(4) + 1), Breakable())
    assert start.slate["same"] == "Show me others"
    wanted = zorank.Run("zo-ranksgd", np.zeros(4), seed=1)
    assert "Rank" in zorank.notebook.rank(wanted, Breakable()).slate["heading"]


def test_no_difference_and_an_order_that_leaves_one_out(run, page):
    page.answer()
    assert run.rounds()[0].answer == zorank.Ranking.no_difference()
    page.act(kind="undo")
    page.answer(0, 1, 2, 3, 4)
    assert len(run.rounds()[0].answer.named) == 6


def test_undo_shows_the_round_again_with_its_answer(run, page):
    before = page.texts()
    assert not page.widget.slate["can_undo"]
    page.answer(3, [1, 4])
    assert page.widget.order == []
    assert page.widget.slate["can_undo"]
    page.act(kind="undo")
    assert run.history == []
    assert page.texts() == before
    assert page.widget.order == [[3], [1, 4]]
    page.act(kind="undo")
    assert page.widget.problem == "there is no answer to undo"


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ({"kind": "dance"}, "'dance' is not an action"),
        ({}, "'None' is not an action"),
        ({"kind": []}, "not an action"),
        ({"kind": "answer", "slate": 1, "order": [9]}, "position 9 is not on a slate of 6"),
        ({"kind": "answer", "slate": 1, "order": [1, 1]}, "1"),
        ({"kind": "answer", "slate": 1, "order": "0"}, "an order must be a list"),
        ({"kind": "answer", "slate": 1}, "an order must be a list"),
        ({"kind": "answer", "slate": 7, "order": [0]}, "no longer on screen"),
    ],
)
def test_a_bad_message_is_a_sentence_and_changes_nothing(run, page, action, said):
    page.widget.order = [[2]]
    before = page.widget.slate
    page.act(**action)
    assert said in page.widget.problem
    assert (run.history, page.widget.slate, page.widget.order) == ([], before, [[2]])
    page.answer(0)
    assert page.widget.problem == ""
    assert len(run.history) == 1


def test_a_renderer_that_fails_loses_nothing(run, renderer, page):
    renderer.broken = True
    page.answer(2)
    assert "RuntimeError: out of ink" in page.widget.problem
    assert page.widget.exhibits == []
    assert len(run.history) == 1
    page.act(kind="retry")
    assert "out of ink" in page.widget.problem
    renderer.broken = False
    page.act(kind="retry")
    assert page.widget.problem == ""
    assert page.widget.slate["name"] == "Round 1"
    page.answer(1)
    assert len(run.history) == 2


def test_a_first_slate_that_cannot_be_drawn_is_shown_as_such(run, renderer):
    renderer.broken = True
    assert "out of ink" in zorank.notebook.rank(run, renderer).problem


def test_a_round_that_was_answered_elsewhere(run, page):
    run.tell([0])
    page.answer(1)
    assert "answered elsewhere" in page.widget.problem
    assert len(run.history) == 1
    assert page.widget.slate["name"] == "Round 1"
    page.answer(1)
    assert len(run.history) == 2


def test_an_answer_can_be_awaited(run, page):
    async def scenario():
        waiting = [asyncio.create_task(page.widget.answered()) for _ in range(2)]
        await asyncio.sleep(0)
        await asyncio.to_thread(page.answer, 4)
        return await asyncio.gather(*waiting)

    first, second = asyncio.run(scenario())
    assert first == second == run.rounds()[0].answer


def test_actions_of_other_threads_run_in_the_thread_of_the_cells(run, renderer):
    """JupyterLab sends messages of widgets to a thread of their own; the run is not for two."""

    async def scenario():
        page = Page(zorank.notebook.rank(run, renderer))
        action = {"id": "t", "kind": "answer", "slate": 1, "order": [0]}
        waiting = asyncio.create_task(page.widget.answered())
        await asyncio.sleep(0)
        thread = threading.Thread(target=send, args=(page.widget, action))
        thread.start()
        thread.join()  # the loop stands still meanwhile, as it does while a cell computes
        told = len(run.history)
        await waiting
        return told

    assert asyncio.run(scenario()) == 0
    assert len(run.history) == 1


def test_cancelled_waits_are_removed(run, page):
    async def give_up():
        waiting = asyncio.create_task(page.widget.answered())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    asyncio.run(give_up())
    page.answer(0)
    assert (page.widget.problem, len(run.history)) == ("", 1)


def test_what_cannot_be_ranked_is_refused(run):
    with pytest.raises(zorank.InvalidInput, match="draws candidates of 4 coordinates"):
        zorank.notebook.rank(zorank.Run("rank-process", np.zeros(3)), Breakable())
    with pytest.raises(zorank.InvalidInput, match="needs a Run, found Slate"):
        zorank.notebook.rank(run.ask(), Breakable())
    with pytest.raises(zorank.InvalidInput, match="not a renderer"):
        zorank.notebook.rank(run, object())
    with pytest.raises(zorank.InvalidInput, match="found 'values'"):
        zorank.notebook.rank(zorank.Run("zo-sgd", np.zeros(4)), Breakable())
    with pytest.raises(zorank.InvalidInput, match="ask needs a Slate or a Run"):
        asyncio.run(zorank.notebook.ask([1, 2], Breakable()))


def test_a_single_slate_is_answered_once():
    from zorank.notebook.questions import SlateQuestion
    from zorank.notebook.widget import RankWidget

    slate = zorank.Slate(Points(np.arange(12.0).reshape(3, 4)), k=2)
    page = Page(RankWidget(SlateQuestion.of(slate), Breakable()))
    assert page.widget.run is None
    assert page.widget.slate["heading"] == "Rank the best 2, best first"
    page.act(kind="undo")
    assert "no answer to undo" in page.widget.problem

    async def answer():
        waiting = asyncio.create_task(page.widget.answered())
        await asyncio.sleep(0)
        page.answer([0, 2])
        return await waiting

    tied = [page.texts()[p] for p in (0, 2)]
    ranking = asyncio.run(answer())
    assert sorted(tied) == sorted(str(slate[i].tolist()) for i in ranking.best[0])
    page.answer(0)
    assert "no longer on screen" in page.widget.problem


BLOCK = """
import sys
class Missing:
    def find_spec(self, name, *_):
        if name.split('.')[0] == {blocked!r}:
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Missing())
import numpy as np, zorank, zorank.notebook
from zorank.renderers import Landscape
assert not {{"anywidget", "IPython", "traitlets", "matplotlib"}} & set(sys.modules)
run = zorank.Run("rank-process", np.ones(62))
try:
    {program}
except zorank.MissingExtra as error:
    print(error)
"""


@pytest.mark.process
def test_a_missing_extra_is_named_with_its_remedy():
    program = "zorank.notebook.rank(run, Landscape())"
    said = python(BLOCK.format(blocked="anywidget", program=program))
    assert install_command("notebook") in said
    program = "run.ask(); run.tell([0]); run.plot()"
    said = python(BLOCK.format(blocked="matplotlib", program=program))
    assert install_command("notebook") in said


OLD_KERNEL = """
import sys, types, numpy as np, zorank
from zorank.notebook.widget import RankWidget
sys.modules["ipykernel"] = types.SimpleNamespace(version_info=(6, 29), __version__="6.29")
try:
    RankWidget.check_can_wait()
except zorank.InvalidInput as error:
    print(error)
"""


@pytest.mark.process
def test_a_cell_does_not_wait_forever_with_an_older_kernel():
    assert "install 'ipykernel>=7'" in python(OLD_KERNEL)
