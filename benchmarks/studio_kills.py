"""Kills the studio again and again while raters answer, and checks that nothing is lost.

    python benchmarks/studio_kills.py [--kills 1000] [--workers 2] [--seed 0] [--store URL]

With one worker, the whole server is killed (SIGKILL) at a random moment and started again. With
two, one of them is killed at random, and the next one after the server has replaced it. Every
acknowledged answer must be in the log exactly once, and the log must replay to the same state bit
for bit: a new run in memory with the same seed that is told the same answers shows the same slate
and has the same best.
"""

import argparse
import itertools
import multiprocessing
import os
import random
import re
import signal
import socket
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path

import httpx2 as httpx
import numpy as np
import tiny_renderer
from rich.progress import track

from zorank import Run
from zorank.protocols import Store
from zorank.run import optimizer_of
from zorank.stores import open_store
from zorank.types import Poll

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["zorank.cli", "zorank.studio.server", "zorank.renderers"])
TOKEN = "owner-token-of-the-benchmark"
RUNS, RATERS = 4, 2


@dataclass
class Raters:
    """Threads that answer all the time, and what was acknowledged."""

    address: str
    acknowledged: set[tuple[str, int, str]] = field(default_factory=set)
    doubled: list[tuple[str, int, str]] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)

    def answer(self, run_id: str, rater: str) -> None:
        """Answer each round of a run; try again whenever the server is not there."""
        dice = random.Random(f"{run_id} {rater}")
        header = {"Authorization": f"Bearer {TOKEN}"}
        with httpx.Client(base_url=self.address, headers=header, timeout=30) as client:
            while not self.stopping.is_set():
                try:
                    self._answer_once(client, run_id, rater, dice)
                except httpx.TransportError:
                    time.sleep(0.02)

    def _answer_once(
        self, client: httpx.Client, run_id: str, rater: str, dice: random.Random
    ) -> None:
        seen = client.get(f"/api/runs/{run_id}/round", params={"rater": rater})
        if seen.status_code != 200 or seen.json()["you_answered"]:
            time.sleep(0.02)
            return
        index, m = seen.json()["index"], len(seen.json()["exhibits"])
        order = [[position] for position in dice.sample(range(m), 2)]
        body = {"order": order, "rater": rater, "key": seen.json()["key"]}
        given = client.post(f"/api/runs/{run_id}/rounds/{index}/answer", json=body)
        if given.status_code == 200:
            if (run_id, index, rater) in self.acknowledged:
                self.doubled.append((run_id, index, rater))
            self.acknowledged.add((run_id, index, rater))


def run_studio(arguments: list[str]) -> None:
    """Run `zorank studio` in this process."""
    from zorank.cli import main as zorank

    sys.path.insert(0, str(tiny_renderer.FOLDER))
    os.environ["PYTHONPATH"] = str(tiny_renderer.FOLDER)
    sys.argv = ["zorank", "studio", "--no-browser", "--token", TOKEN, *arguments]
    zorank()


def start(store: str, port: int, workers: int) -> BaseProcess:
    """Start a studio, and wait until it serves.

    It is forked from a process that has imported everything, so that a start takes little time.
    """
    arguments = ["--store", store, "--renderer", tiny_renderer.NAME, "--port", str(port)]
    arguments += ["--method", "zo-ranksgd-memory", "--workers", str(workers)]
    process = FORKS.Process(target=run_studio, args=(arguments,))
    process.start()
    while process.is_alive():
        with suppress(httpx.TransportError):
            httpx.get(f"http://127.0.0.1:{port}/openapi.json")
            return process
        time.sleep(0.01)
    raise SystemExit("the studio did not start")


def children(process: BaseProcess) -> list[int]:
    """Return the processes that a process has started."""
    found = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return [int(pid) for pid in found.split()]


def serving(address: str) -> list[int]:
    """Return the processes that serve, as the metrics of any of them say; none without answer."""
    try:
        text = httpx.get(f"{address}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).text
    except httpx.TransportError:
        return []
    return sorted(int(pid) for pid in re.findall(r'^zorank_process{.*pid="(\d+)"', text, re.M))


def check(store: Store, runs: list[str], raters: Raters) -> int:
    """Compare the log with what was acknowledged; return the number of ballots in it."""
    found = set()
    for run_id in runs:
        rounds = store.rounds(run_id)
        if [line.index for line in rounds] != list(range(len(rounds))):
            raise SystemExit(f"the log of {run_id} has gaps")
        for line in rounds:
            ballots = line.answer.ballots if isinstance(line.answer, Poll) else ()
            cast = ballots or store.ballots(run_id, line.index)
            names = [ballot.rater for ballot in cast]
            if len(names) != len(set(names)):
                raise SystemExit(f"a rater is twice in round {line.index} of {run_id}")
            found |= {(run_id, line.index, name) for name in names}
        check_replay(store, run_id)
    if lost := raters.acknowledged - found:
        raise SystemExit(f"{len(lost)} acknowledged answers are lost: {sorted(lost)[:5]}")
    if raters.doubled:
        raise SystemExit(f"answers were acknowledged twice: {raters.doubled[:5]}")
    return len(found)


def check_replay(store: Store, run_id: str) -> None:
    """Tell a new run in memory the same answers; it must end in the same state bit for bit."""
    stored, record = Run.open(store, run_id), store.record(run_id)
    fresh = Run(optimizer_of(record, store.rounds(run_id)), record.x0, record.seed)
    for line in store.rounds(run_id):
        if line.answer is not None:
            fresh.ask()
            fresh.tell(line.answer)
    same_slate = np.array_equal(np.asarray(fresh.ask()), np.asarray(stored.ask()))
    if not same_slate or fresh.best().tobytes() != stored.best().tobytes():
        raise SystemExit(f"run {run_id} does not replay to the same state")


def main() -> None:
    """Kill, start again, and check at the end."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="chooses the moments of the kills")
    parser.add_argument("--store", help="a URL; default: a SQLite file")
    given = parser.parse_args()
    dice = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        url = given.store or f"sqlite:///{folder}/runs.db"
        process = start(url, port, given.workers)
        raters = Raters(f"http://127.0.0.1:{port}")
        runs = []
        for seed in range(RUNS):
            made = {"renderer": tiny_renderer.NAME, "seed": seed, "raters": RATERS}
            header = {"Authorization": f"Bearer {TOKEN}"}
            answer = httpx.post(f"{raters.address}/api/runs", json=made, headers=header)
            runs.append(answer.raise_for_status().json()["id"])
        pairs = itertools.product(runs, [f"rater {n}" for n in range(RATERS)])
        threads = [threading.Thread(target=raters.answer, args=pair) for pair in pairs]
        for thread in threads:
            thread.start()
        kills = 0
        with suppress(KeyboardInterrupt):  # what was done until then is checked all the same
            for _ in track(range(given.kills), "Killing"):
                time.sleep(dice.expovariate(2.0))
                if given.workers == 1:
                    process.kill()
                    process.join()
                    process = start(url, port, 1)
                else:
                    os.kill(dice.choice(children(process)), signal.SIGKILL)
                    while serving(raters.address) != sorted(children(process)):
                        time.sleep(0.02)
                kills += 1
        raters.stopping.set()
        for thread in threads:
            thread.join()
        process.terminate()
        process.join()
        store = open_store(url)
        stored = check(store, runs, raters)
        print(
            f"{kills} kills, {len(raters.acknowledged)} answers acknowledged, {stored} "
            "stored; none lost, none doubled, every run replays bit for bit"
        )
        store.close()


if __name__ == "__main__":
    main()
