"""Draw the best faces of sessions: `python benchmarks/faces/strip.py OUT.jpg SEED…`.

The sessions are those of `zorank bench looks --only faces --method rank-looks`. The models of
`convert.py` must be in the folder ZORANK_FACES.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from PIL import Image

from zorank.experiments.looks import faces, study
from zorank.experiments.looks.cases import FACES, looks_of
from zorank.experiments.simulated_raters import SimulatedRater, run_session

SHOWN = (0, 1, 5, 10, 20)
"""The rounds whose best is drawn; 0 is the face that was picked of six random ones."""


def row(seed: int) -> Any:
    """Return the faces of a session, (128, width, 3), and print their gains."""
    chosen = study.study_for(parts=(FACES,), methods=(study.LOOKS,), tastes=(faces.MAIN,))
    (condition,) = chosen.conditions()
    best: list[Any] = []
    found = run_session(
        study.optimizer_of(condition),
        faces.taste(condition.dim),
        condition.dim,
        SimulatedRater(condition.noise),
        condition.rounds + 1,
        seed,
        watch=best.append,
        looks=looks_of(FACES, condition.taste, seed),
    )
    print(seed, *(f"{found.gains[n]:.2f}" for n in SHOWN), flush=True)
    return np.concatenate([faces.picture(best[n]) for n in SHOWN], axis=1)


def main(out: str, *seeds: str) -> None:
    """Draw one row for each seed; the picture is written after each of them."""
    rows: list[Any] = []
    for seed in seeds:
        rows.append((255 * row(int(seed))).round().astype(np.uint8))
        Image.fromarray(np.concatenate(rows)).save(out, quality=80)


if __name__ == "__main__":
    main(*sys.argv[1:])
