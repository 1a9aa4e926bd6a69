"""Measures the size of a log with slates, and the time of a replay.

    python benchmarks/log_size.py

Sizes are bytes of a round's slate as JSON: rank-process at d = 16,384 over 40 rounds, beside six
candidates as numbers; rank-looks at d = 4,096 over 20 rounds with a toy look, three seeds. The
replay is that of 10,000 rounds of ZO-RankSGD at d = 100, in processor time.
"""

import base64
import json
import statistics
import time

import numpy as np
from numpy.typing import NDArray

from zorank import Run, rng
from zorank.looks import RunLooks
from zorank.optimizers import RankLooks, RankProcess, ZORankSGD
from zorank.stores import MemoryStore

SHOWN = 6


def sizes(run: Run, dim: int, rounds: int) -> list[int]:
    """Answer by a hidden direction; return the bytes of every round's slate."""
    hidden = np.random.default_rng(1).standard_normal(dim)
    for _ in range(rounds):
        slate = run.ask()
        run.tell(slate.answer_from(-(np.asarray(slate) @ hidden)))
    return [len(json.dumps(row.slate)) for row in run.rounds()]


def process_log(dim: int = 16_384, rounds: int = 40) -> None:
    """Print the sizes of rank-process, whose slates are recipes at this dimension."""
    optimizer = RankProcess(m=SHOWN, space="gaussian", pick=True)
    start = np.random.default_rng(0).standard_normal(dim)
    found = sizes(Run(optimizer, start, record_slates=True), dim, rounds)
    plain = SHOWN * len(base64.b64encode(start.tobytes()))
    print(f"rank-process, d = {dim:,}: round 1 {found[0] / 1e3:.1f} kB, round 2 ", end="")
    print(f"{found[1] / 1e3:.1f} kB, round {rounds} {found[-1] / 1e3:.1f} kB, largest ", end="")
    print(f"{max(found) / 1e3:.1f} kB; as numbers {plain / 1e3:.0f} kB")


def looks_log(dim: int = 4096, rounds: int = 20) -> None:
    """Print the sizes of rank-looks."""
    projection = np.random.default_rng(2).standard_normal((dim, 48)) / np.sqrt(dim)

    def look(candidates: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.tanh(candidates @ projection))

    found = []
    for seed in range(3):
        optimizer = RankLooks(m=SHOWN, space="gaussian", pick=True)
        start = np.random.default_rng(seed).standard_normal(dim)
        looks = RunLooks(look, dim, "gaussian", seed=seed)
        run = Run(optimizer, start, seed=seed, looks=looks, record_slates=True)
        found += sizes(run, dim, rounds)
    print(f"rank-looks, d = {dim:,}: median {statistics.median(found) / 1e3:.0f} kB, ", end="")
    print(f"largest {max(found) / 1e3:.0f} kB a round")


def replay(dim: int = 100, rounds: int = 10_000) -> None:
    """Print the processor time to open a long run."""
    store = MemoryStore()
    run = Run(ZORankSGD(m=SHOWN, line_search=0), np.ones(dim), store=store, name="long")
    order = rng.for_round(0, 0).permutation(SHOWN).tolist()
    for _ in range(rounds):
        run.ask()
        run.tell(order)
    begin = time.process_time()
    again = Run.open(store, "long")
    again.best()
    print(f"replay of {rounds:,} rounds, d = {dim}: {time.process_time() - begin:.2f} s")


if __name__ == "__main__":
    process_log()
    looks_log()
    replay()
