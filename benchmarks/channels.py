"""What it costs to keep the channels of latents like noise, on `dream`.

    python benchmarks/channels.py --seeds 20 --out channels.json

A simulated person with a taste in pictures of a prompt (`picture_qualities`) answers 20 rounds of
rank-process, once without and once with `channels`. For speed, pictures have four sampling steps.
It prints each pair of runs, how many of them drifted (ended with an unusual channel), the
differences in gain, and how well the results of those fit the prompt by the built-in judge.
"""

import argparse
import json
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from zorank.experiments.paper.latents import PROMPTS, fit_by_dream
from zorank.experiments.picture_qualities import Picture, taste_in_pictures
from zorank.experiments.simulated_raters import SimulatedRater, Taste, run_session
from zorank.optimizers import RankProcess
from zorank.renderers import Dream
from zorank.types import Vector

ROUNDS = 20
REPORTED = (5, 10, 20)
FEW_STEPS, RANDOM = 4, 10


def main() -> None:
    """Run the persons, print and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--first", type=int, default=6000)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    rows = [pair(seed) for seed in range(args.first, args.first + args.seeds)]
    args.out.write_text(json.dumps({"rows": rows, **summary(rows)}, indent=1) + "\n")
    print(json.dumps(summary(rows), indent=1))


def pair(seed: int) -> dict[str, Any]:
    """Run one person without and with channels."""
    dream = Dream(prompt=PROMPTS[seed % len(PROMPTS)], steps=FEW_STEPS)

    @lru_cache(maxsize=4096)
    def drawn(candidate: bytes) -> Picture:
        return dream.small_picture(np.frombuffer(candidate))

    taste = taste_in_pictures(lambda x: drawn(np.asarray(x).tobytes()), dream.dim, seed)
    free, kept = (session(dream, taste, seed, channels) for channels in (0, dream.shape[0]))
    drifted = free["largest"] > 4
    row = {"seed": seed, "free": free, "kept": kept, "drifted": drifted}
    print(seed, free["gains"], free["largest"], kept["gains"], kept["largest"], flush=True)
    best = [run.pop("best") for run in (free, kept)]
    return {**row, "fits": fits(dream, best, seed)} if drifted else row


def session(dream: Dream, taste: Taste, seed: int, channels: int) -> dict[str, Any]:
    """Return the gains of a session and the largest z-score of the channels of its result."""
    seen: list[Vector] = []
    optimizer = RankProcess(space="gaussian", pick=True, channels=channels)
    rater = SimulatedRater(noise=0.1)
    found = run_session(optimizer, taste, dream.dim, rater, ROUNDS + 1, seed, seen.append)
    gains = [found.gains[n] for n in REPORTED]
    return {"gains": gains, "largest": dream.drift(seen[-1])["largest"], "best": seen[-1]}


def fits(dream: Dream, best: list[Vector], seed: int) -> list[float]:
    """Return how well full pictures fit the prompt, in standard deviations of random ones."""
    full = replace(dream, steps=Dream.steps)
    draws = np.random.default_rng(seed)
    random = [draws.standard_normal(dream.dim) for _ in range(RANDOM)]
    fit = fit_by_dream(np.stack([full.small_picture(x) for x in (*best, *random)]), dream.prompt)
    scores: list[float] = ((fit[:2] - fit[2:].mean()) / fit[2:].std()).tolist()
    return scores


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return counts, and mean differences with their standard errors."""
    drifted = [row for row in rows if row["drifted"]]

    def lead(some: list[dict[str, Any]], after: int) -> tuple[float, float]:
        place = REPORTED.index(after)
        return mean([row["kept"]["gains"][place] - row["free"]["gains"][place] for row in some])

    return {
        "runs": len(rows),
        "drifted": len(drifted),
        "drifted with channels": sum(row["kept"]["largest"] > 4 for row in rows),
        "gains": [float(np.mean([row["free"]["gains"][i] for row in rows])) for i in range(3)],
        "lead": {after: lead(rows, after) for after in REPORTED},
        "lead of drifted": {after: lead(drifted, after) for after in REPORTED},
        "fit of drifted": mean([row["fits"][1] - row["fits"][0] for row in drifted]),
    }


def mean(differences: list[float]) -> tuple[float, float]:
    """Return the mean and its standard error; NaN if there are too few."""
    if len(differences) < 2:
        return float("nan"), float("nan")
    return float(np.mean(differences)), float(np.std(differences, ddof=1)) / len(
        differences
    ) ** 0.5


if __name__ == "__main__":
    main()
