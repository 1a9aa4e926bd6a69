"""Runs that start at a given point: over HTTP, on the command line, and what they show."""

import json

import numpy as np
import pytest

from tests.helpers.studio_server import Small, client_of
from tests.renderers.test_starts import A1111, png

DIM = Small.dim


def client(store, **settings):
    return client_of(store, {"small": Small}, **settings)


def made(opened, method="rank-process", **body):
    answer = opened.post(
        "/api/runs", json={"renderer": "small", "m": 4, "seed": 1, "method": method, **body}
    )
    return answer.raise_for_status().json()["id"]


@pytest.mark.parametrize("method", ["rank-looks", "rank-process", "zo-ranksgd-memory"])
def test_a_run_starts_at_the_given_vector(store, method):
    opened = client(store)
    x0 = np.random.default_rng(7).standard_normal(DIM)
    placed = x0 * np.sqrt(DIM) / np.linalg.norm(x0)
    run = made(opened, x0=x0.tolist(), method=method)
    record = store.record(run)
    assert np.array_equal(record.x0, x0)
    assert record.meta["start"] == "a given vector"
    waiting = opened.get(f"/api/runs/{run}/round").json()
    assert waiting["question"] == "rank"
    if method != "zo-ranksgd-memory":  # it shows neighbours only
        shown = np.asarray(opened.app.state.studio.loaded[-1].run.ask())
        assert np.abs(shown - placed).max(axis=1).min() < 1e-9
    for index in range(2):
        opened.post(f"/api/runs/{run}/rounds/{index}/answer", json={"order": [[1], [0]]})
    start = opened.app.state.studio.loaded[-1].start
    assert np.allclose(start, placed)
    assert opened.get(f"/api/runs/{run}/start").status_code == 200


def test_a_start_of_the_studio_is_that_of_runs_that_name_none(store):
    opened = client(store, start="seed:5:cpu")
    five = np.random.default_rng(5).standard_normal(DIM)
    assert np.array_equal(store.record(made(opened)).x0, five)
    six = np.random.default_rng(6).standard_normal(DIM)
    assert np.array_equal(store.record(made(opened, x0="seed:6")).x0, six)
    free = store.record(made(opened, x0=None))
    assert "start" not in free.meta
    assert opened.get(f"/api/runs/{free.name}/round").json()["question"] == "start"


@pytest.mark.parametrize(
    ("x0", "words"),
    [
        ("seed:x", "a start must be seed:N"),
        ("/etc/passwd", "a start must be seed:N"),
        ([1.0, 2.0], "the start has 2 numbers"),
        (["1"], "x0"),
        ([], "at least one number"),
    ],
)
def test_what_is_no_start_gets_422_and_makes_no_run(store, x0, words):
    refused = client(store).post("/api/runs", json={"renderer": "small", "x0": x0})
    assert refused.status_code == 422
    assert words in refused.json()["detail"]
    assert store.runs() == []


def test_a_vector_as_long_as_that_of_a_large_model_is_taken(store):
    body = {"renderer": "small", "x0": [-0.12345678901234567] * 65_536}
    assert len(json.dumps(body)) > 1_000_000
    refused = client(store).post("/api/runs", json=body)
    assert (refused.status_code, "65536 numbers" in refused.json()["detail"]) == (422, True)


def test_the_seed_of_a_picture_is_read(store):
    opened = client(store)
    found = opened.post("/api/starts", content=png(parameters=A1111))
    assert found.json() == {"x0": "seed:1234:cuda:512x768"}
    refused = opened.post("/api/starts", content=b"<svg/>")
    assert (refused.status_code, "must be a PNG" in refused.json()["detail"]) == (422, True)


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ("seed:one", "a start must be seed:N"),
        ("gone.png", "the start cannot be read from gone.png"),
        ("gone.json", "the start cannot be read from gone.json"),
        ("text.png", "must be a PNG of A1111 or ComfyUI"),
        ("words.json", "the start in words.json"),
    ],
)
def test_the_command_line_refuses_other_starts(refused, tmp_path, monkeypatch, start, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.png").write_text("no picture")
    (tmp_path / "words.json").write_text('["one", "two"]')
    given = ("--renderer", "landscape", "--start", start)
    assert words in refused("studio", "--no-browser", "--store", tmp_path / "x.db", *given)
