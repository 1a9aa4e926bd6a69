"""rank_items: things that already exist, ordered by any judge."""

import numpy as np
import pytest

import zorank
from zorank import InvalidInput, Ranking, Run, rank_items
from zorank.items import order_of
from zorank.optimizers import RankItems


def alphabetical(words):
    return sorted(range(len(words)), key=lambda i: words[i])


def test_things_of_any_type_are_ordered():
    words = ["pear", "apple", "fig", "cherry", "date", "banana", "grape"]
    found = rank_items(words, alphabetical, m=4)
    assert found.ranked == sorted(words)
    assert [words[i] for i in found.order] == sorted(words)
    assert np.all(np.diff(found.scores[found.order]) < 0)
    assert found.sd.shape == (7,)
    assert (found.ahead > 0.5).all()
    assert found.is_settled
    assert found.certainty >= 0.95


def test_the_same_seed_gives_the_same_numbers():
    things = list(range(9))
    first, second = (rank_items(things, alphabetical, rounds=8, seed=3) for _ in range(2))
    assert first.scores.tobytes() == second.scores.tobytes()
    assert first.rounds == second.rounds <= 8


def test_a_stored_run_is_continued(tmp_path):
    store = f"sqlite:///{tmp_path}/runs.db"
    rank_items("gfedcba", alphabetical, rounds=2, store=store, name="letters", m=3)
    asked = []

    def counted(letters):
        asked.append(letters)
        return alphabetical(letters)

    found = rank_items("gfedcba", counted, rounds=5, store=store, name="letters", m=3)
    assert (found.rounds, len(asked)) == (5, 3)


def test_ask_and_tell_through_a_run():
    run = Run(RankItems(items=3), [0.0])
    run.ask()
    run.tell(Ranking.of([2, 0, 1]))
    assert order_of(run, "abc").rounds == 1
    with pytest.raises(InvalidInput, match="ranks 3 items, found 2"):
        order_of(run, "ab")
    with pytest.raises(InvalidInput, match="only runs of rank-items have an order"):
        order_of(Run("auto", [0.0]), "ab")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((["one"], alphabetical), "at least two items, found 1"),
        (("ab", None), "judge must be a function"),
        (("ab", lambda them: [5]), "position 5 is not on a slate of 2"),
    ],
)
def test_bad_input_is_one_sentence(arguments, words):
    with pytest.raises(InvalidInput, match=words):
        rank_items(*arguments)
    assert "rank_items" in zorank.__all__


@pytest.mark.parametrize(("name", "value"), [("certainty", 2), ("rounds", -1), ("m", 0)])
def test_bad_settings_are_one_sentence(name, value):
    with pytest.raises(InvalidInput, match=name):
        rank_items("abc", alphabetical, **{name: value})
