"""Measures CMA-ES with a full covariance matrix as d grows, as multiples of ZO-RankSGD's time.

    OMP_NUM_THREADS=1 python benchmarks/covariance_cost.py [--out FILE]

Both get 15 points a round of the same function in the same run, in processor time of one thread.
pycma is used directly. It updates the eigendecomposition of its matrix from time to time only;
that is measured by itself, except at the largest d, where it is computed from the one before by
d³. `points` is what both could evaluate in an hour, the decompositions left out, so CMA-ES gets
more than it would.
"""

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

from zorank import Run
from zorank.optimizers import ZORankSGD
from zorank.optimizers.cma_es import load_pycma
from zorank.problems import sphere

M = 15
ROUNDS = {100: 300, 300: 200, 1_000: 30, 3_000: 5, 10_000: 3}
LARGEST_DECOMPOSED = 3_000


def cma_round(d: int, rounds: int) -> float:
    """Return the median seconds of a round of pycma with a full matrix."""
    options = {"popsize": M, "seed": 1, "verbose": -9, "verb_log": 0, "updatecovwait": np.inf}
    strategy = load_pycma().CMAEvolutionStrategy(np.ones(d), 0.3, options)
    taken = []
    for _ in range(rounds + 1):
        began = time.process_time()
        candidates = strategy.ask()
        strategy.tell(candidates, [float(sphere(x)) for x in candidates])
        taken.append(time.process_time() - began)
    return statistics.median(taken[1:])  # the first one allocates


def rank_round(d: int, rounds: int) -> float:
    """Return the median seconds of 15 points of ZO-RankSGD: an estimate and a line search."""
    run = Run(ZORankSGD(m=10, line_search=5, step=1.0, mu=0.01), np.ones(d))
    taken = []
    for _ in range(rounds + 1):
        began = time.process_time()
        for _ in range(2):
            slate = run.ask()
            run.tell(np.argsort([float(sphere(x)) for x in slate]).tolist())
        taken.append(time.process_time() - began)
    return statistics.median(taken[1:])


def decomposition(d: int) -> float:
    """Return the seconds of one eigendecomposition of a d × d covariance matrix."""
    draws = np.random.default_rng(0).standard_normal((d, d // 4))
    matrix = np.eye(d) + draws @ draws.T / d
    began = time.process_time()
    np.linalg.eigh(matrix)
    return time.process_time() - began


def measure() -> list[dict[str, Any]]:
    """Return one row per dimension."""
    rows: list[dict[str, Any]] = []
    for d, rounds in ROUNDS.items():
        ours, theirs = rank_round(d, max(rounds, 20)), cma_round(d, rounds)
        measured = d <= LARGEST_DECOMPOSED
        last = rows[-1] if rows else {}
        eigen = decomposition(d) if measured else last["eigen"] * (d / last["d"]) ** 3
        row = {
            "d": d,
            "zo_ranksgd": ours,
            "cma_es": theirs,
            "ratio": theirs / ours,
            "eigen": eigen,
            "eigen_measured": measured,
            "matrix_bytes": 8 * d * d,
            "points": 3600 / theirs * M,
            "zo_ranksgd_points": 3600 / ours * M,
        }
        rows.append(row)
        print(
            f"{d:>7,} {1e3 * ours:>10.2f} ms {1e3 * theirs:>12.2f} ms {theirs / ours:>8.1f} × "
            f"{eigen:>9.2f} s{'' if measured else ' (computed)'} {8e-6 * d * d:>8.1f} MB",
            flush=True,
        )
    return rows


def main() -> None:
    """Print the table, and write it to a file if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="a JSON file for the results")
    out = parser.parse_args().out
    print(f"{'d':>7} {'ZO-RankSGD':>13} {'CMA-ES':>15} {'ratio':>10} {'eigen':>11} {'matrix':>11}")
    rows = measure()
    if out:
        out.write_text(json.dumps({"rounds": rows, "m": M}, indent=1) + "\n")


if __name__ == "__main__":
    main()
