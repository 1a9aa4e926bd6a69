"""An oracle that is any function of exhibits."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from zorank import Exhibit, InvalidInput, Ranking, Run
from zorank.oracles import from_callable
from zorank.slates import Points, Slate

SLATE = Slate(Points(np.array([[0.3], [0.1], [0.2]])))


class Words:
    """Shows a number as text."""

    dim = 1

    def render(self, candidates):
        return [Exhibit("text/plain", f"{x[0]:.1f}".encode()) for x in candidates]


class Pictures(Words):
    def render(self, candidates):
        return [Exhibit("image/png", b"%d" % (10 * x[0])) for x in candidates]


def test_a_function_of_texts_returns_an_order():
    seen = []

    def shortest(texts):
        seen.append(texts)
        return [2, [0, 1]]

    assert from_callable(shortest, Words()).answer(SLATE) == Ranking.of([2, [0, 1]])
    assert seen == [["0.3", "0.1", "0.2"]]


def test_a_function_of_pictures_gets_exhibits_and_may_return_scores():
    oracle = from_callable(lambda them: [int(e.data) for e in them], Pictures(), returns="scores")
    assert oracle.answer(SLATE) == Ranking.of([0, 2, 1])


def test_without_a_renderer_it_gets_the_candidates():
    oracle = from_callable(lambda them: np.argsort([abs(x[0] - 3) for x in them]).tolist())
    run = Run("rank-items", [0.0])
    for _ in range(12):
        run.tell(oracle.answer(run.ask()))
    assert run.best().tolist() == [3.0]


@pytest.mark.parametrize(
    ("judge", "how", "words"),
    [
        (lambda texts: 3, {}, "an order must be a list of positions"),
        (lambda texts: [7], {}, "position 7 is not on a slate of 3"),
        (lambda texts: [1.0, 2.0], {"returns": "scores"}, "3 finite numbers, one for each"),
        (lambda texts: "abc", {"returns": "scores"}, "must return numbers"),
        (lambda texts: [np.nan] * 3, {"returns": "scores"}, "3 finite numbers"),
        (None, {}, "a judge must be a function"),
        (lambda texts: [0], {"returns": "rank"}, "'order' or 'scores'"),
    ],
)
def test_bad_judges_are_one_sentence(judge, how, words):
    with pytest.raises(InvalidInput, match=words):
        from_callable(judge, Words(), **how).answer(SLATE)


def test_the_example_orders_texts(capsys):
    file = Path(__file__).parents[2] / "examples" / "llm_judge.py"
    assert len(file.read_text().splitlines()) < 40
    runpy.run_path(str(file), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 7
    assert "It saves you an hour a day." in lines[0]
