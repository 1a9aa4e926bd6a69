"""The studio with its default method: what it costs, what it knows, whoever answers."""

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from tests.helpers.studio_server import PLAIN_RENDERER, Server, started
from zorank import Run, optimizers
from zorank.optimizers import RankProcess
from zorank.studio import methods

TASTE = np.array([1.0, -2.0, 0.5, 1.5, -1.0])


def new_run(client, renderer="plain", **settings):
    made = client.post(
        "/api/runs", json={"renderer": renderer, "seed": 5, "method": "rank-process", **settings}
    )
    return made.raise_for_status().json()["id"]


def by_taste(shown, eye):
    """The three best, as somebody with a good eye sees them."""
    seen = np.array(shown) @ TASTE + 0.3 * eye.standard_normal(len(shown))
    return [[int(i)] for i in np.argsort(seen)[::-1][:3]]


def look(client, run_id):
    """The waiting round: its index, and the vectors on screen."""
    index = client.get(f"/api/runs/{run_id}/round").raise_for_status().json()["index"]
    shown = client.get(f"/api/runs/{run_id}/rounds/{index}/candidates").raise_for_status().json()
    return index, shown["candidates"]


def answer(client, run_id, order, **more):
    index = client.get(f"/api/runs/{run_id}/round").json()["index"]
    url = f"/api/runs/{run_id}/rounds/{index}/answer"
    return client.post(url, json={"order": order, **more}).raise_for_status().json()


def rank(client, run_id, rounds, eye):
    """Rank by taste; what was said of the run after every round."""
    said = []
    for _ in range(rounds):
        _, shown = look(client, run_id)
        answer(client, run_id, by_taste(shown, eye))
        said.append(client.get(f"/api/runs/{run_id}").raise_for_status().json())
    return said


@pytest.mark.server
def test_twenty_rounds_over_http_with_undo_a_branch_a_restart_and_two_raters(
    tmp_path, monkeypatch
):
    (tmp_path / "plain.py").write_text(PLAIN_RENDERER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    server = Server(tmp_path / "runs.db", "--renderer", "plain:Plain").start()
    eye = np.random.default_rng(3)
    try:
        with server.client() as client:
            run_id = new_run(client, "plain:Plain")
            rank(client, run_id, 12, eye)
            twelve = look(client, run_id)
            rank(client, run_id, 3, eye)
            client.post(f"/api/runs/{run_id}/undo", json={"rounds": 3}).raise_for_status()
            assert look(client, run_id) == twelve
            rank(client, run_id, 8, eye)
            client.post(f"/api/runs/{run_id}/undo", json={"rounds": 8}).raise_for_status()
            assert look(client, run_id) == twelve  # further back than states are remembered
            other = client.post(f"/api/runs/{run_id}/branch").json()["id"]
            assert sorted(look(client, other)[1]) == sorted(twelve[1])
        server.kill()
        server.start()
        with server.client() as client:
            assert look(client, run_id) == twelve
            client.patch(f"/api/runs/{run_id}", json={"raters": 2}).raise_for_status()
            for _ in range(8):
                order = by_taste(look(client, run_id)[1], eye)
                assert not answer(client, run_id, order, rater="ann")["closed"]
                assert answer(client, run_id, order[::-1], rater="bob")["closed"]
            shown = client.get(f"/api/runs/{run_id}").json()
            rows = client.get(f"/api/runs/{run_id}/history").json()["rows"]
            best = np.array(client.get(f"/api/runs/{run_id}/vector").json())
    finally:
        server.stop()
    assert shown["rounds"] == len(rows) == 20
    assert not any(sentence.startswith("You are") for sentence in shown["words"])
    for row in rows:
        assert 0.5 <= row["consistency"] <= 1
        assert 0 <= row["chance"] <= 1
        assert min(row["noise"], row["gain"], row["visible"]) >= 0
    assert best @ TASTE / np.linalg.norm(TASTE) > 1.2  # of √5, by chance 0


def test_what_the_model_knows_is_said_to_the_owner_alone(store):
    client = started(store)
    run_id = new_run(client)
    link = client.post(f"/api/runs/{run_id}/invite").json()["url"]
    header = {"Authorization": f"Bearer {link.partition('token=')[2]}"}
    said = rank(client, run_id, 6, np.random.default_rng(1))
    assert said[0]["words"] == []
    assert len(said[5]["words"]) in (2, 3)
    seen = client.get(f"/api/runs/{run_id}", headers=header).json()
    assert (seen["words"], seen["could_stop"]) == ([], False)
    rows = client.get(f"/api/runs/{run_id}/history", headers=header).json()["rows"]
    assert {row[name] for row in rows for name in ("noise", "chance", "gain")} == {None}
    described = client.get("/openapi.json").json()["components"]["schemas"]
    assert "few sentences" in described["RunInfo"]["properties"]["words"]["description"]
    assert "expected" in described["HistoryRow"]["properties"]["gain"]["description"]


def degenerate(store, rounds, choose):
    """What is said in a run whose rater does not look: the sentences of every round."""
    client = started(store)
    run_id = new_run(client)
    said = []
    for index in range(rounds):
        answer(client, run_id, choose(index))
        shown = client.get(f"/api/runs/{run_id}").raise_for_status().json()
        client.get(f"/api/runs/{run_id}/history").raise_for_status()
        said.append(shown["words"])
        assert len(shown["words"]) <= 3
        assert shown["could_stop"] == ("You could stop here." in shown["words"])
    return said


def test_a_rater_who_never_sees_a_difference(store):
    said = degenerate(store, 25, lambda index: [])
    assert set(map(tuple, said[1:])) == {("No preference yet, so every set is drawn at random.",)}


def test_a_rater_who_picks_a_start_and_then_sees_no_difference(store):
    said = degenerate(store, 25, lambda index: [] if index else [[2]])
    assert said[1] == ["These look alike to you; the next ones differ more."]
    assert all(sentences[0].startswith("These look alike to you") for sentences in said[1:])
    assert said[-1][-1] == "You could stop here."


def test_a_rater_who_always_picks_the_first_position(store):
    said = degenerate(store, 25, lambda index: [[0]])
    kept = ["You always choose the same position, but pictures are shuffled every round."]
    assert said[4] != kept
    assert all(sentences == kept for sentences in said[5:])


def test_a_rater_who_contradicts_earlier_answers(store):
    orders = ([[0], [1], [2], [3], [4], [5]], [[5], [4], [3], [2], [1], [0]])
    said = degenerate(store, 25, lambda index: orders[index % 2])
    assert any("vary" in sentence for sentence in said[-1])


def test_one_could_stop_once_there_is_little_to_gain(store):
    client = started(store)
    said = rank(client, new_run(client), 30, np.random.default_rng(2))
    stops = [shown["could_stop"] for shown in said]
    assert not any(stops[:7])
    assert any(stops)


# What a round costs.


@dataclass(frozen=True, kw_only=True)
class Counting(RankProcess):
    """The default method, that notes every call."""

    name: ClassVar = "counting"
    calls: ClassVar = Counter()

    def tell(self, state, slate, answer):
        Counting.calls["tell"] += 1
        return super().tell(state, slate, answer)


@pytest.fixture
def calls(monkeypatch):
    monkeypatch.setitem(optimizers.REGISTRY, "counting", Counting)
    monkeypatch.setattr(methods, "RankProcess", Counting)
    Counting.calls.clear()
    return Counting.calls


def page(client, run_id, index):
    """What an open page asks for in a round: its side, its pictures, and earlier ones again."""
    path = f"/api/runs/{run_id}"
    waiting = client.get(f"{path}/round").raise_for_status().json()
    history = client.get(f"{path}/history").raise_for_status().json()
    urls = [path, *(e["url"] for e in waiting["exhibits"]), f"{path}/rounds/0/exhibits/0"]
    urls += [row["best"] for row in history["rows"] if row["best"]]
    for url in urls:
        client.get(url).raise_for_status()
    assert waiting["index"] == index


def test_an_answered_round_costs_one_tell_and_a_wrong_guess_one_more(store, calls):
    client = started(store)
    run_id = new_run(client)
    for index in range(6):
        page(client, run_id, index)
        draft = f"/api/runs/{run_id}/rounds/{index}/draft"
        before = calls["tell"]
        client.post(draft, json={"order": [[1], [3]]}).raise_for_status()
        answer(client, run_id, [[1], [3]])  # as it was guessed
        assert calls["tell"] - before == 1
        client.post(f"/api/runs/{run_id}/undo").raise_for_status()
        page(client, run_id, index)
        assert calls["tell"] - before == 1
        client.post(draft, json={"order": [[2]]}).raise_for_status()
        answer(client, run_id, [[1], [3]])
        page(client, run_id, index + 1)
        assert calls["tell"] - before == 3


def test_what_others_answer_is_folded_on_top_of_what_is_known(store, calls):
    here, there = started(store), started(store)
    run_id = new_run(here)
    for _ in range(5):
        answer(here, run_id, [[1], [3]])
    look(there, run_id)
    assert calls["tell"] == 10  # once in each studio
    answer(there, run_id, [[2]])
    assert calls["tell"] == 11
    assert look(here, run_id) == look(there, run_id)
    assert calls["tell"] == 12
    there.post(f"/api/runs/{run_id}/undo", json={"rounds": 3}).raise_for_status()
    answer(there, run_id, [[4]])
    assert look(here, run_id) == look(there, run_id)
    assert calls["tell"] == 14  # the rounds before are known to both
    state = Run.open(store, run_id)
    index, shown = look(here, run_id)
    assert len(state.history) == index == 4
    assert sorted(np.asarray(state.ask()).tolist()) == sorted(shown)


def test_a_page_that_asks_for_much_at_once_loads_its_run_once(store, calls):
    run_id = new_run(started(store))
    client = started(store)
    for _ in range(4):
        answer(client, run_id, [[1], [3]])
    calls.clear()
    client = started(store)
    (card,) = client.get("/api/runs").raise_for_status().json()
    assert card["rounds"] == 4
    assert calls["tell"] == 0  # the shelf opens no run
    page(client, run_id, 4)
    assert calls["tell"] == 4
    best = client.get(f"/api/runs/{run_id}/best").content
    assert client.get(card["best"]).content == best
