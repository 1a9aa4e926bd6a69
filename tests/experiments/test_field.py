"""zorank bench field: races on BBOB, how they are scored, and the peers in them."""

import json

import numpy as np
import pytest

from zorank.errors import MissingExtra
from zorank.experiments.bbob import TARGETS, Study, Trial, area, bbob, run_trial, standings
from zorank.experiments.peers import OPTIONAL_PEERS, PEERS, load_peer, ranks
from zorank.problems import ellipsoid


def test_the_area_is_how_early_targets_were_hit():
    hits = np.array([[10.0, np.inf], [3000.0, 5.0], [10 * 300**0.5, np.inf]])
    assert area(hits, 10, 300).tolist() == pytest.approx([0.5, 0.5, 0.25])


def test_a_function_of_the_suite_and_its_minimum():
    f, optimum = bbob(1, 3, 5)
    values = [f(x) for x in np.random.default_rng(0).uniform(-5, 5, (50, 5))]
    assert min(values) > optimum
    again, same = bbob(1, 3, 5)
    assert (again(np.zeros(5)), same) == (f(np.zeros(5)), optimum)


def values_seen(contender, transform, points=480):
    found = []
    while len(found) < points:
        values = ellipsoid(contender.ask())
        found += values.tolist()
        contender.tell(transform(values))
    return found


@pytest.mark.parametrize("peer", list(PEERS))
def test_every_peer_makes_progress_and_uses_ranks_only(peer):
    plain, other = (values_seen(PEERS[peer](np.full(4, 2.0), 1.0, 3), t) for t in (abs, np.log))
    assert min(plain) < 0.05 * max(plain[:8])
    assert other == plain


@pytest.mark.parametrize("peer", list(OPTIONAL_PEERS))
def test_optional_peers_use_ranks_only(peer):
    pytest.importorskip(peer.split()[0])
    start = np.full(40, 2.0)
    plain, other = (values_seen(OPTIONAL_PEERS[peer](start, 1.0, 3), t) for t in (abs, np.log))
    assert min(plain) < 0.9 * plain[0]
    assert other == plain


def test_a_missing_peer_library_is_named():
    with pytest.raises(MissingExtra, match=r"pip install no_such_library$"):
        load_peer("no_such_library.optimizers")


def test_ranks():
    assert ranks(np.array([3.0, -1.0, 7.0])).tolist() == [1, 0, 2]


def test_a_trial_is_a_function_of_its_fields():
    trial = Trial("auto", 1, 2, 3, 100)
    first, second = run_trial(trial), run_trial(trial)
    assert first["hits"] == second["hits"]
    hit = [h for h in first["hits"] if h is not None]
    assert len(first["hits"]) == len(TARGETS)
    assert hit == sorted(hit)
    assert hit[-1] <= 300


def test_standings_of_a_small_meeting():
    study = Study(
        dims=(2,), instances=(1, 2), peers=("auto", "pycma"), points_per_dim=60, functions=(1, 8)
    )
    found = standings(study, {trial: run_trial(trial) for trial in study.trials()})
    assert found["auto", 2].areas.shape == (2, 2)
    assert (found["auto", 2].areas[0] > found["auto", 2].areas[1]).all()  # sphere, Rosenbrock
    assert len(found["pycma", 2].when) == 2 * 2 * len(TARGETS)


def test_the_command(zorank, tmp_path):
    line = ("bench", "field", "--dim", 2, "--peer", "auto", "--instances", "1", "--points", 10)
    code, out, err = zorank(*line, "--out", "races")
    assert code == 0, err
    assert "auto" in out
    found = json.loads((tmp_path / "races" / "field.json").read_text())
    (row,) = found["standings"]
    assert len(row["functions"]) == 24
    assert (tmp_path / "races" / "field.png").read_bytes().startswith(b"\x89PNG")
    kept = (tmp_path / "races" / "field.cells.jsonl").read_text()
    assert zorank(*line, "--out", "races")[0] == 0
    assert (tmp_path / "races" / "field.cells.jsonl").read_text() == kept


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--peer", "pycm"], "did you mean pycma"),
        (["--instances", "5-1"], "FIRST-LAST"),
        (["--instances", "all"], "FIRST-LAST"),
    ],
)
def test_wrong_requests(refused, arguments, words):
    assert words in refused("bench", "field", *arguments)
