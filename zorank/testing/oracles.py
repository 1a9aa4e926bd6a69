"""The contracts of an oracle, which answers slates, and of a judge, which scores pictures.

class TestMyOracle(OracleContract):
    @pytest.fixture(params=[MyOracle()], ids=repr)
    def oracle(self, request):
        return request.param

class TestMyJudge(JudgeContract):
    @pytest.fixture(params=[MyJudge(prompt="snow")], ids=repr)
    def judge(self, request):
        return request.param
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest

from zorank.errors import InvalidInput
from zorank.oracles import JudgeKind, PictureOracle
from zorank.oracles.pictures import decode, score_exhibits
from zorank.protocols import Oracle, Renderer
from zorank.renderers import Landscape
from zorank.slates import Points, Question, Slate
from zorank.types import Exhibit, Poll, Ranking, Values

if TYPE_CHECKING:
    from PIL.Image import Image

QUESTIONS: tuple[Question, ...] = ("rank", "best", "start", "compare")


class OracleContract:
    """The tests that every oracle must pass. Define a fixture `oracle`.

    Class variables:
        dim: the number of coordinates of the candidates it can answer.
        m: the number of candidates on a slate.
    """

    dim: ClassVar[int] = 3
    m: ClassVar[int] = 5

    @pytest.fixture
    def oracle(self) -> Any:
        """Return the oracle that is tested."""
        raise NotImplementedError("define a fixture `oracle` that returns your oracle")

    def slate(self, question: Question = "rank", k: int | None = None, seed: int = 0) -> Slate:
        """Return a slate of random candidates."""
        draws = np.random.default_rng(seed).standard_normal((self.m, self.dim))
        return Slate(Points(draws), question, k)

    @pytest.mark.parametrize("question", QUESTIONS)
    def test_the_answer_fits_the_slate(self, oracle: Oracle, question: Question) -> None:
        """An answer is a ranking or a poll of positions that are on the slate."""
        slate = self.slate(question)
        answer = oracle.answer(slate)
        assert isinstance(answer, Ranking | Poll)
        answer.check(len(slate))

    def test_values_are_given_or_refused(self, oracle: Oracle) -> None:
        """An oracle that has no values raises InvalidInput."""
        slate = self.slate("values")
        try:
            answer = oracle.answer(slate)
        except InvalidInput:
            return
        assert isinstance(answer, Values)
        answer.check(len(slate))

    @pytest.mark.parametrize("k", [1, 2])
    def test_it_ranks_no_deeper_than_asked(self, oracle: Oracle, k: int) -> None:
        """A ranking of the best k names k candidates, and more only if they tie."""
        answer = oracle.answer(self.slate(k=k))
        rankings = [b.ranking for b in answer.ballots] if isinstance(answer, Poll) else [answer]
        for ranking in rankings:
            assert isinstance(ranking, Ranking)
            assert sum(len(group) for group in ranking.best[:-1]) < k

    def test_the_same_slate_gets_the_same_answer(self, oracle: Oracle) -> None:
        """Noise is a function of the seed and the slate: a run that is resumed is the same."""
        first = [oracle.answer(self.slate(seed=seed)) for seed in range(4)]
        again = [oracle.answer(self.slate(seed=seed)) for seed in reversed(range(4))]
        assert first == again[::-1]

    def test_it_does_not_change_the_candidates(self, oracle: Oracle) -> None:
        """The slate may be passed to another oracle, so it must not be modified."""
        draws = np.random.default_rng(0).standard_normal((self.m, self.dim))
        before = draws.tobytes()
        oracle.answer(Slate(Points(draws)))
        assert draws.tobytes() == before

    def test_a_slate_of_one_is_answered(self, oracle: Oracle) -> None:
        """There is nothing to compare, and no error."""
        slate = Slate(Points(np.zeros((1, self.dim))))
        answer = oracle.answer(slate)
        assert isinstance(answer, Ranking | Poll)
        answer.check(1)


class JudgeContract:
    """The tests that every judge of pictures must pass. Define a fixture `judge`."""

    @pytest.fixture
    def judge(self) -> Any:
        """Return the judge that is tested: an object with `score(pictures)`.

        For a function of pictures, return `zorank.oracles.FunctionJudge(function)`.
        """
        raise NotImplementedError("define a fixture `judge` that returns your judge")

    @pytest.fixture
    def pictures(self) -> list[Image]:
        """Return RGB pictures of Pillow; override it for a judge of other pictures."""
        return [decode(exhibit) for exhibit in landscapes(4)]

    @pytest.fixture
    def renderer(self) -> Renderer:
        """Return a renderer of pictures; override it for a judge of other pictures."""
        return Landscape(size=32)

    def test_it_declares_what_it_needs_and_fits(self, judge: Any) -> None:
        """`requires` and `renderers` are tuples of names; required packages are installed."""
        kind = JudgeKind.of("mine:judge", judge)
        assert kind.is_installed, (
            f"cannot import {', '.join(kind.missing)}; `requires` has import names (PIL, not "
            "pillow): install what is missing, or correct `requires`"
        )
        assert kind.make({}) is judge

    def test_a_finite_number_for_each_picture(self, judge: Any, pictures: list[Image]) -> None:
        """One picture, or several at once."""
        for count in (1, len(pictures)):
            scores = np.asarray(judge.score(pictures[:count]), dtype=float)
            assert scores.size == count
            assert np.isfinite(scores).all()

    def test_scores_are_deterministic(self, judge: Any, pictures: list[Image]) -> None:
        """The same pictures get the same scores."""
        first, again = (np.asarray(judge.score(pictures)).tolist() for _ in range(2))
        assert first == again

    def test_a_score_does_not_depend_on_the_others(
        self, judge: Any, pictures: list[Image]
    ) -> None:
        """In another order, or alone, a picture gets the same score up to rounding."""
        scores = np.asarray(judge.score(pictures), dtype=float).reshape(-1)
        reverse = np.asarray(judge.score(pictures[::-1]), dtype=float).reshape(-1)
        alone = [np.asarray(judge.score([p]), dtype=float).reshape(-1)[0] for p in pictures]
        np.testing.assert_allclose(reverse[::-1], scores, rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(alone, scores, rtol=1e-3, atol=1e-5)

    def test_it_does_not_change_the_pictures(self, judge: Any, pictures: list[Image]) -> None:
        """People see the same pictures afterwards, so `score` must not modify them."""
        before = [(p.mode, p.size, p.tobytes()) for p in pictures]
        judge.score(list(pictures))
        assert [(p.mode, p.size, p.tobytes()) for p in pictures] == before

    def test_it_tells_pictures_apart(self, judge: Any, pictures: list[Image]) -> None:
        """Not every picture gets the same score."""
        assert len(set(np.asarray(judge.score(pictures), dtype=float).reshape(-1).tolist())) > 1

    def test_it_ranks_a_slate(self, judge: Any, renderer: Renderer) -> None:
        """`PictureOracle` ranks candidates by its scores, higher is better."""
        draws = np.random.default_rng(0).standard_normal((3, renderer.dim))
        answer = PictureOracle(renderer, judge.score, batch=3).answer(Slate(Points(draws)))
        scores = score_exhibits(judge.score, renderer.render(draws), batch=3)
        assert answer == Ranking.from_values(-scores)


def landscapes(count: int) -> list[Exhibit]:
    """Return small random landscapes."""
    draws = np.random.default_rng(0).standard_normal((count, Landscape().dim))
    return Landscape(size=48).render(draws)
