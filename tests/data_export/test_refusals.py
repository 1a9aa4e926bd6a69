"""What an export refuses, in one sentence and without half a file."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.data_export.runs import RENDERED, answered, export, new_run
from zorank import InvalidInput, MissingExtra, Ranking, Run
from zorank.errors import RenderError, install_command


def no_answers(tmp_path):
    return new_run()


def only_ties(tmp_path):
    run = new_run()
    run.ask()
    run.tell(Ranking.no_difference())
    return run


@pytest.mark.parametrize(
    ("made", "wish", "message"),
    [
        (None, {"format": "cvs"}, "no format named 'cvs'; did you mean csv"),
        (None, {"format": "parquet"}, "name a file with --out"),
        (None, {"format": "csv", "out": "a.parquet"}, "needs a file that ends in .csv"),
        (None, {"format": "csv", "out": "none/a.csv"}, "none is not a folder"),
        (None, {"format": "csv", "out": "old.csv"}, "exists; choose another name"),
        (None, {"format": "csv", "out": "old.csv/a"}, "is not a folder"),
        (None, {"format": "csv", "out": "a.csv", "pictures": "old.csv"}, "cannot be written"),
        (None, {"format": "csv", "ties": True}, "--ties is an option of the format pairs"),
        (no_answers, {"format": "csv"}, "has no answers yet"),
        (only_ties, {"format": "pairs"}, "prefer no candidate to another"),
        (None, {"format": "diffusion-dpo", "out": "a.parquet"}, "but the renderer words makes"),
        (None, {"format": "trl", "wanted": "wrods"}, "did you mean words"),
    ],
)
def test_wrong_requests_are_refused_and_nothing_is_written(
    run, tmp_path, monkeypatch, made, wish, message
):
    monkeypatch.chdir(tmp_path)
    Path("old.csv").write_text("old")
    chosen = run if made is None else made(tmp_path)
    paths = {key: Path(wish[key]) for key in ("out", "pictures") if key in wish}
    with pytest.raises(InvalidInput, match=message):
        export(chosen, **(wish | paths))
    assert [f.name for f in tmp_path.iterdir()] == ["old.csv"]
    assert Path("old.csv").read_text() == "old"


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder of the system's own")
def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_rendered(run, tmp_path):
    system = Path("/proc")  # where even root cannot make files
    with pytest.raises(InvalidInput, match=r"/proc/a.jsonl cannot be written"):
        export(run, "trl", system / "a.jsonl")
    with pytest.raises(InvalidInput, match=r"/proc/data/data.jsonl cannot be written"):
        export(run, "trl", system / "data")
    with pytest.raises(InvalidInput, match=r"/proc cannot be written"):
        export(run, "csv", tmp_path / "a.csv", pictures=system)
    assert RENDERED == []
    assert list(tmp_path.iterdir()) == []


def test_a_missing_package_is_named_before_anything_is_rendered(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=re.escape(install_command("export"))):
        export(run, "parquet", tmp_path / "data", pictures=tmp_path / "pictures")
    assert list(tmp_path.iterdir()) == RENDERED == []


def test_force_replaces_and_a_failure_keeps_the_old_file(run, tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text("old")
    with pytest.raises(RenderError):
        export(run, "trl", file, options={"fails_at": 4}, force=True)
    assert file.read_text() == "old"
    export(run, "trl", file, options={"fails_at": 10**9}, force=True)
    assert file.read_text() != "old"
    assert [f.name for f in tmp_path.iterdir()] == ["a.jsonl"]


def test_pictures_of_trl_are_refused_with_the_format_to_use():
    with pytest.raises(InvalidInput, match="use --format diffusion-dpo"):
        export(answered(new_run("dots")), "trl")


def test_a_renderer_that_is_not_known_is_not_guessed(tmp_path):
    own = answered(new_run("mine:Renderer"))
    with pytest.raises(InvalidInput, match="allow it with --renderer mine:Renderer"):
        export(own, "trl")
    plain = Run("zo-ranksgd", np.ones(2), seed=1)
    plain.ask()
    plain.tell([0])
    with pytest.raises(InvalidInput, match="was not made in the studio"):
        export(plain, "csv", tmp_path / "a.csv", pictures=tmp_path / "pictures")
    with pytest.raises(InvalidInput, match="takes candidates of 3 numbers, but those of run"):
        export(plain, "trl", wanted="words")
    assert list(tmp_path.iterdir()) == []
