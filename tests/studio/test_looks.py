"""The studio looks at candidates in the background, and nothing depends on when it does."""

import inspect
import json
import random
import sqlite3
import threading
import time

import httpx2 as httpx
import numpy as np
import pytest

from tests.helpers.studio_server import Server, client_of
from zorank import Run, looks
from zorank.looks import PLANS, LookPlan
from zorank.optimizers import RankProcess
from zorank.renderers import Landscape
from zorank.stores import open_store
from zorank.types import Exhibit

PATIENCE = 600
TASTE = np.array([1.0, -2.0, 0.5, 1.5, -1.0])
MIXER = np.random.default_rng(1).standard_normal((5, 7))


class Seen:
    """A renderer of text that says what its candidates look like."""

    dim = 5
    media_type = "text/plain"

    def render(self, candidates):
        return [Exhibit("text/plain", x.tobytes().hex().encode()) for x in candidates]

    def look(self, candidates):
        return np.sin(np.asarray(candidates) @ MIXER)


class Drawn(Seen):
    """One of drawings, which nothing describes."""

    media_type, look = "image/svg+xml", None


@pytest.fixture(autouse=True)
def small_plan(monkeypatch):
    """Few looks, and as many whatever else the machine does."""
    monkeypatch.setattr(looks, "_seconds", lambda look, dim: 0.0)
    monkeypatch.setitem(PLANS, 0.05, LookPlan(pool=6, reference=24, begin=0))


def started(store, renderer=Seen):
    return client_of(store, {"seen": renderer})


def new_run(client, **settings):
    made = client.post("/api/runs", json={"renderer": "seen", "seed": 5, **settings})
    return made.raise_for_status().json()["id"]


def shown(client, run_id):
    return client.get(f"/api/runs/{run_id}").raise_for_status().json()


def by_taste(candidates):
    seen = np.array(candidates)[:, : TASTE.size] @ TASTE
    return [[int(i)] for i in np.argsort(-seen, kind="stable")[:3]]


def answer(client, run_id, rounds=1, **more):
    for _ in range(rounds):
        waiting = client.get(f"/api/runs/{run_id}/round").raise_for_status().json()
        url = f"/api/runs/{run_id}/rounds/{waiting['index']}"
        order = by_taste(client.get(f"{url}/candidates").json()["candidates"])
        body = {"order": order, "key": waiting["key"], **more}
        client.post(f"{url}/answer", json=body).raise_for_status()


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def run_of(client, run_id):
    return client.app.state.studio._sessions[run_id].run


# What it does by default


@pytest.mark.slow
def test_landscape_runs_use_looks_by_default(store):
    class Small(Landscape):
        def __init__(self, size=32):
            super().__init__(size=size)

    client = started(store, Small)
    run_id = new_run(client)
    answer(client, run_id, 2)
    assert shown(client, run_id)["optimizer"]["name"] == "rank-looks"
    assert shown(client, run_id)["optimizer"]["pool"] == 6
    assert store.record(run_id).meta["looks"] == {"pool": 6, "reference": 24, "begin": 0}
    assert all(line.slate["looks"] for line in store.rounds(run_id))
    assert shown(client, run_id)["note"] == ""
    plain = new_run(client, method="rank-process")
    answer(client, plain, 2)
    assert shown(client, plain)["optimizer"]["name"] == "rank-process"
    assert "looks" not in store.record(plain).meta
    assert not any("looks" in line.slate for line in store.rounds(plain))


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (
            "rank-looks",
            "rank-looks needs a renderer that computes looks quickly, and seen does not",
        ),
        ("zo-ranksgd", "there is no method named 'zo-ranksgd'"),
    ],
)
def test_a_method_that_cannot_be_is_refused(store, method, words):
    client = started(store, Drawn)
    refused = client.post("/api/runs", json={"renderer": "seen", "method": method})
    assert refused.status_code == 422
    assert words in refused.json()["detail"]
    assert client.get("/api/runs").json() == []
    run_id = new_run(client)
    assert shown(client, run_id)["optimizer"]["name"] == "rank-process"


@pytest.mark.parametrize("seconds", [0.26, None])
def test_a_slow_look_is_not_used(store, monkeypatch, seconds):
    monkeypatch.setattr(looks, "_seconds", lambda look, dim: seconds)
    client = started(store)
    assert shown(client, new_run(client))["optimizer"]["name"] == "rank-process"
    made = client.post("/api/runs", json={"renderer": "seen", "method": "rank-looks"})
    assert made.status_code == 422


def test_what_was_learned_from_looks_is_said_to_the_owner_alone(store):
    client = started(store)
    run_id = new_run(client)
    link = client.post(f"/api/runs/{run_id}/invite").json()["url"]
    header = {"Authorization": f"Bearer {link.partition('token=')[2]}"}
    answer(client, run_id, 3)
    assert not any("taste" in sentence for sentence in shown(client, run_id)["words"])
    answer(client, run_id)
    *_, taste, first = shown(client, run_id)["words"]
    assert taste.startswith("Your choices depend ")
    assert first.startswith("The best of ")
    rater = client.get(f"/api/runs/{run_id}", headers=header).json()
    assert (rater["words"], rater["note"]) == ([], "")
    client.patch(f"/api/runs/{run_id}", json={"raters": 2}).raise_for_status()
    for name in ("ann", "bob"):
        answer(client, run_id, rater=name)
    assert "The raters' choices depend" in " ".join(shown(client, run_id)["words"])


# Looks that fail


def failing(_):
    raise OSError("out of film")


BROKEN = {
    "fails": (failing, "the look function fails with OSError: out of film"),
    "nan": (
        lambda x: x + np.nan,
        "the look function must return finite numbers, found NaN or infinity",
    ),
    "shape": (
        lambda x: x[0],
        "the look function must return a row of numbers for each candidate, found",
    ),
    "alike": (
        lambda x: np.ones((len(x), 2)),
        "the look function returns the same numbers for all candidates",
    ),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_answers_go_on_without_a_look_that_fails(store, broken):
    look, problem = BROKEN[broken]
    calls = []

    class Broken(Seen):
        def look(self, candidates):
            calls.append(1)
            return look(candidates)

    client = started(store, Broken)
    run_id = new_run(client)
    answer(client, run_id, 2)
    note = shown(client, run_id)["note"]
    assert note.startswith(f"This run continues without looks, because they failed: {problem}")
    assert note.endswith(".")
    assert note.count(". ") == 0
    answer(client, run_id, 2)
    branch = client.post(f"/api/runs/{run_id}/branch").raise_for_status().json()["id"]
    answer(client, branch)
    seen, calls[:] = len(calls), []
    assert seen > 0
    again = started(store, Broken)
    for kept in (run_id, branch):
        answer(again, kept, 2)
        assert shown(again, kept)["note"] == note
    assert calls == []
    assert len(store.rounds(run_id)) == 7


def test_a_look_that_fails_later_is_dropped_in_the_middle(store):
    class Tired(Seen):
        works = True

        def look(self, candidates):
            return super().look(candidates) if Tired.works else failing(candidates)

    client = started(store, Tired)
    run_id = new_run(client)
    answer(client, run_id, 3)
    Tired.works = False
    answer(client, run_id, 2)
    Tired.works = True
    assert "out of film" in shown(client, run_id)["note"]
    answer(client, run_id, 2)
    best = client.get(f"/api/runs/{run_id}/vector").json()
    again = started(store, Tired)
    assert again.get(f"/api/runs/{run_id}/vector").json() == best
    answer(again, run_id, 1)
    assert run_of(again, run_id).looks is None


def test_looks_that_differ_when_a_run_is_opened_again(store):
    class Other(Seen):
        def look(self, candidates):
            return np.cos(np.asarray(candidates) @ MIXER)

    client = started(store)
    run_id = new_run(client)
    answer(client, run_id, 3)
    again = started(store, Other)
    answer(again, run_id, 2)
    note = shown(again, run_id)["note"]
    assert note == (
        "This run continues without looks, because they failed: "
        "the look function returns other numbers than when the run began."
    )
    once_more = started(store)
    answer(once_more, run_id)
    assert shown(once_more, run_id)["note"] == note
    assert shown(once_more, run_id)["rounds"] == 6


def test_a_look_that_is_gone(store):
    client = started(store)
    run_id = new_run(client)
    answer(client, run_id, 3)
    again = started(store, Drawn)
    answer(again, run_id, 2)
    assert shown(again, run_id)["rounds"] == 5
    without = "This run continues without looks, because its renderer no longer has any."
    assert shown(again, run_id)["note"] == without
    damaged = {**store.record(run_id).meta["looks"], "reference": -1}
    store.change_meta(run_id, {"looks": damaged})
    once_more = started(store)
    answer(once_more, run_id)
    assert shown(once_more, run_id)["note"] == without


def test_a_renderer_is_tried_with_its_options(store):
    class Choosy(Seen):
        def __init__(self, blind=False):
            if blind:
                self.look, self.media_type = None, "image/svg+xml"

    client = started(store, Choosy)
    for blind in (False, True, False):
        run_id = new_run(client, options={"blind": blind})
        assert ("looks" in store.record(run_id).meta) is not blind


# While people look


class Patient(Seen):
    """One whose looks wait until they may."""

    may = threading.Event()

    def look(self, candidates):
        assert Patient.may.wait(PATIENCE)
        return super().look(candidates)


def test_nobody_waits_for_the_reference_sample_to_foresee_an_answer(store):
    Patient.may.clear()
    client = started(store, Patient)
    try:
        run_id = new_run(client)
        waiting = client.get(f"/api/runs/{run_id}/round").json()
        assert len(waiting["exhibits"]) == 6
        url = f"/api/runs/{run_id}/rounds/0/draft"
        assert client.post(url, json={"order": [[2]]}).json() == {"ahead": []}
        assert shown(client, run_id)["rounds"] == 0
        assert client.get(f"/api/runs/{run_id}/history").json()["rows"] == []
    finally:
        Patient.may.set()
    wait_until(lambda: run_of(client, run_id).looks.ready)
    ahead = client.post(url, json={"order": [[2]]}).json()["ahead"]
    assert len(ahead) == 6
    client.post(f"/api/runs/{run_id}/rounds/0/answer", json={"order": [[2]]}).raise_for_status()
    following = client.get(f"/api/runs/{run_id}/round").json()
    assert [exhibit["url"] for exhibit in following["exhibits"]] == ahead


def test_what_the_next_round_needs_is_looked_at_before_the_answer(store):
    seen = set()

    class Noting(Seen):
        def look(self, candidates):
            seen.update(x.tobytes() for x in candidates)
            return super().look(candidates)

    client = started(store, Noting)
    run_id = new_run(client)
    run = run_of(client, run_id)
    for _ in range(3):
        client.get(f"/api/runs/{run_id}/round").raise_for_status()
        needed = {x.tobytes() for x in run.prospects()}
        assert len(needed) == 6
        wait_until(lambda wanted=needed: wanted <= seen)
        answer(client, run_id)


def test_it_is_the_same_run_whether_or_not_somebody_looked_ahead(store, monkeypatch):
    """Products of matrices round each row by how many there are, which depends on who is first."""
    monkeypatch.setitem(PLANS, 0.05, LookPlan(pool=9, reference=96, begin=0))
    mixer, seen = np.random.default_rng(1).standard_normal((5, 300)), set()

    class Wide(Seen):
        def look(self, candidates):
            seen.update(x.tobytes() for x in candidates)
            return np.sin(candidates @ mixer)

    late, ahead = started(store, Wide), started(store, Wide)
    late.app.state.studio.look_worker.watch = lambda session: None
    theirs = new_run(late)
    answer(late, theirs, 4)
    seen.clear()
    mine = new_run(ahead)
    for _ in range(4):
        ahead.get(f"/api/runs/{mine}/round").raise_for_status()
        needed = {x.tobytes() for x in run_of(ahead, mine).prospects()}
        wait_until(lambda wanted=needed: wanted <= seen)
        answer(ahead, mine)
    assert log_of(store, mine) == log_of(store, theirs)


def test_a_run_that_is_deleted_while_it_is_looked_at(store):
    Patient.may.clear()
    client = started(store, Patient)
    try:
        run_id = new_run(client)
        client.delete(f"/api/runs/{run_id}").raise_for_status()
    finally:
        Patient.may.set()
    other = new_run(client)
    answer(client, other, 2)
    assert shown(client, other)["note"] == ""


# Older databases


def test_a_run_of_a_studio_before_slates_were_recorded_goes_on(tmp_path):
    file = tmp_path / "old.db"
    store = open_store(str(file))
    meta = {"renderer": "seen", "renderer_options": {}, "title": "Old", "raters": 1}
    x0 = np.random.default_rng(0).standard_normal(5)
    method = RankProcess(space="gaussian", pick=True)
    old, same = (Run(method, x0, 3, store, name, meta=meta) for name in ("old", "same"))

    def tell(run):
        order = by_taste([x.tolist() for x in run.ask()])
        run.tell([place for group in order for place in group], rater="owner")

    for _ in range(3):
        tell(old)
    old.ask()
    for _ in range(6):
        tell(same)
    store.close()
    database = sqlite3.connect(file)
    with database:
        database.execute("ALTER TABLE zorank_rounds DROP COLUMN slate")
        database.execute("UPDATE zorank_schema SET version = 2")
    database.close()
    store = open_store(str(file))
    client = started(store)
    answer(client, "old", 3)
    assert shown(client, "old")["optimizer"]["name"] == "rank-process"
    best = np.array(client.get("/api/runs/old/vector").json())
    assert best.tobytes() == same.best().tobytes()
    assert [bool(line.slate) for line in store.rounds("old")] == [False] * 4 + [True] * 3
    assert Run.open(store, "old").best().tobytes() == best.tobytes()
    store.close()


# Kills

MODULE = f"""
import numpy as np
from zorank.types import Exhibit

MIXER = np.random.default_rng(1).standard_normal((5, 300))

{inspect.getsource(Seen)}
"""

PLAN = [
    *["answer"] * 4, ("undo", 2), *["answer"] * 2, ("branch", 3), *["answer"] * 3, ("undo", 1),
    *["answer"] * 2, ("branch", 5), *["answer"] * 2,
]  # fmt: skip
KILLS = 5


class Owner:
    """Carries the plan out, whatever happens to the studio: every step is taken exactly once."""

    def __init__(self, client):
        self.client = client
        self.runs = [new_run(client, renderer="seen:Seen", method="rank-looks")]
        self.steps, self.problem = 0, None

    def carry_out(self):
        index = 0
        try:
            for step in PLAN:
                if step == "answer":
                    index = self.reach(index, index + 1, self.answer)
                elif step[0] == "undo":
                    index = self.reach(index, index - step[1], lambda n=step[1]: self.undo(n))
                else:
                    index = step[1]
                    self.runs.append(self.insist(lambda n=index: self.branch(n)))
                self.steps += 1
        except Exception as error:
            self.problem = error
        return self

    def insist(self, act):
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return act()
            except httpx.TransportError:  # the studio is dead; it will be there again
                assert time.monotonic() < deadline
                time.sleep(0.02)

    def reach(self, now, wanted, act):
        """Act until the run waits at the wanted round; what was lost on its way may count."""

        def arrived():
            at = self.client.get(f"/api/runs/{self.runs[-1]}/round").raise_for_status()
            if at.json()["index"] == now:
                act()
                return False
            assert at.json()["index"] == wanted
            return True

        wait_until(lambda: self.insist(arrived))
        return wanted

    def answer(self):
        answer(self.client, self.runs[-1])

    def undo(self, rounds):
        url = f"/api/runs/{self.runs[-1]}/undo"
        self.client.post(url, json={"rounds": rounds}).raise_for_status()

    def branch(self, index):
        title = f"{self.runs[0]} from round {index}"
        cards = self.client.get("/api/runs").raise_for_status().json()
        made = [card["id"] for card in cards if card["title"] == title]
        body, url = {"round": index, "title": title}, f"/api/runs/{self.runs[-1]}/branch"
        return (
            made[0] if made else self.client.post(url, json=body).raise_for_status().json()["id"]
        )


def log_of(store, run_id):
    """Everything that was shown, seen and said, and the slate that follows."""
    lines = [line for line in store.rounds(run_id) if line.answer is not None]
    told = [(json.dumps(line.slate, sort_keys=True), line.answer) for line in lines]
    run = Run.open(store, run_id)
    return told, np.asarray(run.ask()).tobytes(), run.best().tobytes()


@pytest.mark.server
def test_a_studio_that_is_killed_looks_shows_and_learns_the_same(tmp_path, monkeypatch, store):
    (tmp_path / "seen.py").write_text(MODULE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    server = Server(tmp_path / "runs.db", "--renderer", "seen:Seen").start()
    dice = random.Random(11)
    try:
        with server.client() as client:
            calm = Owner(client).carry_out()
            assert calm.problem is None
            hunted = Owner(client)
            thread = threading.Thread(target=hunted.carry_out, daemon=True)
            thread.start()
            for step in sorted(dice.sample(range(len(PLAN) - 2), KILLS)):
                wait_until(lambda n=step: hunted.steps >= n or not thread.is_alive())
                time.sleep(dice.uniform(0, 0.2))
                server.kill()
                server.start()
            thread.join(PATIENCE)
            assert hunted.problem is None
            assert hunted.steps == len(PLAN)
    finally:
        server.stop()
    for mine, theirs in zip(hunted.runs, calm.runs, strict=True):
        assert log_of(store, mine) == log_of(store, theirs)
    assert all(store.record(run_id).optimizer == "rank-looks" for run_id in hunted.runs)
    assert not any(store.record(run_id).meta.get("looks_problem") for run_id in hunted.runs)
    assert all("looks" in line.slate for line in store.rounds(hunted.runs[-1]))
