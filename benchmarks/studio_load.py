"""Measures the time of an answer when many raters answer at once.

    python benchmarks/studio_load.py [--method NAME] [--workers N]

A real `zorank studio` runs on SQLite and on PostgreSQL, with short texts as exhibits. Every rater
does what the page does: it keeps the stream of events open and answers as soon as a round arrives.

- all: 100 raters share 20 runs, five a run, and each round needs all five. Nobody pauses, so
  answers wait in a queue.
- pages: 500 pages are open on 20 runs, and one rater of each run answers.

The bound, in the same run and with as many clients: a bare FastAPI route that commits one row in
the same kind of database. Afterwards the log must contain every answer exactly once.
"""

import argparse
import asyncio
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2 as httpx
import tiny_renderer
from postgres_process import postgres, postgres_bin
from studio_process import TOKEN, studio

from zorank.stores import open_store
from zorank.studio.presentation import shown_order, to_candidates
from zorank.types import Ballot, Poll, Ranking

RUNS, RATERS, ROUNDS, PAGES = 20, 5, 10, 500
LONGEST = 900.0
"""Seconds after which the measurement fails."""

BARE_REQUESTS = 1000
BARE = """
import sys
import sqlalchemy as sa
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from zorank.stores._engine import make_engine

engine = make_engine(sys.argv[1])
with engine.begin() as connection:
    connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS bare (i INTEGER, t TEXT)")
app = FastAPI()
insert = sa.text("INSERT INTO bare VALUES (:i, :t)")

class Row(BaseModel):
    i: int
    t: str

@app.post("/row")
def add(row: Row) -> Row:
    with engine.execution_options(zorank_write=True).begin() as connection:
        connection.execute(insert, row.model_dump())
    return row

uvicorn.run(app, port=int(sys.argv[2]), log_level="error")
"""

Order = list[list[int]]


@dataclass
class Load:
    """The acknowledged answers, and the times measured."""

    sent: dict[tuple[str, int, str], tuple[Order, int]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    elapsed: float = 0.0
    processor: float = 0.0

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.seconds) / self.elapsed

    @property
    def p99(self) -> float:
        """The time that 99 of 100 answers stay below."""
        return statistics.quantiles(self.seconds, n=100)[98]


async def rounds_of(client: httpx.AsyncClient, run_id: str) -> AsyncIterator[dict[str, Any]]:
    """Yield each round that the studio pushes."""
    async with client.stream("GET", f"/api/runs/{run_id}/events") as stream:
        name = ""
        async for line in stream.aiter_lines():
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: ") and name == "round":
                yield json.loads(line[6:])


async def rate(client: httpx.AsyncClient, run_id: str, rater: str, load: Load) -> None:
    """Answer every round of a run as soon as it is shown."""
    dice = random.Random(f"{run_id} {rater}")
    async for shown in rounds_of(client, run_id):
        index, m = shown["index"], len(shown["exhibits"])
        if index >= ROUNDS:
            return
        order = [[position] for position in dice.sample(range(m), 3)]
        body = {"order": order, "rater": rater, "key": shown["key"]}
        begin = time.perf_counter()
        given = await client.post(f"/api/runs/{run_id}/rounds/{index}/answer", json=body)
        load.seconds.append(time.perf_counter() - begin)
        if given.status_code == 200:
            load.sent[run_id, index, rater] = (order, m)
        else:
            load.refused.append(f"{given.status_code} {given.text:.200}")


async def watch(client: httpx.AsyncClient, run_id: str) -> None:
    """Keep a page open, without answering, until the run has all its rounds."""
    async for shown in rounds_of(client, run_id):
        if shown["index"] >= ROUNDS:
            return


async def answer_all(address: str, pid: int, raters: int, pages: int) -> Load:
    """Let every rater of every run answer, while further pages are open."""
    load = Load()
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    header = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(
        base_url=address, headers=header, limits=limits, timeout=httpx.Timeout(LONGEST)
    ) as client:
        made = {"renderer": tiny_renderer.NAME, "raters": raters}
        runs = [
            (await client.post("/api/runs", json={**made, "seed": seed})).json()["id"]
            for seed in range(RUNS)
        ]
        begin, worked = time.perf_counter(), processor_seconds(pid)
        async with asyncio.timeout(LONGEST), asyncio.TaskGroup() as group:
            for number in range(pages):
                group.create_task(watch(client, runs[number % RUNS]))
            for run_id in runs:
                for number in range(raters):
                    group.create_task(rate(client, run_id, f"rater {number}", load))
        load.elapsed = time.perf_counter() - begin
        load.processor = processor_seconds(pid) - worked
    return load


async def bare_rate(address: str, clients: int) -> float:
    """Return the requests a second of the bare route, with this many clients at once."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(base_url=address, limits=limits, timeout=LONGEST) as client:
        numbers = iter(range(BARE_REQUESTS))

        async def send() -> None:
            for number in numbers:
                answer = await client.post("/row", json={"i": number, "t": "x" * 200})
                answer.raise_for_status()

        begin = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for _ in range(clients):
                group.create_task(send())
        return BARE_REQUESTS / (time.perf_counter() - begin)


@contextmanager
def bare_route(store_url: str) -> Iterator[str]:
    """Serve a route that commits one row; yield its address."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-c", BARE, store_url, str(port)])
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(600):
            try:
                httpx.get(f"{address}/openapi.json")
                break
            except httpx.TransportError:
                time.sleep(0.05)
        yield address
    finally:
        process.terminate()
        process.wait()


def free_port() -> int:
    """Return a port that is free at this moment."""
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def check(store_url: str, load: Load) -> None:
    """Exit with an error unless the log has exactly the acknowledged answers."""
    store, found = open_store(store_url), {}
    for record in store.runs():
        for line in store.rounds(record.name):
            for ballot in ballots_of(line.answer, line.rater):
                key = (record.name, line.index, ballot.rater)
                if key in found:
                    raise SystemExit(f"{key} is twice in the log")
                found[key] = ballot.ranking
    if set(found) != set(load.sent) or load.refused:
        lost, extra = set(load.sent) - set(found), set(found) - set(load.sent)
        raise SystemExit(
            f"{len(load.sent)} answers were acknowledged, {len(found)} are in the log; "
            f"lost: {sorted(lost)[:5]}, unknown: {sorted(extra)[:5]}, refused: {load.refused[:5]}"
        )
    for (run_id, index, rater), (order, m) in load.sent.items():
        shown = shown_order(store.record(run_id), index, m)
        if found[run_id, index, rater] != to_candidates(Ranking.of(order), shown):
            raise SystemExit(f"the log has another answer of {rater} to round {index} of {run_id}")
    for record in store.runs():  # the next measurement begins with an empty store
        store.delete(record.name)
    store.close()


def ballots_of(answer: object, rater: str | None) -> tuple[Ballot, ...]:
    """Return the ballots of an answered round, also of one that a single rater answered."""
    if isinstance(answer, Poll):
        return answer.ballots
    return (Ballot(rater or "", answer),) if isinstance(answer, Ranking) else ()


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


def measure(name: str, store_url: str, bare_url: str, given: argparse.Namespace) -> None:
    """Measure a studio on one store, and print the results."""
    with bare_route(bare_url) as address:
        bound = asyncio.run(bare_rate(address, RUNS * RATERS))
    print(f"{name}: a bare route commits {bound:.0f} rows a second")
    options = ["--method", given.method, *given.arguments]
    cases = {"all": (RATERS, 0), "pages": (1, PAGES - RUNS)}
    for case, (raters, pages) in cases.items():
        modules = tiny_renderer.FOLDER
        with studio(store_url, tiny_renderer.NAME, modules, options) as (address, pid):
            load = asyncio.run(answer_all(address, pid, raters, pages))
            memory = peak_memory(pid)
        check(store_url, load)
        print(
            f"{case:>6} {len(load.seconds)} answers, none lost or doubled: "
            f"{load.rate:.1f} a second ({load.rate / bound:.2f} of the bound), "
            f"median {1e3 * statistics.median(load.seconds):.0f} ms, p99 {1e3 * load.p99:.0f} ms, "
            f"{1e3 * load.processor / len(load.seconds):.1f} ms of processor an answer, "
            f"{memory:.0f} MiB"
        )


def main() -> None:
    """Measure both databases."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", default="zo-ranksgd-memory", help="the runs' method")
    parser.add_argument("arguments", nargs="*", help="further arguments of zorank studio")
    given = parser.parse_args()
    print(f"{RUNS} runs of {ROUNDS} rounds by {given.method}; {RATERS} raters a run, or one of 25")
    with tempfile.TemporaryDirectory(prefix="zorank-load-") as folder:
        stored, bare = (f"sqlite:///{folder}/{name}.db" for name in ("runs", "bare"))
        measure("SQLite", stored, bare, given)
    bin_folder = postgres_bin()
    if bin_folder is None:
        print("PostgreSQL's initdb is not installed (Debian: apt-get install postgresql)")
        return
    with postgres(bin_folder) as url:
        store_url = url.replace("postgresql://", "postgresql+psycopg://")
        measure("PostgreSQL", store_url, store_url, given)


if __name__ == "__main__":
    main()
