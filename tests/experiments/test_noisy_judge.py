"""zorank bench noise: auto beside tuned ZO-RankSGD."""

import json
from pathlib import Path

import pytest

from zorank.errors import InvalidInput
from zorank.experiments import noisy_judge

TUNED = Path(__file__).parents[2] / "docs" / "results" / "noise.json"


def test_the_cases_are_those_that_were_tuned():
    cases = noisy_judge.cases_of(TUNED)
    assert [case.where for case in cases][:2] == ["Quadratic, noise 0.1", "Quadratic, noise 1"]
    trials = noisy_judge.trials(cases)
    assert len(trials) == len(set(trials)) == sum(2 * len(case.seeds) for case in cases)


def test_a_file_without_settings_is_refused(tmp_path):
    (tmp_path / "noise.json").write_text(json.dumps({"lines": [{}]}))
    with pytest.raises(InvalidInput, match=r"has no tuned settings .* zorank reproduce noise"):
        noisy_judge.cases_of(tmp_path / "noise.json")
    (tmp_path / "noise.json").write_text(json.dumps({"lines": [{"method": "zo-sgd"}]}))
    with pytest.raises(InvalidInput, match="has no settings of zo-ranksgd"):
        noisy_judge.cases_of(tmp_path / "noise.json")


def test_lower_values_make_the_claim_hold():
    case = noisy_judge.cases_of(TUNED)[0]
    rows = {}
    for trial in noisy_judge.trials([case]):
        value = (1.0 if trial.setting.method == "auto" else 3.0) * (1 + trial.seed / 100)
        rows[trial] = {"points": [10_000], "calls": [1], "values": [value], "at_calls": [value]}
    report = noisy_judge.report([case], rows)
    (claim,) = report.claims
    assert claim.holds
    assert claim.measured == pytest.approx(3)
    assert report.summary["rows"][0]["zo-ranksgd"] == pytest.approx(3 * 1.045)
