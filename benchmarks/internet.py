"""A cost model for a billion parameters, ten thousand workers and a hundred thousand raters.

    python benchmarks/internet.py --out docs/results/internet.json

It measures unit costs: a random number drawn, a ballot written, a ballot counted, and the bytes
that a follower needs to replay a run. The rest is arithmetic, with an assumed network of one
gigabit a second for every worker. It prints the cost of a round for each way of sharing the work.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from zorank import Ballot, Poll, Ranking, Run, rank_weights
from zorank._directions import SeededDirections
from zorank.optimizers import ZORankSGD
from zorank.stores import open_store

NETWORK = 125e6
"""Bytes a second to and from a worker: one gigabit."""


def seconds(action: Callable[[], object]) -> float:
    """Return the processor time of one call, which excludes other programs."""
    begin = time.process_time()
    action()
    return time.process_time() - begin


def drawn_number(law: Any, dtype: str) -> float:
    """Return the seconds to draw a number and add it to a vector, on one core."""
    d = 4_000_000
    directions = SeededDirections(1, (0,), (1,), d, dtype, law)
    weights = np.ones(1)
    return float(np.median([seconds(lambda: directions.combine(weights)) for _ in range(3)])) / d


def ballots_written(many: int = 300) -> float:
    """Return the wall-clock seconds to write a ballot to SQLite, one transaction each."""
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{folder}/runs.db")
        run = Run(ZORankSGD(m=6), np.zeros(10), store=store)
        run.ask()
        begin = time.perf_counter()
        for i in range(many):
            store.cast(run.name, 0, Ballot(f"rater {i}", Ranking.of([i % 6])))
        return (time.perf_counter() - begin) / many


def poll_counted(many: int = 20_000) -> float:
    """Return the seconds per ballot to turn a poll into weights."""
    draws = np.random.default_rng(0)
    orders = [draws.permutation(6).tolist() for _ in range(many)]
    poll = Poll(tuple(Ballot(f"rater {i}", Ranking.of(o)) for i, o in enumerate(orders)))
    return seconds(lambda: rank_weights(poll, 6)) / many


def follower(d: int = 1_000_000, rounds: int = 3) -> dict[str, float]:
    """Replay a run from its answers alone; return whether it is equal, and the bytes received."""
    optimizer = ZORankSGD(m=10, line_search=0, step=0.1, mu=0.01)
    leader, other = (Run(optimizer, np.ones(d, np.float32), seed=5) for _ in range(2))
    received = 0
    for _ in range(rounds):
        slate = leader.ask()
        answer = slate.answer_from(np.array([float(slate[i][:1000].sum()) for i in range(10)]))
        leader.tell(answer)
        message = json.dumps(answer.to_json()).encode()
        received += len(message)
        other.ask()
        other.tell(Ranking.of(json.loads(message)["order"]))
    same = np.array_equal(leader.best(), other.best())
    return {"same": float(same), "bytes": received / rounds}


def to_halve(d: int, m: int = 10) -> int:
    """Return the points until |x|² has halved with exact line searches, a lower bound."""
    draws = np.random.default_rng(0)
    x, points, goal = np.ones(d), 0, d / 2
    while x @ x > goal:
        xi = draws.standard_normal((m, d))
        g = rank_weights(Ranking.from_values(xi @ x), m) @ xi
        x -= (x @ g) / (g @ g) * g
        points += m
    return points


def round_costs(unit: dict[str, Any], d: float, workers: float) -> list[tuple[str, float, float]]:
    """Return (way, seconds, bytes) of a round with one candidate for every worker."""
    vector = 4 * d
    draw = unit["rademacher"] * d
    transfer = vector / NETWORK
    answer = ranking_bytes(workers)
    return [
        (
            "the centre is sent to every worker by one machine",
            vector * workers / NETWORK + draw,
            vector,
        ),
        (
            "the centre is passed on from worker to worker",
            transfer * np.log2(workers) + draw,
            vector,
        ),
        (
            "only the ranking is sent; every worker folds it in",
            answer / NETWORK + draw * workers,
            answer,
        ),
        (
            "only the ranking is sent; every worker folds in the 100 directions that count most",
            answer / NETWORK + draw * 100,
            answer,
        ),
        (
            "every worker adds its own direction; sums are passed around in a ring",
            2 * transfer + 2 * draw,
            2 * vector,
        ),
    ]


def ranking_bytes(workers: float) -> float:
    """Return the size of a full ranking as text."""
    return 12.0 * workers


def model(unit: dict[str, Any], d: float, workers: float, raters: float) -> list[dict[str, Any]]:
    """Return the cost of a round in each way, of halving ‖x‖², and of the ballots."""
    rows: list[dict[str, Any]] = [
        {"part": name, "seconds": float(s), "bytes": float(b)}
        for name, s, b in round_costs(unit, d, workers)
    ]
    slope = unit["to_halve"]["10000"] / 1e4
    rounds = slope * d / workers
    rows += [
        {
            "part": "rounds of the cheapest way until ‖x‖² halves, if all parameters matter alike",
            "seconds": rounds * min(row["seconds"] for row in rows),
            "bytes": rounds * ranking_bytes(workers),
        },
        {
            "part": "ballots of all raters, written one by one in SQLite",
            "seconds": raters * unit["ballot"],
            "bytes": 60 * raters,
        },
        {
            "part": "ballots of all raters, counted",
            "seconds": raters * unit["poll"],
            "bytes": 0.0,
        },
    ]
    return rows


def main() -> None:
    """Measure the unit costs, compute the model, print and save both."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--dim", type=float, default=1e9)
    parser.add_argument("--workers", type=float, default=1e4)
    parser.add_argument("--raters", type=float, default=1e5)
    args = parser.parse_args()
    unit: dict[str, Any] = {
        "normal": drawn_number("normal", "float32"),
        "rademacher": drawn_number("rademacher", "float32"),
        "ballot": ballots_written(),
        "poll": poll_counted(),
        "follower": follower(),
        "to_halve": {str(d): to_halve(d) for d in (100, 1_000, 10_000)},
    }
    rows = model(unit, args.dim, args.workers, args.raters)
    scenario = {"dim": args.dim, "workers": args.workers, "raters": args.raters}
    print(json.dumps(unit, indent=1))
    for row in rows:
        print(f"{row['seconds']:14,.1f} s {row['bytes'] / 1e6:14,.1f} MB  {row['part']}")
    if args.out:
        found = {"unit": unit, "scenario": scenario, "rows": rows, "network": NETWORK}
        args.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
