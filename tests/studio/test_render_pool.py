"""Rendering is fair between runs, bounded, and stops for requests that were abandoned."""

import contextlib
import socket
import threading
import time
from dataclasses import dataclass, field
from typing import Any, ClassVar

import httpx2 as httpx
import numpy as np
import pytest
import uvicorn

from tests.helpers.studio_server import TOKEN, Plain, client_of
from zorank.errors import InvalidInput, RenderError, TooManyRequests
from zorank.oracles import judge_kinds
from zorank.renderers.interface import resolve
from zorank.studio import create_app
from zorank.studio.judging import JudgeSpec, JudgeWorker, Panel
from zorank.studio.render_pool import RenderLimits, RenderPool, Urgency, fingerprint
from zorank.studio.server import listen
from zorank.types import Exhibit

PATIENCE = 600
"""Seconds: the machine may be busy, and every wait is for a condition."""

POINTS = [np.full(2, float(number)) for number in range(8)]
PLAIN = resolve(Plain())


@dataclass
class Gate:
    """A renderer that waits until it is opened, and notes what it renders."""

    dim: ClassVar = 2
    size: int = 64
    rendered: list[Any] = field(default_factory=list)
    begun: threading.Event = field(default_factory=threading.Event)
    opened: threading.Event = field(default_factory=threading.Event)

    def render(self, candidates):
        self.rendered += [(self.size, int(x[0])) for x in candidates]
        self.begun.set()
        assert self.opened.wait(PATIENCE)
        return [Exhibit("text/plain", b"%d" % self.size) for _ in candidates]

    @property
    def numbers(self):
        return [number for _, number in self.rendered]


@pytest.fixture
def gate():
    made = Gate()
    yield made
    made.opened.set()


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)


def busy_pool(gate, workers=1, **settings):
    """A pool whose threads for the run "slow" are busy with point 0."""
    pool = RenderPool(workers, **settings)
    pool.request("slow", resolve(gate), POINTS[0])
    assert gate.begun.wait(PATIENCE)
    return pool


def request_all(pool, run, renderer, numbers, urgency=Urgency.NEEDED):
    return [pool.request(run, resolve(renderer), POINTS[n], urgency) for n in numbers]


# Fairness.


@pytest.mark.parametrize("workers", [2, 3])
def test_a_blocked_run_does_not_hold_up_another(gate, workers):
    pool = RenderPool(workers)
    blocked = request_all(pool, "slow", gate, range(8))
    other = pool.request("quick", PLAIN, np.arange(5.0), Urgency.LIKELY)
    assert other.result(PATIENCE).data == np.arange(5.0).tobytes()
    assert len(gate.rendered) <= workers - 1
    assert not any(future.done() for future in blocked)


def test_one_run_alone_uses_all_threads_but_one(gate):
    pool = RenderPool(3)
    request_all(pool, "slow", gate, range(8))
    wait_until(lambda: len(gate.rendered) == 2)
    assert pool.stats().queued == 6


def test_runs_take_turns(gate):
    pool = busy_pool(gate)
    order = []

    class Noted(Plain):
        def render(self, candidates):
            order.extend(int(x[0]) for x in candidates)
            return super().render(candidates)

    futures = request_all(pool, "many", Noted(), [1, 2, 3, 4])
    futures += request_all(pool, "few", Noted(), [5, 6])
    gate.opened.set()
    for future in futures:
        future.result(PATIENCE)
    assert order == [1, 5, 2, 6, 3, 4]


def test_a_renderer_that_returns_no_bytes_fails_and_ends_no_thread():
    class Empty(Plain):
        def render(self, candidates):
            return [Exhibit("text/plain", None) for _ in candidates]

    pool = RenderPool(2)
    for broken in request_all(pool, "run", Empty(), range(4)):
        with pytest.raises(TypeError, match="must be bytes, found NoneType"):
            broken.result(PATIENCE)
    assert pool.request("run", PLAIN, POINTS[5]).result(PATIENCE).data == POINTS[5].tobytes()


# Abandoned requests.


def test_an_exhibit_is_dropped_when_the_last_request_for_it_is_cancelled(gate):
    pool = busy_pool(gate)
    alone, first, second, hurried = request_all(pool, "slow", gate, [1, 2, 2, 3])
    early = pool.request("slow", resolve(gate), POINTS[3], Urgency.SOON)
    assert pool.stats().queued == 3
    for future in (alone, first, hurried):
        assert future.cancel()
    assert pool.stats().queued == 2
    gate.opened.set()
    assert second.result(PATIENCE) == early.result(PATIENCE)
    assert gate.numbers == [0, 2, 3]


def test_an_exhibit_in_progress_is_kept_if_its_request_is_cancelled(gate):
    pool = RenderPool(1)
    future = pool.request("slow", resolve(gate), POINTS[0])
    assert gate.begun.wait(PATIENCE)
    assert future.cancel()
    gate.opened.set()
    wait_until(lambda: pool.idle)
    assert pool.ready("slow", [fingerprint(POINTS[0])], 64) == 1
    assert pool.request("slow", resolve(gate), POINTS[0]).done()


def test_guesses_are_cancelled_and_forgotten_unless_a_browser_waits_for_them(gate):
    pool = busy_pool(gate)
    guesses = request_all(pool, "slow", gate, [1, 2], Urgency.PREVIEWED)
    needed = pool.request("slow", resolve(gate), POINTS[2])
    pool.cancel_speculative("slow")
    assert all(guess.cancelled() for guess in guesses)
    assert pool.stats().queued == 1
    gate.opened.set()
    needed.result(PATIENCE)
    assert gate.numbers == [0, 2]


def test_the_requests_of_a_deleted_run_fail(gate):
    pool = busy_pool(gate)
    queued = pool.request("slow", resolve(gate), POINTS[1])
    pool.forget("slow")
    with pytest.raises(RenderError, match="deleted"):
        queued.result(PATIENCE)
    assert pool.stats().queued == 0


def test_the_requests_of_a_closed_pool_fail(gate):
    pool = busy_pool(gate)
    queued = pool.request("slow", resolve(gate), POINTS[1])
    pool.close(patience=0)
    late = pool.request("other", resolve(gate), POINTS[2])
    for future in (queued, late):
        with pytest.raises(RenderError, match="the studio is closing"):
            future.result(PATIENCE)
    assert pool.stats().queued == 0


# Limits.


def test_a_full_queue_refuses_what_is_needed_and_drops_the_rest(gate):
    pool = busy_pool(gate, limits=RenderLimits(queued_per_run=2))
    queued = request_all(pool, "slow", gate, [1, 2])
    with pytest.raises(TooManyRequests, match="of this run wait to be rendered; wait a moment"):
        pool.request("slow", resolve(gate), POINTS[3])
    for urgency in (Urgency.SOON, Urgency.PREVIEWED, Urgency.LIKELY):
        assert pool.request("slow", resolve(gate), POINTS[3], urgency).cancelled()
    same = pool.request("slow", resolve(gate), POINTS[2])  # it needs no more room
    other = pool.request("other", PLAIN, POINTS[3])
    assert pool.stats().refused == 4
    gate.opened.set()
    for future in (*queued, same, other):
        future.result(PATIENCE)
    assert gate.numbers == [0, 1, 2]


@pytest.mark.parametrize("limits", [{"queued_per_run": 2}, {"queued": 2}])
def test_what_is_needed_displaces_guesses(gate, limits):
    pool = busy_pool(gate, limits=RenderLimits(**limits))
    older, newer = request_all(pool, "slow", gate, [1, 2], Urgency.LIKELY)
    assert pool.request("slow", resolve(gate), POINTS[3], Urgency.PREVIEWED).cancelled()
    soon = pool.request("slow", resolve(gate), POINTS[4], Urgency.SOON)
    assert newer.cancelled()
    needed = pool.request("slow", resolve(gate), POINTS[5])
    assert older.cancelled()
    gate.opened.set()
    soon.result(PATIENCE)
    assert needed.result(PATIENCE)
    assert gate.numbers == [0, 5, 4]


def test_the_queue_of_all_runs_is_limited(gate):
    pool = busy_pool(gate, limits=RenderLimits(queued=2))
    request_all(pool, "slow", gate, [1, 2])
    with pytest.raises(TooManyRequests, match="exhibits wait to be rendered"):
        pool.request("other", PLAIN, POINTS[3])


def test_the_cache_is_limited():
    pool = RenderPool(1, RenderLimits(cache=100))
    points = [np.full(5, float(number)) for number in range(4)]  # of 40 bytes each
    for point in points:
        pool.request("run", PLAIN, point).result(PATIENCE)
    assert pool.stats().cached_bytes == 80
    assert [pool.ready("run", [fingerprint(point)], 0) for point in points] == [0, 0, 1, 1]


def test_limits_are_positive():
    with pytest.raises(InvalidInput, match="queued_per_run must be at least 1"):
        RenderLimits(queued_per_run=0)


# What others learn.


def test_numbers_for_metrics(gate):
    class Fragile(Plain):
        def render(self, candidates):
            raise RuntimeError("out of paint")

    pool = busy_pool(gate)
    pool.request("slow", resolve(gate), POINTS[1])
    broken = pool.request("other", resolve(Fragile()), POINTS[2])
    now = pool.stats()
    assert (now.done, now.failed, now.queued, now.rendering, now.cached_bytes) == (0, 0, 2, 1, 0)
    gate.opened.set()
    with pytest.raises(RuntimeError):
        broken.result(PATIENCE)
    wait_until(lambda: pool.idle)
    then = pool.stats()
    assert (then.done, then.failed, then.queued, then.rendering) == (2, 1, 0, 0)
    assert then.cached_bytes == 4
    assert then.seconds > 0


def test_a_listener_is_told_of_progress_previews_results_and_failures():
    class Telling:
        dim = 2

        def render(self, candidates, progress=None, preview=None):
            for share in (0.5, 0.5, 0.75):
                progress(share)
            preview(0, Exhibit("text/plain", b"a preview"))
            if candidates[0][0] == 1:
                raise RuntimeError("out of paint")
            return [Exhibit("text/plain", b"done") for _ in candidates]

    told = []

    def listen(run):
        number = len(told) // 4  # the pool can be read meanwhile: its lock is not held
        shown = pool.previews(run, [POINTS[number]], 0)[0]
        told.append((run, pool.shares(run, [POINTS[number]], 0)[0], shown and shown.data))
        raise ValueError("the listener is broken, which the renderer must not notice")

    pool = RenderPool(1, on_change=listen)
    steps = [(0.5, None), (0.75, None), (0.75, b"a preview")]
    pool.request("run", resolve(Telling()), POINTS[0]).result(PATIENCE)
    wait_until(lambda: len(told) == 4)
    assert told == [("run", *step) for step in [*steps, (1.0, None)]]
    with pytest.raises(RuntimeError):
        pool.request("other", resolve(Telling()), POINTS[1]).result(PATIENCE)
    wait_until(lambda: len(told) == 8)
    assert told[4:] == [("other", *step) for step in [*steps, (None, None)]]


# Judges.


def flat(shown):
    return np.zeros(len(shown))


def test_a_judge_does_not_wait_for_a_blocked_run(gate):
    pool = RenderPool(2)
    judges = JudgeWorker(pool, Panel(judge_kinds({"mine:flat": flat})))
    spec = JudgeSpec("mine:flat")
    assert judges.verdict("slow", spec, resolve(gate), POINTS[:2]) is None
    assert gate.begun.wait(PATIENCE)
    points = [np.zeros(5), np.ones(5)]
    wait_until(lambda: judges.verdict("quick", spec, PLAIN, points))
    assert judges.verdict("slow", spec, resolve(gate), POINTS[:2]) is None


def test_a_verdict_that_found_the_queue_full_is_tried_again(gate):
    pool = busy_pool(gate, limits=RenderLimits(queued=1))
    judges = JudgeWorker(pool, Panel(judge_kinds({"mine:flat": flat})))
    asked = ("other", JudgeSpec("mine:flat"), PLAIN, [np.zeros(5), np.ones(5)])
    assert judges.verdict(*asked) is None
    gate.opened.set()
    wait_until(lambda: (found := judges.verdict(*asked)) and found.problem)  # texts, no pictures


# Over HTTP.


@contextlib.contextmanager
def served(app):
    """The port of a real server of this application, in a thread."""
    listener = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


def new_run(client, renderer="gate"):
    body = {"renderer": renderer, "seed": 1, "method": "rank-process"}
    return client.post("/api/runs", json=body).raise_for_status().json()["id"]


def send(port, path):
    """A client that has sent a request and not yet read the response."""
    connection = socket.create_connection(("127.0.0.1", port))
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    connection.sendall(head.encode())
    return connection


@pytest.mark.server
def test_an_exhibit_whose_client_disconnects_is_not_rendered(store, gate):
    app = create_app(store, {"gate": gate}, TOKEN)
    pool, header = app.state.studio.render_pool, {"Authorization": f"Bearer {TOKEN}"}
    with served(app) as port:
        url = f"http://127.0.0.1:{port}"
        with httpx.Client(base_url=url, headers=header, timeout=PATIENCE) as client:
            run_id = new_run(client)
            wait_until(lambda: pool.stats().rendering == 2)
            before = pool.stats().queued
            connections = [send(port, f"/api/runs/{run_id}/best?size={n}") for n in (500, 1000)]
            wait_until(lambda: pool.stats().queued == before + 2)
            connections[0].close()
            wait_until(lambda: pool.stats().queued == before + 1)
            gate.opened.set()
            assert connections[1].recv(15).startswith(b"HTTP/1.1 200")
            connections[1].close()
            wait_until(lambda: pool.idle)
    assert {size for size, _ in gate.rendered} == {64, 1024}


@pytest.mark.server
@pytest.mark.parametrize("path", ["runs/{}/rounds/0/offline", "renderers/gate/sample"])
def test_offline_pages_and_samples_can_be_abandoned_too(store, gate, path):
    first = client_of(store, {"gate": Plain})
    run_id = new_run(first)
    answer = {"order": [[0]]}
    first.post(f"/api/runs/{run_id}/rounds/0/answer", json=answer).raise_for_status()
    app = create_app(store, {"gate": gate}, TOKEN, workers=1)
    pool = app.state.studio.render_pool
    pool.request("another", resolve(gate), POINTS[0])
    assert gate.begun.wait(PATIENCE)
    with app.state.studio.session(run_id):  # loads the run and prepares its waiting round
        prepared = pool.stats().queued
    with served(app) as port:
        connection = send(port, f"/api/{path.format(run_id)}")
        wait_until(lambda: pool.stats().queued > prepared)
        connection.close()
        wait_until(lambda: pool.stats().queued == prepared)


def test_a_full_queue_is_a_429_that_says_when_to_try_again(store, gate):
    client = client_of(store, {"gate": gate}, limits=RenderLimits(queued_per_run=3))
    pool, run_id = client.app.state.studio.render_pool, new_run(client)
    wait_until(lambda: pool.stats().rendering == 2)
    with pytest.raises(TooManyRequests):
        request_all(pool, run_id, gate, range(4))
    for path in ("best?size=128", "rounds/0/offline"):  # of six exhibits, five have room at most
        refused = client.get(f"/api/runs/{run_id}/{path}")
        assert refused.status_code == 429
        assert "wait a moment and try again" in refused.json()["detail"]
        assert int(refused.headers["Retry-After"]) > 0
    gate.opened.set()
    wait_until(lambda: pool.idle)
    assert client.get(f"/api/runs/{run_id}/best?size=128").content == b"128"


def test_sizes_are_rounded_up_to_fixed_ones(store, gate):
    gate.opened.set()
    client = client_of(store, {"gate": gate})
    best = f"/api/runs/{new_run(client)}/best"
    for asked, given in [(64, 64), (65, 128), (128, 128), (300, 512), (1024, 1024), (1025, 2048)]:
        assert client.get(f"{best}?size={asked}").content == b"%d" % given
    assert client.get(best).content == b"64"
    for refused in (63, 2049):
        assert client.get(f"{best}?size={refused}").status_code == 422
    assert len({size for size, _ in gate.rendered}) == 5
