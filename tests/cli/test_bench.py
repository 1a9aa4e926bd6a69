"""zorank bench as a user types it, and what zorank plan says of its measurements."""

import csv
import json
import sys

import pytest

from zorank.cli import main


def test_the_benchmark_of_judges_from_end_to_end_and_again(zorank, tmp_path):
    line = ("bench", "judges", "--quick", "--seeds", 2, "--rounds", 1, "--out", "results")
    code, out, err = zorank(*line)
    assert (code, err.count("Traceback")) == (0, 0), err
    for words in ("too few runs", "Gain after 12 pictures", "hidden", "Claims", "judges.png"):
        assert words in out
    folder = tmp_path / "results"
    found = json.loads((folder / "judges.json").read_text())
    assert found["quick"] is True
    assert (found["seeds"], found["pictures"], len(found["cases"])) == (2, 12, 8)
    claims = {"name", "holds", "measured", "needed", "standard_error"}
    assert all(claims <= claim.keys() for claim in found["claims"])
    assert {row["m"] for row in found["mk"]} == {2, 6, 10}
    with (folder / "judges.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    kept = (folder / "judges.cells.jsonl").read_text()
    assert len(rows) == kept.count("\n")
    assert {len(row["gains"].split()) for row in rows if row["m"] == "6"} == {2}
    assert (folder / "judges.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / "judges.svg").read_text()

    code, _, _ = zorank(*line, "--only", "mk")
    assert code == 0
    assert (folder / "judges.cells.jsonl").read_text() == kept
    assert "cases" not in json.loads((folder / "judges.json").read_text())


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


@pytest.fixture
def printed(monkeypatch, capsys):
    """What the command line prints, run in this process."""

    def call(*arguments):
        monkeypatch.setenv("COLUMNS", "100")
        monkeypatch.setattr(sys, "argv", ["zorank", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit:
            main()
        assert exit.value.code == 0
        return capsys.readouterr().out

    return call


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
