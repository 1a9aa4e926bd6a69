"""With record_values=False no value, reward or note of one is in a store."""

import json
import sqlite3
import struct
from contextlib import closing

import numpy as np
import pytest

from zorank import InvalidInput, ReplayError, minimize
from zorank.problems import sphere
from zorank.rl import PolicyProblem, PolicySearch
from zorank.stores import open_store


class Watched:
    """Remembers every value that an objective returned."""

    def __init__(self, f):
        self.f, self.values = f, []

    def __call__(self, x):
        self.values.append(float(self.f(x)))
        return self.values[-1]


def contents(file):
    """Everything that a database keeps, as bytes."""
    with closing(sqlite3.connect(file)) as database:
        return "\n".join(database.iterdump()).encode() + file.read_bytes()


def forms(value):
    """How a number may be written: as text with all or twelve digits, or as eight bytes.

    Fewer digits would also be found in times and keys: f"{1004.0046:.6g}" is "1004".
    """
    texts = (repr(value), f"{value:.11e}".split("e")[0], f"{value:.12g}")
    packed = (struct.pack("<d", value), struct.pack(">d", value))
    return [
        *(text.encode() for text in texts),
        *packed,
        *(p.hex().upper().encode() for p in packed),
    ]


def found(file, values):
    kept = contents(file)
    return [value for value in values if any(form in kept for form in forms(value))]


@pytest.mark.parametrize("method", ["auto", "zo-ranksgd", "rank-process", "cma-es"])
def test_a_minimised_functions_values_are_not_stored(tmp_path, method):
    f = Watched(lambda x: 1000 + sphere(x - 0.3))
    settings = {"points": 120, "method": method, "name": "secret"}
    quiet = minimize(f, np.ones(5), store=str(tmp_path / "a.db"), record_values=False, **settings)
    assert found(tmp_path / "a.db", f.values) == []
    assert all(
        "value" not in row.note for row in open_store(str(tmp_path / "a.db")).rounds("secret")
    )
    open_run = minimize(f, np.ones(5), store=str(tmp_path / "b.db"), **settings)
    assert found(tmp_path / "b.db", f.values) != []  # so the search above would have found them
    # The run is the same, and whoever started it still sees the values.
    assert quiet.x.tobytes() == open_run.x.tobytes()
    assert [row["value"] for row in quiet.history] == [row["value"] for row in open_run.history]


def test_a_run_without_values_is_resumed_without_them(tmp_path):
    url, settings = str(tmp_path / "runs.db"), {"method": "zo-ranksgd", "name": "secret"}
    minimize(sphere, np.ones(5), 100, store=url, record_values=False, **settings)
    longer = minimize(sphere, np.ones(5), 200, store=url, record_values=False, **settings)
    whole = minimize(sphere, np.ones(5), 200, method="zo-ranksgd")
    assert longer.x.tobytes() == whole.x.tobytes()
    assert longer.history[0]["best"] is None
    assert longer.history[-1]["best"] is not None


def test_a_method_that_is_told_values_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="zo-sgd is told values, so its log contains them"):
        minimize(
            sphere, np.ones(3), 50, "zo-sgd", store=str(tmp_path / "a.db"), record_values=False
        )
    assert open_store(str(tmp_path / "a.db")).runs() == []
    with pytest.raises(InvalidInput, match="zo-sgd is told values"):
        PolicySearch(PolicyProblem("Pendulum-v1"), "zo-sgd", record_values=False)


@pytest.mark.parametrize("first", [True, False])
def test_the_choice_stays_with_the_run(tmp_path, first):
    settings = {"method": "zo-ranksgd", "store": str(tmp_path / "a.db"), "name": "a"}
    minimize(sphere, np.ones(3), 50, record_values=first, **settings)
    with pytest.raises(ReplayError, match="resume it in the same way"):
        minimize(sphere, np.ones(3), 100, record_values=not first, **settings)
    with pytest.raises(InvalidInput, match="record_values must be True or False, found 'no'"):
        minimize(sphere, np.ones(3), 50, record_values="no")


@pytest.mark.simulator
def test_rewards_of_policies_are_not_stored(zorank, tmp_path):
    code, out, err = zorank(
        *("rl", "Pendulum-v1", "--rounds", "4", "--no-values", "--no-video", "--out", "quiet")
    )
    assert code == 0, err
    assert "no rewards" in out
    folder = tmp_path / "quiet"
    assert sorted(file.name for file in folder.iterdir()) == ["policy.json", "run.db"]
    assert "reward" not in json.loads((folder / "policy.json").read_text())
    rounds = open_store(str(folder / "run.db")).rounds("policy")
    assert {key for row in rounds for key in row.note} == {"seen"}
    # The same search with rewards takes the same way.
    code, _, err = zorank(*("rl", "Pendulum-v1", "--rounds", "4", "--no-video", "--out", "open"))
    assert code == 0, err
    known = [
        row.note["mean_return"]
        for row in open_store(str(tmp_path / "open" / "run.db")).rounds("policy")
        if row.note
    ]
    assert len(known) == 4
    assert found(tmp_path / "open" / "run.db", known) == known
    assert found(folder / "run.db", known) == []
    quiet, seen = (
        json.loads((tmp_path / name / "policy.json").read_text()) for name in ("quiet", "open")
    )
    assert quiet["parameters"] == seen["parameters"]
