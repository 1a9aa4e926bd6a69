"""Measures a round of auto in many dimensions, as multiples of drawing its normals.

    OMP_NUM_THREADS=1 python benchmarks/large_cost.py [--out FILE]

A round is one ask, all candidates, and one tell, in processor time. The bound, measured between
the rounds of the same run, is `standard_normal` of m·d numbers into a fresh array. The rounds
before the measurement fill all directions of the low-rank covariance. `ask and tell` leaves out
the candidates, which are computed one by one when they are evaluated.
"""

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

from zorank.experiments.large_problems import problem
from zorank.optimizers.auto import Auto
from zorank.optimizers.low_rank_covariance import MERGE_EVERY, RANK, LowRank

ROUNDS = {1_000: 100, 10_000: 50, 30_000: 25, 100_000: 15}


def cost(d: int, rounds: int) -> dict[str, Any]:
    """Return the median costs of a round in d dimensions."""
    auto = Auto()
    draws = np.random.default_rng(0)
    found = problem("rotated ellipsoid", 0, d)
    state = auto.init(found.x0)
    spent: dict[str, list[float]] = {"ask and tell": [], "candidates": [], "draws": []}
    filling = MERGE_EVERY * RANK
    for n in range(filling + rounds):
        times = [time.process_time()]
        slate = auto.ask(state, draws)
        times.append(time.process_time())
        rows = list(slate)
        times.append(time.process_time())
        answer = slate.answer_from(np.array([float(found.f(x)) for x in rows]))
        times.append(time.process_time())
        state = auto.tell(state, slate, answer)
        times.append(time.process_time())
        draws.standard_normal((len(slate), d))
        times.append(time.process_time())
        if n >= filling:
            ask, rows_, _, tell, bound = np.diff(times)
            for name, seconds in zip(spent, (ask + tell, rows_, bound), strict=True):
                spent[name].append(float(seconds))
    covariance = getattr(state, "covariance", None)
    if not isinstance(covariance, LowRank):
        raise SystemExit(f"auto learns no low-rank covariance in {d} dimensions")
    medians = {name: statistics.median(seconds) for name, seconds in spent.items()}
    vectors = 2 + len(covariance.axes)  # D, the path, and the axes
    return {"d": d, "m": len(slate), "rank": len(covariance.axes), "vectors": vectors, **medians}


def main() -> None:
    """Print the table, and write it to a file if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="a JSON file for the results")
    out = parser.parse_args().out
    rows = []
    for d, rounds in ROUNDS.items():
        row = cost(d, rounds)
        rows.append(row)
        ratio = row["ask and tell"] / row["draws"]
        print(
            f"d = {d:>7,}  m = {row['m']}  draws {1e3 * row['draws']:7.2f} ms  "
            f"ask and tell {ratio:.2f} ×  with candidates "
            f"{ratio + row['candidates'] / row['draws']:.2f} ×  r = {row['rank']}, "
            f"{row['vectors']} vectors",
            flush=True,
        )
    if out:
        out.write_text(json.dumps({"rounds": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
