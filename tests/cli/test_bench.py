"""zorank bench as a user types it, and what zorank plan says of its measurements."""

import json
from pathlib import Path

import pytest

from tests.helpers.benchmarks import BenchmarkCommand

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def test_the_benchmark_of_judges_from_end_to_end_and_again(zorank, tmp_path):
    def printed(*arguments):
        code, out, err = zorank(*arguments)
        assert (code, err.count("Traceback")) == (0, 0), err
        return out

    settings = ("--quick", "--seeds", 2, "--rounds", 1)
    command = BenchmarkCommand(printed, tmp_path, "judges", *settings)
    out, found = command.run()
    for words in ("too few runs", "Gain after 12 pictures", "hidden", "Claims", "judges.png"):
        assert words in out
    assert found["quick"] is True
    assert (found["seeds"], found["pictures"], len(found["cases"])) == (2, 12, 8)
    claims = {"name", "holds", "measured", "needed", "standard_error"}
    assert all(claims <= claim.keys() for claim in found["claims"])
    assert {row["m"] for row in found["mk"]} == {2, 6, 10}
    assert {len(row["gains"].split()) for row in command.rows() if row["m"] == "6"} == {2}

    kept = command.trials()
    _, found = command.run("--only", "mk")
    assert command.trials() == kept
    assert "cases" not in found


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--update-measured", "--only", "people"], "add --only mk"),
        (["--update-measured", "--quick"], "leave out --quick"),
        (["--quick", "--only", "mk", "--out", "/dev/null/x"], "cannot be"),
    ],
)
def test_a_wrong_request_is_one_sentence(arguments, words, refused):
    assert words in refused("bench", "judges", *arguments)


def test_the_plan_shows_what_was_measured(printed):
    out = printed("plan", "--dim", 576)
    assert "Measured: simulated raters, 126 pictures" in out
    assert "Recommended by measurement: show" in out
    advice = printed("plan", "--dim=9", "--rank=3").partition("Recommended by measurement: ")[2]
    three_named = ("show 4, have all of them ranked", "have the best 3 ranked")
    assert any(words in advice.partition(": the shortest round")[0] for words in three_named)
    assert "Measured" not in printed("plan", "--dim=9", "--rank=11")


def test_the_help_teaches(printed):
    out = printed("bench", "judges", "--help")
    for words in ("hidden taste", "--update-measured", "Ctrl-C loses no"):
        assert words in out


def test_the_benchmark_of_mixed_spaces_from_end_to_end(printed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = ("--seeds", 1, "--problem", "training", "--peer", "auto", "--peer", "random")
    command = BenchmarkCommand(printed, tmp_path, "mixed", *settings, "--workers", 1)
    out, found = command.run()
    assert "median win rate" in out
    assert [standing["points"] for standing in found["standings"]] == [100, 300, 1000]
    assert found["standings"][2]["overall"]["random"]["ahead"] == 1
    kept = command.trials()
    command.run()
    assert command.trials() == kept


def test_the_benchmark_of_items_from_end_to_end_and_again(printed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    methods = ("rank-items", "random slates", "merge sort")
    chosen = [word for method in methods for word in ("--method", method)]
    command = BenchmarkCommand(printed, tmp_path, "items", "--quick", "--workers", 1, *chosen)
    out, found = command.run()
    for words in ("too few runs", "Kendall's τ of 60 items, spread 2", "items.png"):
        assert words in out
    assert (found["items"], found["marks"], len(found["seeds"])) == (60, [120, 240], 2)
    by_method = {(r["method"], r["spread"]): r for r in found["results"]}
    assert by_method["rank-items", 2.0]["tau"][1] > by_method["merge sort", 2.0]["tau"][0]
    assert by_method["rank-items", 2.0]["expected_right_pairs"][1] > 0.7
    assert by_method["merge sort", 2.0]["expected_right_pairs"] is None
    kept = command.trials()
    command.run()
    assert command.trials() == kept


def test_single_functions_and_a_noisy_judge(printed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    chosen = ("--only", "scale", "--only", "top", "--dim", 5, "--seeds", 2, "--peer", "auto")
    chosen += ("--peer", "auto: best 3 of 6", "--workers", 1)
    out, found = BenchmarkCommand(printed, tmp_path, "functions", *chosen).run()
    assert "scale: median points to the targets" in out
    ends = {r["sigma0"]: r["median_points"][0] for r in found["results"] if r["part"] == "scale"}
    assert set(ends) == {0.1, 1.0, 10.0}
    assert max(ends.values()) < 500
    line = json.loads((RESULTS / "noise.json").read_text())["lines"][0]
    (tmp_path / "noise.json").write_text(json.dumps({"lines": [{**line, "seeds": [0, 1]}]}))
    few = ("--points", 100, "--out", "noisy", "--workers", 1)
    out = printed("bench", "noise", "noise.json", *few)
    assert "auto ahead of ZO-RankSGD" in out


def test_an_unknown_ranker_is_one_sentence(refused):
    assert "did you mean random pairs" in refused("bench", "items", "--method", "random pair")
