"""Measures the time of an answer when a hundred raters answer twenty runs at once.

    python benchmarks/studio_load.py

A real `zorank studio` runs on SQLite and on PostgreSQL, with short texts as exhibits. Five raters
share a run, and each round needs all five. Every rater does what the page does: it keeps the
stream of events open, requests the round when it changes, and answers at once. So the studio is
always busy, and an answer waits in a queue; "alone" is the time of an answer without other raters.
Each time is a ratio to a bound measured in the same run: a bare commit of one row in the same
database, while it is idle. Afterwards the log must contain every answer exactly once.
"""

import asyncio
import json
import os
import random
import re
import shutil
import socket
import sqlite3
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2 as httpx
import psycopg
from studio_process import TOKEN, studio

from zorank.stores import open_store
from zorank.studio.presentation import shown_order, to_candidates
from zorank.types import Poll, Ranking

RUNS, RATERS, ROUNDS = 20, 5, 10
LONGEST = 900.0
"""Seconds after which the measurement fails."""

COMMITS = 200
RENDERER = """
from zorank.types import Exhibit

class Tiny:
    dim = 16
    media_type = "text/plain"

    def render(self, candidates):
        return [Exhibit("text/plain", b"%.3f" % x[0]) for x in candidates]
"""

Order = list[list[int]]


@dataclass
class Load:
    """The acknowledged answers, and the times measured."""

    sent: dict[tuple[str, int, str], tuple[Order, int]] = field(default_factory=dict)
    alone: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    elapsed: float = 0.0
    processor: float = 0.0


async def rate(client: httpx.AsyncClient, run_id: str, rater: str, load: Load) -> None:
    """Answer every round of a run as soon as it is shown."""
    dice = random.Random(f"{run_id} {rater}")
    path, answered = f"/api/runs/{run_id}", -1
    async with client.stream("GET", f"{path}/events") as stream:
        async for line in stream.aiter_lines():
            index = json.loads(line[6:]).get("index") if line.startswith("data: ") else None
            if index is None or index <= answered:
                continue
            if index >= ROUNDS:
                return
            seen = await client.get(f"{path}/round", params={"rater": rater})
            m = len(seen.json()["exhibits"])
            order = [[position] for position in dice.sample(range(m), 3)]
            begin = time.perf_counter()
            given = await client.post(
                f"{path}/rounds/{index}/answer", json={"order": order, "rater": rater}
            )
            load.seconds.append(time.perf_counter() - begin)
            if given.status_code == 200:
                load.sent[run_id, index, rater] = (order, m)
            else:
                load.refused.append(f"{given.status_code} {given.text:.200}")
            answered = index


async def answer_alone(client: httpx.AsyncClient) -> list[float]:
    """Return the times of answers with one rater and one run, which is then deleted."""
    made = await client.post("/api/runs", json={"renderer": "tiny:Tiny", "seed": 0})
    path, times = f"/api/runs/{made.json()['id']}", []
    for index in range(ROUNDS):
        await client.get(f"{path}/round")
        begin = time.perf_counter()
        await client.post(f"{path}/rounds/{index}/answer", json={"order": [0, 1, 2]})
        times.append(time.perf_counter() - begin)
    await client.delete(path)
    return times


async def answer_all(address: str, pid: int) -> Load:
    """Run every rater of every run at once."""
    load = Load()
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    header = {"Authorization": f"Bearer {TOKEN}"}
    wait = httpx.Timeout(LONGEST)
    async with httpx.AsyncClient(
        base_url=address, headers=header, limits=limits, timeout=wait
    ) as client:
        load.alone = await answer_alone(client)
        made = {"renderer": "tiny:Tiny", "raters": RATERS}
        runs = [
            (await client.post("/api/runs", json={**made, "seed": seed})).json()["id"]
            for seed in range(RUNS)
        ]
        begin, worked = time.perf_counter(), processor_seconds(pid)
        async with asyncio.timeout(LONGEST), asyncio.TaskGroup() as group:
            for run_id in runs:
                for number in range(RATERS):
                    group.create_task(rate(client, run_id, f"rater {number}", load))
        load.elapsed = time.perf_counter() - begin
        load.processor = processor_seconds(pid) - worked
    return load


def check(store_url: str, load: Load) -> None:
    """Exit with an error unless the log has exactly the acknowledged answers."""
    store, found = open_store(store_url), {}
    for record in store.runs():
        for line in store.rounds(record.name):
            if isinstance(line.answer, Poll):
                for ballot in line.answer.ballots:
                    key = (record.name, line.index, ballot.rater)
                    if key in found:
                        raise SystemExit(f"{key} is twice in the log")
                    found[key] = ballot.ranking
    if set(found) != set(load.sent) or len(found) != RUNS * RATERS * ROUNDS:
        lost, extra = set(load.sent) - set(found), set(found) - set(load.sent)
        raise SystemExit(
            f"{len(load.sent)} answers were acknowledged, {len(found)} are in the log; "
            f"lost: {sorted(lost)[:5]}, unknown: {sorted(extra)[:5]}, refused: {load.refused[:5]}"
        )
    for (run_id, index, rater), (order, m) in load.sent.items():
        shown = shown_order(store.record(run_id), index, m)
        if found[run_id, index, rater] != to_candidates(Ranking.of(order), shown):
            raise SystemExit(f"the log has another answer of {rater} to round {index} of {run_id}")
    getattr(store, "close", lambda: None)()


def commit_times(commit: Callable[[int], object]) -> list[float]:
    """Return the seconds of each of COMMITS commits."""
    times = []
    for i in range(COMMITS):
        begin = time.perf_counter()
        commit(i)
        times.append(time.perf_counter() - begin)
    return times


def sqlite_commits(file: Path) -> list[float]:
    """Time commits with the durability settings of the store."""
    with closing(sqlite3.connect(file, isolation_level=None, timeout=60)) as connection:
        for setting in ("journal_mode=WAL", "synchronous=FULL"):
            connection.execute(f"PRAGMA {setting}")
        connection.execute("CREATE TABLE IF NOT EXISTS bare (i INTEGER)")

        def commit(i: int) -> None:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO bare VALUES (?)", (i,))
            connection.execute("COMMIT")

        return commit_times(commit)


def postgres_commits(url: str) -> list[float]:
    """Time commits with the server's own settings."""
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS bare (i INTEGER)")
        connection.commit()

        def commit(i: int) -> None:
            connection.execute("INSERT INTO bare VALUES (%s)", (i,))
            connection.commit()

        return commit_times(commit)


@contextmanager
def postgres(bin_folder: Path) -> Iterator[str]:
    """Start a PostgreSQL server in a temporary folder on a free port; yield its URL."""
    folder = Path(tempfile.mkdtemp(prefix="zorank-pg-"))
    user = "nobody" if os.getuid() == 0 else None  # the server refuses to run as root
    if user:
        shutil.chown(folder, "nobody", "nogroup")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]

    def run(program: str, *arguments: str) -> None:
        command = [str(bin_folder / program), *arguments]
        group = "nogroup" if user else None
        subprocess.run(
            command, check=True, capture_output=True, cwd=folder, user=user, group=group
        )

    run("initdb", "-D", "data", "-U", "zorank", "-A", "trust", "-E", "UTF8", "--no-sync")
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
    run("pg_ctl", "-D", "data", "-w", "-l", "log", "-o", options, "start")
    try:
        yield f"postgresql://zorank@127.0.0.1:{port}/postgres"
    finally:
        run("pg_ctl", "-D", "data", "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def postgres_bin() -> Path | None:
    """Return the folder of PostgreSQL's programs, if it is installed."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    return max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)


def processor_seconds(pid: int) -> float:
    """Return the processor time of a process; NaN without /proc."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(status[11]) + int(status[12])) / os.sysconf("SC_CLK_TCK")


def peak_memory(pid: int) -> float:
    """Return the peak memory of a process in MiB; NaN without /proc."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return float("nan")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 1024 if found else float("nan")


def measure(name: str, store_url: str, commits: Callable[[], list[float]]) -> None:
    """Measure a studio on one store, and print the results."""
    with tempfile.TemporaryDirectory(prefix="zorank-load-") as folder:
        before = commits()
        (Path(folder) / "tiny.py").write_text(RENDERER)
        with studio(store_url, "tiny:Tiny", modules=Path(folder)) as (address, pid):
            load = asyncio.run(answer_all(address, pid))
            memory = peak_memory(pid)
        bare = statistics.median([*before, *commits()])
    check(store_url, load)
    count = len(load.seconds)
    times = {
        "alone": statistics.median(load.alone),
        "median": statistics.median(load.seconds),
        "p99": statistics.quantiles(load.seconds, n=100)[98],
        "processor": load.processor / count,
    }
    print(f"{name}: {count} answers, none lost or doubled; bare commit {1e3 * bare:.2f} ms")
    for what, seconds in times.items():
        print(f"{what:>12} {1e3 * seconds:>9.1f} ms an answer {seconds / bare:>9.1f} commits")
    print(
        f"{'at once':>12} {count / load.elapsed:>9.1f} answers a second, {memory:.0f} MiB at most"
    )


def main() -> None:
    """Measure both databases."""
    print(f"{RUNS * RATERS} raters, {RUNS} runs, {ROUNDS} rounds of {RATERS} answers")
    with tempfile.TemporaryDirectory(prefix="zorank-load-") as folder:
        file = Path(folder) / "runs.db"
        measure("SQLite", f"sqlite:///{file}", lambda: sqlite_commits(file))
    bin_folder = postgres_bin()
    if bin_folder is None:
        print("PostgreSQL's initdb is not installed (Debian: apt-get install postgresql)")
        return
    with postgres(bin_folder) as url:
        store_url = url.replace("postgresql://", "postgresql+psycopg://")
        measure("PostgreSQL", store_url, lambda: postgres_commits(url))


if __name__ == "__main__":
    main()
