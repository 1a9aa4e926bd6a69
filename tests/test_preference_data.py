import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.processes import python
from zorank import Ballot, InvalidInput, Poll, Ranking, Run, Values, rank_weights
from zorank.errors import install_command
from zorank.preference_data import COLUMNS, Pair, candidate_id


def answered(*answers, **details):
    run = Run("zo-ranksgd", np.ones(3), seed=1)
    for answer in answers:
        run.ask()
        run.tell(answer, **details)
    return run


def preferences(run, **options):
    return {(p.winner, p.loser) for p in run.pairs(**options)}


def test_a_ranking_prefers_every_candidate_to_all_on_lower_levels():
    run = answered(Ranking.of([4, [0, 2]], worst=[1]))
    rest = {3, 5, 6, 7, 8, 9}
    above = {(a, b) for a in (0, 2) for b in (*rest, 1)}
    first = {(4, b) for b in range(10) if b != 4}
    assert preferences(run) == first | above | {(b, 1) for b in rest}
    assert not any(pair.tie for pair in run.pairs())


def test_positions_that_were_not_compared_are_in_no_pair():
    assert preferences(answered(Ranking.pair(4, 1)), ties=True) == {(4, 1)}
    some = Ranking(((2,),), among=(0, 2, 5))
    assert preferences(answered(some), ties=True) == {(2, 0), (2, 5)}


def test_ties_are_those_that_the_rater_stated():
    run = answered(Ranking.of([4, [0, 2]]))
    assert [(p.winner, p.loser) for p in run.pairs(ties=True) if p.tie] == [(0, 2)]
    nothing = answered(Ranking.no_difference())
    assert nothing.pairs() == []
    assert len(nothing.pairs(ties=True)) == 45
    assert all(pair.tie for pair in nothing.pairs(ties=True))


orders = st.permutations(range(6)).flatmap(
    lambda p: st.integers(0, 6).map(lambda k: [*p[:k][:1], *([p[1:k]] if k > 1 else [])])
)


@given(st.lists(st.tuples(orders, st.sampled_from([0.0, 0.5, 1.0, 3.0])), min_size=1, max_size=4))
def test_pairs_are_the_edges_of_the_comparison_graph(votes):
    ballots = [Ballot(f"r{i}", Ranking.of(order), w) for i, (order, w) in enumerate(votes)]
    poll = Poll(tuple(ballots))
    run = Run("zo-ranksgd", np.ones(2), seed=1)
    m = len(run.ask())
    run.tell(poll)
    degrees = np.zeros(m)
    for pair in run.pairs():
        degrees[pair.winner] -= pair.weight
        degrees[pair.loser] += pair.weight
    np.testing.assert_allclose(degrees, rank_weights(poll, m), atol=1e-9)


def test_a_poll_has_each_raters_own_time_and_weight():
    run = Run("zo-ranksgd", np.ones(3), seed=1)
    run.ask()
    store = run._store
    for ballot in (Ballot("ann", Ranking.of([1])), Ballot("bob", Ranking.of([0]), 0.5)):
        store.cast(run.name, 0, ballot)
    run.tell(Poll(tuple(store.ballots(run.name, 0))), rater="ann, bob")
    cast = {c.ballot.rater: c.cast_at for c in store.audit(run.name).ballots}
    line = run.rounds()[0]
    for pair in run.pairs():
        assert pair.round == 0
        assert pair.weight == {"ann": 1.0, "bob": 0.5}[pair.rater]
        assert pair.answered_at == cast[pair.rater]
        assert pair.shown_at == line.shown_at
    assert {pair.rater for pair in run.pairs()} == {"ann", "bob"}
    branch = run.branch()  # which has no ballots
    assert {p.answered_at for p in branch.pairs()} == {line.answered_at}


def test_undone_and_waiting_rounds_are_left_out():
    run = answered([0], [1], rater="ann")
    run.undo()
    assert {pair.round for pair in run.pairs()} == {0}


def test_pairs_are_frozen_and_plain():
    pair = answered(Ranking.pair(4, 1), rater="ann").pairs()[0]
    assert isinstance(pair, Pair)
    json.dumps(dataclasses.asdict(pair))
    with pytest.raises(dataclasses.FrozenInstanceError):
        pair.winner = 2
    with pytest.raises(InvalidInput, match="ties must be True or False"):
        answered([0]).pairs(ties="yes")


def test_a_frame_has_a_row_for_each_round_rater_and_candidate():
    pytest.importorskip("pandas")
    poll = Poll((Ballot("ann", Ranking.of([4, [0, 2]])), Ballot("bob", Ranking.pair(1, 3), 0.5)))
    run = answered(poll, [1])
    frame = run.to_frame()
    slates = [slate for _, slate, _ in run.replay()]
    assert list(frame.columns) == [*COLUMNS, "x"]
    assert len(frame) == 2 * len(slates[0]) + len(slates[1])
    ann = frame[(frame["round"] == 0) & (frame["rater"] == "ann")]
    assert ann["place"].tolist() == [2, 4, 2, 4, 1, 4, 4, 4, 4, 4]
    assert ann["tie_group"].tolist() == [1, 2, 1, 2, 0, 2, 2, 2, 2, 2]
    assert ann["position"][ann["named"]].tolist() == [0, 2, 4]
    np.testing.assert_array_equal(np.stack(list(ann["x"])), np.asarray(slates[0]))
    bob = frame[frame["rater"] == "bob"]
    assert bob["position"][bob["compared"]].tolist() == [1, 3]
    assert bob["place"].dropna().tolist() == [1, 2]
    assert set(bob["weight"]) == {0.5}
    assert set(bob["shown"]) == {10}
    assert (frame["seconds"] >= 0).all()


def test_values_are_in_the_frame_and_give_preferences():
    pytest.importorskip("pandas")
    run = Run("zo-sgd", np.ones(2), seed=1)
    m = len(run.ask())
    run.tell(Values(tuple(float(i) for i in range(m))))
    assert run.to_frame()["value"].tolist() == list(range(m))
    assert len(run.pairs()) == m * (m - 1) / 2


def test_equal_candidates_have_equal_identifiers():
    assert candidate_id(np.array([0.0, 1.0])) == candidate_id(np.array([-0.0, 1.0], np.float32))
    assert candidate_id(np.array([0.0, 1.0])) != candidate_id(np.array([1.0, 0.0]))


@pytest.mark.process
def test_a_frame_without_pandas_names_the_extra():
    program = (
        "import sys; sys.modules['pandas'] = None\n"
        "import zorank\n"
        "run = zorank.Run('zo-ranksgd', [1.0, 1.0]); run.ask(); run.tell([0])\n"
        "assert run.pairs()\n"
        "try: run.to_frame()\n"
        "except zorank.MissingExtra as error: print(error)"
    )
    assert install_command("export") in python(program)
