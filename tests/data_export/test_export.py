"""Exports as a user makes them, read again with the libraries that others read them with."""

import io
import json
from pathlib import Path

import numpy as np
import pytest

from tests.data_export.runs import DIM, RENDERED, Words, answered, export, new_run, read_csv
from zorank import Ranking, Run
from zorank.data_export import FORMATS, Export, export_data, renderer_of
from zorank.errors import RenderError
from zorank.renderers import REGISTRY
from zorank.renderers.interface import kinds_of


def test_csv_has_a_line_for_each_round_rater_and_candidate(run, tmp_path):
    file = tmp_path / "answers.csv"
    written = export(run, "csv", file)
    lines = read_csv(file)
    slates = [np.asarray(slate) for _, slate, _ in run.replay()]
    assert written.rows == len(lines) == 3 * sum(map(len, slates))
    assert (written.raters, written.rounds) == (3, 2)
    for line in lines:
        x = [float(line[f"x{i}"]) for i in range(DIM)]
        np.testing.assert_array_equal(x, slates[int(line["round"])][int(line["position"])])
    first = [line for line in lines if line["round"] == "0" and line["rater"] == "rater 1"]
    assert [line["place"] for line in first[:4]] == ["2", "1", "2", "4"]
    second = [line for line in lines if line["round"] == "0" and line["rater"] == "rater 2"]
    assert [line["place"] for line in second[:4]] == ["", "2", "1", ""]
    assert "Ann" not in file.read_text()
    assert RENDERED == []


def test_names_are_written_only_if_they_are_wanted(run, tmp_path):
    export(run, "pairs", tmp_path / "numbers.jsonl")
    export(run, "pairs", tmp_path / "names.jsonl", names=True)
    numbers, names = (
        [json.loads(line)["rater"] for line in (tmp_path / f).read_text().splitlines()]
        for f in ("numbers.jsonl", "names.jsonl")
    )
    known = {"rater 1": "Ann", "rater 2": "Bob", "rater 3": "Eve"}
    assert [known[rater] for rater in numbers] == names


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".json"])
def test_pairs_are_those_of_the_run(run, tmp_path, suffix):
    file = tmp_path / f"pairs{suffix}"
    export(run, "pairs", file, ties=True)
    text = file.read_text()
    if suffix == ".csv":
        rows = read_csv(file)
    else:
        rows = json.loads(text) if suffix == ".json" else [*map(json.loads, text.splitlines())]
    found = [(int(r["round"]), int(r["winner"]), int(r["loser"]), str(r["tie"])) for r in rows]
    pairs = run.pairs(ties=True)
    assert found == [(p.round, p.winner, p.loser, str(p.tie)) for p in pairs]
    assert [float(r["answered_at"]) for r in rows] == [p.answered_at for p in pairs]


def test_pictures_are_rendered_once_and_an_interrupted_export_continues(run, tmp_path):
    folder, file = tmp_path / "pictures", tmp_path / "data" / "pairs.csv"
    file.parent.mkdir()
    with pytest.raises(
        RenderError, match=r"round 0 cannot be rendered by words \(OSError: no ink"
    ):
        export(run, "pairs", file, pictures=folder, options={"fails_at": 4})
    assert not file.exists()
    assert len(list(folder.iterdir())) == 4
    progress = []
    run = answered(new_run(fails_at=10**9))
    export(run, "pairs", file, pictures=folder, progress=progress)
    dones, totals = zip(*progress, strict=True)
    assert list(dones) == sorted(dones)
    assert {dones[-1]} == set(totals)
    rendered = len(RENDERED)
    lines = read_csv(file)
    assert lines[0]["winner_picture"].startswith("../pictures/")
    for line in lines:
        for who in ("winner", "loser"):
            picture = file.parent / line[f"{who}_picture"]
            assert picture.name.startswith(line[f"{who}_candidate"])
            slate = [s for _, s, _ in run.replay()][int(line["round"])]
            x = slate[int(line[who])]
            assert picture.read_text() == f"é {x[0]:.3f} {x[1]:.3f}"
    export(run, "csv", tmp_path / "again.csv", pictures=folder)
    assert len(RENDERED) == rendered
    assert read_csv(tmp_path / "again.csv")[0]["picture"].startswith("pictures/")
    assert not [f for f in folder.iterdir() if f.name.startswith(".")]


def test_resuming_renders_only_what_is_missing(run, tmp_path):
    folder = tmp_path / "pictures"
    export(run, "csv", tmp_path / "a.csv", pictures=folder)
    kept = sorted(folder.iterdir())
    kept[0].unlink()
    RENDERED.clear()
    export(run, "csv", tmp_path / "b.csv", pictures=folder)
    assert len(RENDERED) == 1
    assert sorted(folder.iterdir()) == kept
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()


def test_trl_has_the_texts_of_strict_preferences_that_count(run, tmp_path):
    file = tmp_path / "trl.jsonl"
    export(run, "trl", file)
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    slates = [slate for _, slate, _ in run.replay()]
    pairs = [pair for pair in run.pairs() if pair.rater != "Eve"]  # whose weight is 0
    assert len(rows) == len(pairs)
    for row, pair in zip(rows, pairs, strict=True):
        winner, loser = (slates[pair.round][p] for p in (pair.winner, pair.loser))
        assert list(row) == ["prompt", "chosen", "rejected"]
        assert row["prompt"] == "Three numbers"
        assert row["chosen"] == f"é {winner[0]:.3f} {winner[1]:.3f}"
        assert row["rejected"] == f"é {loser[0]:.3f} {loser[1]:.3f}"
    export(run, "trl", file, prompt="Mine", force=True)
    assert json.loads(file.read_text().splitlines()[0])["prompt"] == "Mine"


def test_a_parquet_folder_is_complete_and_has_a_card(run, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    yaml = pytest.importorskip("yaml")
    written = export(run, "parquet", tmp_path / "data", pictures=tmp_path / "data" / "pictures")
    assert written.file == tmp_path / "data" / "data.parquet"
    rows = parquet.read_table(written.file).to_pylist()
    assert len(rows) == written.rows
    export(run, "json", tmp_path / "rows.json", pictures=tmp_path / "data" / "pictures")
    plain = json.loads((tmp_path / "rows.json").read_text())
    assert [{**row, "picture": ""} for row in rows] == [{**row, "picture": ""} for row in plain]
    assert all((tmp_path / "data" / row["picture"]).exists() for row in rows)
    _, header, body = (tmp_path / "data" / "README.md").read_text().split("---\n", 2)
    head = yaml.safe_load(header)
    assert head["license"] == "unknown"
    assert head["pretty_name"] == "Evening"
    assert head["configs"] == [{"config_name": "default", "data_files": "data.parquet"}]
    for line in ("| raters | 3 |", "| rounds | 2 |", "unknown: fill in", "replaced by numbers"):
        assert line in body
    assert all(f"| `{name}` |" in body for name in rows[0])
    assert "Ann" not in body


def test_pandas_reads_what_to_frame_returns(run, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    export(run, "parquet", tmp_path / "a.parquet", names=True)
    stored, frame = pandas.read_parquet(tmp_path / "a.parquet"), run.to_frame()
    assert list(stored.columns) == list(frame.columns)
    np.testing.assert_array_equal(np.stack(list(stored["x"])), np.stack(list(frame["x"])))
    for name in ("round", "rater", "named", "weight", "answered_at", "candidate"):
        assert stored[name].tolist() == frame[name].tolist()
    assert stored["place"].dropna().tolist() == frame["place"].dropna().tolist()


def test_diffusion_dpo_has_two_jpegs_and_a_label(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    image = pytest.importorskip("PIL.Image")
    run = answered(new_run("dots"))
    export(run, "diffusion-dpo", tmp_path / "dpo.parquet")
    rows = parquet.read_table(tmp_path / "dpo.parquet").to_pylist()
    slates = [slate for _, slate, _ in run.replay()]
    pairs = [pair for pair in run.pairs() if pair.weight > 0]
    assert len(rows) == len(pairs)
    assert {row["label_0"] for row in rows} == {0.0, 1.0}
    for row, pair in zip(rows, pairs, strict=True):
        assert list(row) == ["jpg_0", "jpg_1", "label_0", "label_1", "caption"]
        assert row["label_0"] + row["label_1"] == 1
        assert row["caption"] == "Three numbers"
        picture = image.open(io.BytesIO(row["jpg_0" if row["label_0"] else "jpg_1"]))
        assert picture.format == "JPEG"
        shown = np.asarray(picture)[4, 4].astype(float)
        wanted = 127 + 100 * np.tanh(slates[pair.round][pair.winner])
        np.testing.assert_allclose(shown, wanted, atol=6)


def test_landscapes_are_exported_as_they_were_shown(tmp_path):
    pytest.importorskip("PIL")
    meta = {"title": "Hills", "renderer": "landscape", "renderer_options": {"size": 64}}
    run = Run("zo-ranksgd", np.zeros(62), seed=1, meta=meta)
    run.ask()
    run.tell(Ranking.pair(1, 0))
    export(run, "pairs", tmp_path / "p.jsonl", pictures=tmp_path / "pictures")
    row = json.loads((tmp_path / "p.jsonl").read_text())
    kind = kinds_of(REGISTRY)["landscape"].restore({"size": 64})
    (shown,) = kind.render([next(iter(run.replay()))[1][1]])
    assert (tmp_path / row["winner_picture"]).read_bytes() == shown.data
    assert len(list((tmp_path / "pictures").iterdir())) == 2  # only those of the pair


def test_a_csv_of_very_many_coordinates_has_none(tmp_path):
    run = Run("zo-ranksgd", np.ones(1001), seed=1)
    run.ask()
    run.tell([0])
    (remark,) = export(run, "csv", tmp_path / "a.csv").remarks
    assert "no coordinates, because there are 1001" in remark
    assert "x0" not in read_csv(tmp_path / "a.csv")[0]


def test_changed_weights_are_reported(tmp_path):
    run = new_run("weighted")
    run._store.change_meta(run.name, {"weights": "before"})
    run = answered(Run.open(run._store, run.name))
    weighted = type("Weighted", (Words,), {"weights": "after"})
    source = renderer_of(run.record, kinds_of({"weighted": weighted}))
    wish = Export("trl", tmp_path / "a.jsonl")
    (remark,) = export_data(run, wish, lambda: source).remarks
    assert "the weights of the renderer weighted have changed" in remark


def test_every_format_is_documented():
    page = (Path(__file__).parents[2] / "docs" / "preference-data.md").read_text()
    assert [name for name in FORMATS if f"| `{name}` |" not in page] == []
