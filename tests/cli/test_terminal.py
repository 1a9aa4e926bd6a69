import numpy as np
import pytest

from zorank import InvalidInput, Ranking, Run
from zorank.cli.terminal import parse_order, rank_in_terminal


@pytest.mark.parametrize(
    ("typed", "ranking"),
    [
        ("3 1", Ranking.of([3, 1])),
        ("3 1=4", Ranking.of([3, [1, 4]])),
        ("3 / 0", Ranking.of([3], worst=[0])),
        ("/ 0=2", Ranking.of([], worst=[[0, 2]])),
        ("", Ranking.no_difference()),
    ],
)
def test_what_is_typed_is_read(typed, ranking):
    assert parse_order(typed) == ranking


@pytest.mark.parametrize("typed", ["a", "1.5", "1==2", "-1", "1 1"])
def test_what_makes_no_sense_is_refused(typed):
    with pytest.raises(InvalidInput):
        parse_order(typed)


def test_a_session_with_mistakes_and_undo():
    run = Run("zo-ranksgd-memory", np.ones(3), seed=1)
    lines = iter(["2 1", "99", "nonsense", "0", "u", "u", "3", "q"])
    said = []
    rank_in_terminal(run, 10, lambda x: f"<{x.size}>", lambda _: next(lines), said.append)
    assert [r.answer for r in run.rounds() if r.answer] == [Ranking.of([3])]
    text = "\n".join(said)
    assert "<3>" in text
    assert "position 99 is not on a slate of 6" in text
    assert "whole numbers such as" in text


def test_it_stops_at_the_end_of_input_and_after_the_rounds():
    run = Run("zo-ranksgd-memory", np.ones(3))

    def end(_):
        raise EOFError

    rank_in_terminal(run, 5, None, end, lambda _: None)
    assert run.history == []
    rank_in_terminal(run, 2, None, lambda _: "0", lambda _: None)
    assert len(run.history) == 2


def test_a_person_types_at_the_command_line(zorank):
    line = ("minimize", "--human", "--dim", 3, "--name", "typed")
    for rounds in (2, 4):
        code, out, err = zorank(*line, "--rounds", rounds, input="1 0\n0\n2\n0\n")
        assert code == 0, err
        assert "Rank the ones you like" in out
        assert f"{rounds} answers" in out


SPACE_FILE = """
lr = {log = [1e-5, 1e-1]}
layers = {int = [1, 8]}
act = {choice = ["relu", "gelu"]}
"""


def test_a_space_is_read_from_a_file(printed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "space.toml").write_text(SPACE_FILE)
    (tmp_path / "tune.py").write_text("def loss(p):\n    return abs(p['layers'] - 5)\n")
    out = printed("minimize", "tune:loss", "--space", "space.toml", "--points", 100, "--quiet")
    assert "layers=5" in out


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        (SPACE_FILE, ["--dim", "3"], "--space and --dim exclude each other"),
        ("lr = {lag = [1, 2]}", [], "did you mean log"),
        ("lr = ", [], "cannot be read"),
        ("x = {log = [0, 1]}", [], "Log must begin above 0"),
    ],
)
def test_a_wrong_space_is_one_sentence(text, arguments, words, tmp_path, refused):
    file = tmp_path / "space.toml"
    file.write_text(text)
    found = refused("minimize", "zorank.problems:sphere", "--space", file, *arguments)
    assert words in found


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("space.json", '{"x": {"float": [0, 1]}, "x": {"float": [0, 2]}}', "the name 'x' 2 times"),
        ("space.json", '{"x": {"float": [0, 1], "float": [0, 2]}}', "the name 'float' 2 times"),
        ("/dev/zero", None, "has more than 1000000 characters"),
    ],
)
def test_a_space_has_an_end_and_each_name_once(file, text, words, tmp_path, refused):
    path = tmp_path / file  # an absolute file stays what it is
    if text is not None:
        path.write_text(text)
    elif not path.exists():
        pytest.skip(f"there is no {path} here")
    assert words in refused("minimize", "zorank.problems:sphere", "--space", path)
