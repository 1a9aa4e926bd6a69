"""auto where some coordinates are whole or categorical."""

import numpy as np
import pytest

from zorank import InvalidInput, Ranking, minimize
from zorank.optimizers import Auto
from zorank.optimizers.mixed_genes import Gene, draw_move, spread
from zorank.rng import for_round
from zorank.spaces import Choice, Float, Int, SearchSpace

MIXED = {"bounds": (0, 1), "levels": [0, 0, 9, 2, 0, 0, 0], "choices": [[4, 3]]}
X0 = SearchSpace(
    {
        "a": Float(0, 1),
        "b": Float(0, 1),
        "n": Int(0, 8),
        "bit": Int(0, 1),
        "c": Choice(["x", "y", "z"]),
    }
).start()


def search(f, rounds, seed=0):
    """Return the states of a search that is told the order of f."""
    optimizer = Auto(**MIXED)
    states = [optimizer.init(X0)]
    for i in range(rounds):
        slate = optimizer.ask(states[-1], for_round(seed, i))
        answer = slate.answer_from(np.array([f(x) for x in slate]))
        states.append(optimizer.tell(states[-1], slate, answer))
    return optimizer, states


def target(x):
    return (x[0] - 0.3) ** 2 + (x[1] - 0.8) ** 2 + abs(x[2] - 6.5 / 9) + (x[3] < 0.5) + 1 - x[5]


def test_candidates_are_whole_and_categorical_where_they_should_be():
    optimizer, states = search(target, 12)
    for i, state in enumerate(states):
        rows = np.asarray(optimizer.ask(state, for_round(0, i)))
        assert ((rows >= 0) & (rows <= 1)).all()
        levels = rows[:, 2] * 9 - 0.5
        np.testing.assert_allclose(levels, np.round(levels), atol=1e-9)
        assert set(np.unique(rows[:, 3])) <= {0.25, 0.75}
        assert set(map(tuple, rows[:, 4:].tolist())) <= {(1, 0, 0), (0, 1, 0), (0, 0, 1)}


def test_the_best_never_gets_worse_without_noise():
    optimizer, states = search(target, 60)
    values = [target(optimizer.best(state)) for state in states]
    assert values == sorted(values, reverse=True)
    assert values[-1] < 1e-6


def test_the_strategy_gives_up_whole_coordinates_below_their_steps():
    _, states = search(target, 60)
    assert states[0].active == (0, 1, 2)
    without = [state for state in states if state.active == (0, 1)]
    assert without
    assert without[-1].strategy.x.shape == (2,)


def test_whole_numbers_do_not_stall():
    for seed in range(5):
        space = {f"n{i}": Int(-50, 50) for i in range(5)}
        wanted = np.random.default_rng(seed).integers(-40, 40, 5)
        f = lambda p: float(((np.array(list(p.values())) - wanted) ** 2).sum())  # noqa: B023, E731
        assert minimize(f, space=space, points=1000, seed=seed).fun == 0


def test_only_choices():
    space = {f"c{i}": Choice(list("abcd")) for i in range(6)}
    result = minimize(lambda p: sum(v != "c" for v in p.values()), space=space, points=200)
    assert result.fun == 0


def test_only_real_parameters_use_the_plain_search():
    result = minimize(lambda p: p["x"] ** 2, space={"x": Float(-1, 2)}, points=150)
    assert result.run.optimizer == Auto(bounds=(0, 1))
    assert abs(result.params["x"]) < 1e-3


def test_any_increasing_transform_gives_the_same_run():
    _, plain = search(target, 15)
    _, other = search(lambda x: np.exp(3 * target(x)), 15)
    np.testing.assert_array_equal(plain[-1].x, other[-1].x)


def test_it_begins_again_when_nothing_is_left_to_try_and_keeps_the_best():
    optimizer, states = search(target, 150)
    assert states[-1].restarts > 0
    assert target(optimizer.best(states[-1])) < 1e-9


def test_m_is_about_the_size_of_a_slate():
    space = {"x": Float(0, 1), "n": Int(0, 3)}
    run = minimize(lambda p: p["x"] + p["n"], space=space, points=80, m=6).run
    sizes = np.diff([0, *(row["points"] for row in run.history)])
    assert sizes[0] == 6
    assert np.median(sizes) in (5, 6)


def test_no_difference_changes_no_incumbent():
    optimizer, states = search(target, 5)
    slate = optimizer.ask(states[-1], for_round(0, 5))
    after = optimizer.tell(states[-1], slate, Ranking.no_difference())
    np.testing.assert_array_equal(after.x, states[-1].x)


def test_a_move_that_lost_is_drawn_less_often():
    genes = (Gene(0, 4, False),)
    x = np.array([1.0, 0, 0, 0])
    drawn = [
        draw_move(x, genes, [0], {(0, 1): 0.01}, 1, np.random.default_rng(i))[0][1]
        for i in range(300)
    ]
    assert drawn.count(1) < 10
    assert min(drawn.count(2), drawn.count(3)) > 100


def test_the_first_slate_is_spread_evenly():
    genes = (Gene(1, 3, True), Gene(2, 2, False))
    rows = spread(12, np.full(4, 0.5), genes, np.random.default_rng(0))
    assert len(set((rows[1:, 0] * 12).astype(int))) == 11
    assert 4 <= rows[1:, 2].sum() <= 7


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"levels": [3]}, r"require bounds=\(0, 1\)"),
        ({"levels": [1], "bounds": (0, 1)}, "levels must be 0 or from 2"),
        ({"levels": 3, "bounds": (0, 1)}, "list of whole numbers"),
        ({"choices": [[0, 1]], "bounds": (0, 1)}, "number of options from 2"),
        ({"choices": [[0, 3], [2, 2]], "bounds": (0, 1)}, "do not overlap"),
    ],
)
def test_bad_settings_are_refused_in_one_sentence(settings, words):
    with pytest.raises(InvalidInput, match=words):
        Auto(**settings)


def test_settings_for_other_coordinates_are_refused():
    with pytest.raises(InvalidInput, match="other coordinates than the 3"):
        Auto(bounds=(0, 1), levels=[2, 2]).init(np.full(3, 0.5))
