"""`zorank runs export` as a user types it."""

import csv
import io
import json

import numpy as np
import pytest

from zorank import Run

RENDERER = """
from zorank.types import Exhibit

class Lines:
    dim = 3
    media_type = "text/plain"
    prompt = "A line"

    def render(self, candidates):
        return [Exhibit("text/plain", f"{x[0]:.4f}".encode()) for x in candidates]
"""


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A store with the run "lines", which a renderer of the user's own shows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ZORANK_STORE", f"sqlite:///{tmp_path}/runs.db")
    (tmp_path / "mine.py").write_text(RENDERER)
    meta = {"title": "Lines", "renderer": "mine:Lines", "renderer_options": {}}
    run = Run("zo-ranksgd", np.ones(3), 1, f"sqlite:///{tmp_path}/runs.db", "lines", meta)
    run.ask()
    run.tell([1, [0, 2]], rater="Ann")
    return run


def test_without_a_format_the_whole_run_is_exported_as_before(store, printed, tmp_path):
    whole = json.loads(printed("runs", "export", "lines"))
    assert whole == json.loads(json.dumps(store.export()))
    (tmp_path / "run.json").write_text("old")
    printed("runs", "export", "lines", "--out", "run.json")
    assert json.loads((tmp_path / "run.json").read_text()) == whole


def test_data_go_to_standard_output(store, printed):
    rows = list(csv.DictReader(io.StringIO(printed("runs", "export", "lines", "--format", "csv"))))
    assert len(rows) == 10
    assert {row["rater"] for row in rows} == {"rater 1"}
    pairs = printed("runs", "export", "lines", "--format", "pairs", "--names", "--ties")
    found = [json.loads(line) for line in pairs.splitlines()]
    assert [(p["winner"], p["loser"], p["rater"]) for p in found if p["tie"]] == [(0, 2, "Ann")]


def test_a_process_exports_with_a_renderer_of_ones_own(store, zorank, tmp_path):
    call = ("runs", "export", "lines", "--format", "trl", "--out", "set")
    code, _, err = zorank(*call)
    assert code == 2
    assert "allow it with --renderer mine:Lines" in err
    assert not (tmp_path / "set").exists()
    code, out, err = zorank(*call, "--renderer", "mine:Lines", "--pictures", "set/texts")
    assert code == 0, err
    assert "set/data.jsonl has 23 rows of 1 rater in 1 round" in out
    rows = [json.loads(line) for line in (tmp_path / "set/data.jsonl").read_text().splitlines()]
    assert {row["prompt"] for row in rows} == {"A line"}
    assert len(list((tmp_path / "set/texts").glob("*.txt"))) == 10
    assert (tmp_path / "set/README.md").read_text().startswith("---\nlicense: unknown")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--format cvs", "did you mean csv?"),
        ("--format parquet", "name a file with --out"),
        ("--format csv --out mine.py", "needs a file that ends in .csv"),
        ("--names", "add --format"),
        ("--format csv --pictures p --renderer nobody", "no renderer named 'nobody'"),
        ("--format csv --pictures p --renderer landscape", "takes candidates of 62 numbers"),
        ("--format trl --renderer mine:Lines --option colour=red", "cannot take"),
    ],
)
def test_wrong_requests_are_refused_in_one_sentence(store, refused, tmp_path, options, message):
    before = {f for f in tmp_path.iterdir() if f.name != "__pycache__"}
    assert message in refused("runs", "export", "lines", *options.split())
    assert {f for f in tmp_path.iterdir() if f.name != "__pycache__"} == before
