import numpy as np

from zorank import Ranking, Run
from zorank.optimizers import PickStart


def test_the_first_question_chooses_the_start_or_asks_for_others():
    run = Run(PickStart(m=4, options={"space": "gaussian"}), np.ones(9), seed=2)
    first = np.asarray(run.ask())
    assert run.ask().question == "start"
    assert len(first) == 4
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 3.0)
    run.tell(Ranking.no_difference())
    others = np.asarray(run.ask())
    assert run.ask().question == "start"
    assert not np.isclose(first, others).any()
    run.tell([2])
    np.testing.assert_allclose(run.best(), others[2])
    assert run.ask().question == "rank"
    run.tell([0, 1])
    assert run.ask().question == "best"
    run.undo(2)
    np.testing.assert_array_equal(np.asarray(run.ask()), others)
