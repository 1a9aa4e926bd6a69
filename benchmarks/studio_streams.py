"""Measures whether one rater's many event streams slow down another rater's answers.

    python benchmarks/studio_streams.py

A real `zorank studio` runs on SQLite. One rater's link opens 400 event streams, of which the limit
for one link refuses most with status 429. Another rater answers rounds of another run, without
these streams and with them, in turns. The ratio of the medians is of the same process.
"""

import statistics
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import httpx2 as httpx
import tiny_renderer
from studio_process import TOKEN, studio

STREAMS, ANSWERS, TURNS = 400, 20, 3
LONGEST = 120.0
"""Seconds after which a request fails."""


def client_of(address: str, token: str) -> httpx.Client:
    """Return a client with any number of connections."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    header = {"Authorization": f"Bearer {token}"}
    return httpx.Client(base_url=address, headers=header, limits=limits, timeout=LONGEST)


def new_run(owner: httpx.Client) -> tuple[str, str]:
    """Create a run; return its id and the token of its shared link."""
    made = owner.post("/api/runs", json={"renderer": tiny_renderer.NAME}).raise_for_status()
    run_id = made.json()["id"]
    link = owner.post(f"/api/runs/{run_id}/invite").raise_for_status().json()["url"]
    return run_id, link.partition("token=")[2]


def answer(rater: httpx.Client, run_id: str) -> list[float]:
    """Answer some rounds; return the seconds of each answer."""
    seconds = []
    for _ in range(ANSWERS):
        index = rater.get(f"/api/runs/{run_id}/round").raise_for_status().json()["index"]
        path = f"/api/runs/{run_id}/rounds/{index}/answer"
        begin = time.perf_counter()
        rater.post(path, json={"order": [[1]], "rater": "other"}).raise_for_status()
        seconds.append(time.perf_counter() - begin)
    return seconds


def main() -> None:
    """Print the times with and without the streams, and their ratio."""
    alone: list[float] = []
    crowded: list[float] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="zorank-streams-")))
        options = ["--method", "zo-ranksgd-memory"]
        store = f"sqlite:///{folder}/runs.db"
        started = studio(store, tiny_renderer.NAME, tiny_renderer.FOLDER, options)
        address, _ = stack.enter_context(started)
        owner = stack.enter_context(client_of(address, TOKEN))
        (crowd_run, crowd_token), (run_id, token) = new_run(owner), new_run(owner)
        crowd = stack.enter_context(client_of(address, crowd_token))
        rater = stack.enter_context(client_of(address, token))
        answer(rater, run_id)
        for _ in range(TURNS):
            alone += answer(rater, run_id)
            with ExitStack() as pages:
                path = f"/api/runs/{crowd_run}/events"
                opened = [
                    pages.enter_context(crowd.stream("GET", path)).status_code
                    for _ in range(STREAMS)
                ]
                crowded += answer(rater, run_id)
    print(f"{STREAMS} streams of one link, by status: {dict(Counter(opened))}")
    for name, found in (("without", alone), ("with", crowded)):
        p90 = statistics.quantiles(found, n=10)[8]
        median = statistics.median(found)
        print(
            f"{name:>8}: {len(found)} answers, median {1e3 * median:.1f} ms, p90 {1e3 * p90:.1f}"
        )
    print(f"ratio of the medians: {statistics.median(crowded) / statistics.median(alone):.2f}")


if __name__ == "__main__":
    main()
