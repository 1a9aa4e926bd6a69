"""What several server processes share: rendered exhibits, metrics, counts of wrong tokens."""

import contextlib
import os
import signal
import threading
from pathlib import Path

import httpx2 as httpx
import pytest

from tests.helpers.studio_server import TOKEN, Server
from tests.helpers.waiting import wait_until
from tests.studio.test_operations import numbers
from tests.studio.test_workers import children, new_run, request
from zorank.studio.guesses import LIMIT

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc"),
]
# Writes the process and the candidate to a file, and then waits while there is another file.
COUNTING_RENDERER = """
import os, time
from zorank.types import Exhibit

FOLDER = os.environ["PYTHONPATH"]

class Plain:
    dim = 5
    media_type = "text/plain"

    def render(self, candidates):
        for x in candidates:
            with open(FOLDER + "/rendered", "a") as log:
                log.write(f"{os.getpid()} {x.tobytes().hex()}\\n")
        while os.path.exists(FOLDER + "/wait"):
            time.sleep(0.02)
        return [Exhibit("text/plain", x.tobytes().hex().encode()) for x in candidates]

    def warm_up(self):
        pass
"""


@pytest.fixture
def server(tmp_path, monkeypatch):
    (tmp_path / "plain.py").write_text(COUNTING_RENDERER)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    arguments = ("--renderer", "plain:Plain", "--method", "zo-ranksgd-memory", "--workers", "2")
    started = Server(tmp_path / "runs.db", *arguments).start()
    yield started
    (tmp_path / "wait").unlink(missing_ok=True)
    started.stop()


def workers_of(server):
    """The processes of the two workers."""
    return wait_until(
        lambda: found if len(found := children(server.process.pid)) == 2 else None, "two workers"
    )


@contextlib.contextmanager
def stopped(worker):
    """Stop a worker, so that the other one takes all connections."""
    os.kill(worker, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(worker, signal.SIGCONT)


def metrics(server):
    with server.client() as owner:
        return numbers(owner)


def rendered(folder):
    """The process and the candidate of each rendering that has begun."""
    log = folder / "rendered"
    lines = log.read_text().splitlines() if log.exists() else []
    return [(int(pid), candidate) for pid, candidate in map(str.split, lines)]


def shown(server, run_id):
    """The exhibits of the waiting round."""
    with server.client() as owner:
        exhibits = owner.get(f"/api/runs/{run_id}/round").raise_for_status().json()["exhibits"]
        return [owner.get(one["url"]).raise_for_status().text for one in exhibits]


def test_what_one_worker_has_rendered_the_other_does_not_render(server, tmp_path):
    first, second = workers_of(server)
    with stopped(first):  # a worker that is stopped while it renders would keep its locks
        run_id = new_run(server)
        one = shown(server, run_id)
    wait_until(lambda: metrics(server)["zorank_rendering"] == 0, "exhibits are rendered")
    with stopped(second):
        assert shown(server, run_id) == one
    candidates = [candidate for _, candidate in rendered(tmp_path)]
    assert sorted(candidates) == sorted(set(candidates))
    assert set(one) <= set(candidates)
    assert metrics(server)["zorank_shared_renders_total"] >= 6


def ask_all(server, run_id, folder):
    """Let both workers need the same exhibits while none can be finished."""
    wait_until(lambda: len(rendered(folder)) == 2, "a worker renders with two threads")
    threads = []

    def both_wait():
        one = threading.Thread(target=lambda: quietly(shown, server, run_id), daemon=True)
        one.start()
        threads.append(one)
        return metrics(server)["zorank_rendering"] == 4

    wait_until(both_wait, "both workers wait for two exhibits", pause=0.5)
    return threads


def quietly(act, *arguments):
    with contextlib.suppress(httpx.HTTPError):  # the worker was killed
        act(*arguments)


def test_two_workers_do_not_render_the_same_exhibit_at_once(server, tmp_path):
    (tmp_path / "wait").touch()
    run_id = new_run(server)
    threads = ask_all(server, run_id, tmp_path)
    assert len(rendered(tmp_path)) == 2
    (tmp_path / "wait").unlink()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    candidates = [candidate for _, candidate in rendered(tmp_path)]
    assert sorted(candidates) == sorted(set(candidates))


def test_a_worker_killed_while_it_renders_does_not_hold_up_the_other(server, tmp_path):
    (tmp_path / "wait").touch()
    run_id = new_run(server)
    ask_all(server, run_id, tmp_path)
    [(killed, candidate), _] = rendered(tmp_path)
    os.kill(killed, signal.SIGKILL)

    def taken_over():
        return any(pid != killed and c == candidate for pid, c in rendered(tmp_path))

    wait_until(taken_over, "the other worker renders what the killed one was rendering")
    (tmp_path / "wait").unlink()
    assert candidate in shown(server, run_id)


def test_deleting_a_run_deletes_its_shared_exhibits(server, tmp_path):
    kept, deleted = new_run(server, seed=1), new_run(server, seed=2)
    exhibits = {run_id: shown(server, run_id) for run_id in (kept, deleted)}
    wait_until(lambda: metrics(server)["zorank_rendering"] == 0, "exhibits are rendered")
    request(server, "DELETE", f"/api/runs/{deleted}").raise_for_status()
    [folder] = (tmp_path / "temporary").glob("zorank-studio-*/exhibits")

    def contents():
        return b"".join(file.read_bytes() for file in folder.iterdir() if file.name != "locks")

    wait_until(lambda: exhibits[deleted][0].encode() not in contents(), "files are removed")
    assert exhibits[kept][0].encode() in contents()


def test_the_shared_folder_is_private_and_ends_with_the_studio(server, tmp_path):
    [folder] = (tmp_path / "temporary").iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    server.process.send_signal(signal.SIGTERM)
    server.process.wait()
    assert not folder.exists()


def test_workers_remove_the_folder_of_a_first_process_that_was_killed(server, tmp_path):
    [folder] = (tmp_path / "temporary").iterdir()
    server.kill()
    wait_until(lambda: not folder.exists(), "the folder is removed")


def answer(server, run_id, index):
    path = f"/api/runs/{run_id}/rounds/{index}/answer"
    request(server, "POST", path, json={"order": [[1]]}).raise_for_status()


def test_metrics_are_sums_over_all_workers(server):
    run_id = new_run(server)
    first, second = workers_of(server)
    with stopped(first):
        answer(server, run_id, 0)
        answer(server, run_id, 1)
    with stopped(second):
        answer(server, run_id, 2)
        assert metrics(server)["zorank_answers_total"] == 3
    with stopped(first):
        found = metrics(server)
    assert found["zorank_answers_total"] == 3
    route = 'route="/api/runs/{run_id}/rounds/{index}/answer",status="200"'
    assert found[f"zorank_request_seconds_count{{{route}}}"] == 3
    processes = [name for name in found if name.startswith("zorank_process{")]
    assert sorted(int(name.split('pid="')[1][:-2]) for name in processes) == sorted(
        (first, second)
    )


def test_open_pages_of_all_workers_are_counted(server):
    run_id, pages = new_run(server), []
    with contextlib.ExitStack() as stack:
        for worker in workers_of(server):
            with stopped(worker):
                page = stack.enter_context(server.client())
                path = f"/api/runs/{run_id}/events"
                stream = stack.enter_context(page.stream("GET", path))
                pages.append(stream.iter_lines())  # the stream ends with its iterator
                next(pages[-1])
        wait_until(lambda: metrics(server)["zorank_open_pages"] == 2, "two pages are open")
    wait_until(lambda: metrics(server)["zorank_open_pages"] == 0, "no page is open")


def test_counters_do_not_decrease_when_a_worker_dies(server):
    run_id = new_run(server)
    first, second = workers_of(server)
    with stopped(second):
        answer(server, run_id, 0)
    before = metrics(server)
    os.kill(first, signal.SIGKILL)

    def is_replaced():
        with contextlib.suppress(httpx.TransportError):
            found = metrics(server)
            totals = [name for name in before if "_total" in name or "_count" in name]
            assert all(found[name] >= before[name] for name in totals)
            return not any(f'pid="{first}"' in name for name in found)

    wait_until(is_replaced, "another worker counts")
    answer(server, run_id, 1)
    assert metrics(server)["zorank_answers_total"] == 2


def test_wrong_tokens_are_counted_over_all_workers(server):
    def guess():
        headers = {"Authorization": "Bearer a-wrong-token-of-somebody"}
        return httpx.get(f"{server.url}/api/runs", headers=headers, timeout=120).status_code

    first, second = workers_of(server)
    with stopped(first):
        assert [guess() for _ in range(LIMIT // 2)] == [401] * (LIMIT // 2)
    with stopped(second):
        assert [guess() for _ in range(LIMIT // 2)] == [401] * (LIMIT // 2)
        assert guess() == 429
    with stopped(first):
        assert guess() == 429
    assert request(server, "GET", f"/api/runs?token={TOKEN}").status_code == 200
