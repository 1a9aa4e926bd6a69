"""The studio is killed at random moments while people answer; afterwards nothing shows it."""

import random
import threading
import time
from collections import defaultdict

import httpx2 as httpx
import numpy as np
import pytest

from tests.helpers.studio_server import PLAIN_RENDERER, Server, started
from tests.helpers.waiting import Deadline
from zorank import Poll, Ranking, Run, optimizers
from zorank.stores import MemoryStore, open_store
from zorank.studio.presentation import shown_order, to_candidates
from zorank.studio.render_pool import fingerprint
from zorank.types import Ballot

KILLS = 8
RATERS = ("ann", "bob", "cleo")
PATIENCE = 600
"""Seconds within which the last rounds must close, however busy the machine is."""


class Rater(threading.Thread):
    """Answers whatever waits, again and again, and remembers what was sent and acknowledged."""

    def __init__(self, server, token, run_id, name, seed):
        super().__init__(name=name, daemon=True)
        self.client = server.client(token)
        self.run_id = run_id
        self.dice = random.Random(seed)
        self.enough = threading.Event()
        self.sent = defaultdict(list)
        self.acknowledged = {}
        self.seen = defaultdict(set)
        self.answers, self.lost, self.problems = 0, 0, []

    def run(self):
        with self.client:
            while not self.enough.is_set():
                try:
                    self.answer()
                except httpx.TransportError:  # the studio is dead; it will be there again
                    time.sleep(0.02)
                except Exception as error:
                    self.problems.append(repr(error))
                    return

    def answer(self):
        url = f"/api/runs/{self.run_id}"
        waiting = self.client.get(f"{url}/round", params={"rater": self.name})
        assert waiting.status_code == 200, waiting.text
        waiting = waiting.json()
        index, exhibits = waiting["index"], waiting["exhibits"]
        self.seen[index].add(tuple(e["url"].partition("?v=")[2] for e in exhibits))
        assert waiting["you_answered"] == (self.name in waiting["answered_by"])
        if waiting["you_answered"]:
            time.sleep(0.02)
            return
        assert index not in self.acknowledged, f"the answer to round {index} is lost"
        if not index % 5:
            self.look(self.dice.choice(exhibits))
        first, second, third = self.dice.sample(range(len(exhibits)), 3)
        order = [[first], [second, third]]
        self.sent[index].append(order)
        self.answers += 1
        try:
            given = self.client.post(
                f"{url}/rounds/{index}/answer", json={"order": order, "rater": self.name}
            )
        except httpx.TransportError:
            self.lost += 1
            raise
        assert given.status_code == 200, given.text
        self.acknowledged[index] = order

    def look(self, exhibit):
        shown = self.client.get(exhibit["url"])
        assert shown.status_code == 200, shown.text
        vector = np.frombuffer(bytes.fromhex(shown.text))
        assert exhibit["url"].endswith(fingerprint(vector))


@pytest.fixture
def server(tmp_path, monkeypatch):
    (tmp_path / "plain.py").write_text(PLAIN_RENDERER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    server = Server(tmp_path / "runs.db", "--renderer", "plain:Plain").start()
    yield server
    server.stop()


def wait_for_answers(raters, wanted):
    """Wait until so many answers were sent, or something went wrong."""
    deadline = time.monotonic() + PATIENCE
    while sum(rater.answers for rater in raters) < wanted:
        assert not any(rater.problems for rater in raters), [r.problems for r in raters]
        assert time.monotonic() < deadline, "nobody can answer"
        time.sleep(0.002)


def wait_for_rounds(store, run_id, raters, wanted):
    """Wait until so many rounds are closed, or something went wrong."""
    deadline = time.monotonic() + PATIENCE
    while True:
        closed = sum(line.answer is not None for line in store.rounds(run_id))
        if closed >= wanted:
            return
        assert not any(rater.problems for rater in raters), [r.problems for r in raters]
        cast = [ballot.rater for ballot in store.ballots(run_id, closed)]
        assert time.monotonic() < deadline, f"round {closed} has answers of {cast} and is open"
        time.sleep(0.05)


def test_a_studio_killed_eight_times_loses_and_doubles_nothing(tmp_path, server):
    with server.client() as owner:
        made = {
            "renderer": "plain:Plain",
            "seed": 5,
            "raters": len(RATERS),
            "method": "rank-process",
        }
        run_id = owner.post("/api/runs", json=made).json()["id"]
        link = owner.post(f"/api/runs/{run_id}/invite").json()["url"]
    token = link.partition("token=")[2]
    store = open_store(str(tmp_path / "runs.db"))
    raters = [Rater(server, token, run_id, name, seed) for seed, name in enumerate(RATERS)]
    for rater in raters:
        rater.start()
    try:
        moments, kills = random.Random(11), 0
        # Some kills must hit an answer on its way.
        deadline = Deadline("a kill hits an answer on its way", 10 * PATIENCE)
        while deadline.is_ahead() and (kills < KILLS or not any(rater.lost for rater in raters)):
            # A studio that dies before anybody can answer shows nothing, so wait for an answer.
            wait_for_answers(raters, sum(r.answers for r in raters) + moments.randrange(1, 4))
            time.sleep(moments.uniform(0, 0.04))
            assert server.process.poll() is None, "the studio ended before it was killed"
            server.kill()
            server.start()
            kills += 1
        closed = sum(line.answer is not None for line in store.rounds(run_id))
        wait_for_rounds(store, run_id, raters, closed + 3)
    finally:
        for rater in raters:
            rater.enough.set()
        for rater in raters:
            rater.join(PATIENCE)
    assert [rater.problems for rater in raters] == [[], [], []]
    with server.client() as owner:
        told = owner.get(f"/api/runs/{run_id}/vector").json()
    record, log = store.record(run_id), store.rounds(run_id)
    waiting = log.pop()
    assert [line.index for line in log] == list(range(len(log)))
    check_answers(record, log, store.ballots(run_id, waiting.index), raters)
    check_numbers(record, log, waiting, raters, np.array(told))
    assert Run.open(store, run_id).best().tobytes() == np.array(told).tobytes()
    store.close()


def check_answers(record, log, open_ballots, raters):
    """What was acknowledged stands once, as it was sent; what was lost stands at most once."""
    for line in log:
        assert sorted(b.rater for b in line.answer.ballots) == sorted(RATERS)
        assert line.rater == ", ".join(b.rater for b in line.answer.ballots)
    standing = [(line.index, list(line.answer.ballots)) for line in log]
    standing.append((len(log), open_ballots))
    for rater in raters:
        found = {}
        for index, ballots in standing:
            mine = [b.ranking for b in ballots if b.rater == rater.name]
            assert len(mine) <= 1
            if mine:
                found[index] = mine[0]
        assert set(rater.acknowledged) <= set(found) <= set(rater.sent)
        for index, ranking in found.items():
            (shown_there,) = rater.seen[index]
            shown = shown_order(record, index, len(shown_there))
            orders = rater.sent[index]
            if index in rater.acknowledged:
                orders = [rater.acknowledged[index]]
            assert ranking in [to_candidates(Ranking.of(order), shown) for order in orders]


def check_numbers(record, log, waiting, raters, best):
    """A fresh run that is told the same answers shows the same slates and ends the same."""
    optimizer = optimizers.make(record.optimizer, record.options)
    fresh = Run(optimizer, record.x0, record.seed, MemoryStore())
    for line in [*log, waiting]:
        slate = fresh.ask()
        shown = shown_order(record, line.index, len(slate))
        marks = tuple(fingerprint(slate[candidate]) for candidate in shown)
        for rater in raters:
            assert rater.seen.get(line.index, {marks}) == {marks}
        if line is waiting:
            break
        assert {ballot.weight for ballot in line.answer.ballots} == {1.0}
        fresh.tell(line.answer)
    assert fresh.best().tobytes() == best.tobytes()


def test_a_round_whose_last_answer_was_kept_just_before_the_kill_is_closed(store):
    """The last ballot is in the store; the studio died before it could close the round."""
    made = {"renderer": "plain", "seed": 5, "raters": 2, "method": "rank-process"}
    client = started(store)
    run_id = client.post("/api/runs", json=made).json()["id"]
    rankings = [Ranking.of([2]), Ranking.of([2, 0])]
    for rater, ranking in zip(("ann", "bob"), rankings, strict=True):
        store.cast(run_id, 0, Ballot(rater, ranking))
    waiting = started(store).get(f"/api/runs/{run_id}/round?rater=ann").json()
    assert waiting["index"] == 1
    assert waiting["you_answered"] is False
    poll = store.rounds(run_id)[0].answer
    assert isinstance(poll, Poll)
    assert [(b.rater, b.ranking) for b in poll.ballots] == list(
        zip(("ann", "bob"), rankings, strict=True)
    )


def test_a_round_is_closed_when_it_turns_out_to_have_enough_answers(store):
    """The others do not come, and the owner asks for fewer answers than were given already."""
    client = started(store)
    made = {"renderer": "plain", "seed": 5, "raters": 3, "method": "rank-process"}
    run_id = client.post("/api/runs", json=made).json()["id"]
    client.post(f"/api/runs/{run_id}/rounds/0/answer", json={"order": [[2]]})
    client.patch(f"/api/runs/{run_id}", json={"raters": 1})
    waiting = client.get(f"/api/runs/{run_id}/round").json()
    assert waiting["index"] == 1
    assert waiting["you_answered"] is False


def test_a_kill_before_the_next_round_is_shown_leaves_it_to_the_next_start(store):
    """The round is closed in the store; the studio died before it asked the next one."""
    made = {"renderer": "plain", "seed": 5, "method": "rank-process"}
    client = started(store)
    run_id = client.post("/api/runs", json=made).json()["id"]
    Run.open(store, run_id).tell([3], rater="owner", round=0)
    assert len(store.rounds(run_id)) == 1
    waiting = started(store).get(f"/api/runs/{run_id}/round").json()
    assert waiting["index"] == 1
    assert waiting["question"] == "rank"
