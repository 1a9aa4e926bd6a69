"""Measures paintings and tastes in them, and draws the strip of docs/style.md.

    python benchmarks/style.py times
    python benchmarks/style.py ceilings mix 3000 10
    python benchmarks/style.py strip docs/images/style.jpg

Times are medians of five, in seconds of wall clock and of CPU. A rater's ceiling is the gain of
the very painting that the rater has in mind, in sd of random paintings. The strip has a row for
each of two raters of `zorank bench looks --only style`: the photo, the picked start, the best
after 20 rounds of rank-looks, and the painting that the rater has in mind. The raters are the
first two seeds of the benchmark, not selected ones.
"""

import statistics
import sys
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import numpy as np
from PIL import Image

from zorank.experiments.looks import painting_styles
from zorank.experiments.looks.cases import looks_of, plan_of
from zorank.experiments.simulated_raters import SimulatedRater, run_session
from zorank.optimizers import make
from zorank.renderers import Style
from zorank.renderers.style import DIMS, MIX, SAMPLE

REPEATS, ROUNDS, SEEDS = 5, 20, (3000, 3001)


def median_times(work: Callable[[], object]) -> tuple[float, float]:
    """Return the median seconds of a call: of wall clock, and of CPU."""
    walls, cpus = [], []
    for _ in range(REPEATS):
        wall, cpu = perf_counter(), process_time()
        work()
        walls.append(perf_counter() - wall)
        cpus.append(process_time() - cpu)
    return statistics.median(walls), statistics.median(cpus)


def times() -> None:
    """Print the times of one painting, of six, and of one look."""
    draws = np.random.default_rng(0)
    for styles in DIMS:
        style = Style(styles=styles)
        candidates = draws.standard_normal((6, style.dim))
        style.render(candidates[:1])
        for name, work in {
            "one painting": lambda style=style, x=candidates[:1]: style.render(x),
            "six paintings": lambda style=style, x=candidates: style.render(x),
            "one look": lambda style=style, x=candidates[:1]: style.look(x),
        }.items():
            wall, cpu = median_times(work)
            print(f"{styles:5} {name:14} {wall:6.3f} s, {cpu:6.3f} s of CPU")


def ceilings(styles: str, first: str, count: str) -> None:
    """Print the gain of the painting that each rater has in mind, where the distance is 0."""
    tastes = (painting_styles.style_taste(styles, int(first) + n) for n in range(int(count)))
    found = [taste.mean / taste.sd for taste in tastes]
    print(*(f"{ceiling:.2f}" for ceiling in found), f"mean {statistics.mean(found):.2f}")


def session(seed: int) -> list[Any]:
    """Return the pictures of one rater's row, (rows, columns, 3) each."""
    bests: list[Any] = []
    plan = plan_of("style", MIX)
    optimizer = make(
        "rank-looks", {"m": 6, "space": "gaussian", "pick": True, "pool": plan.pool if plan else 0}
    )
    run_session(
        optimizer,
        painting_styles.style_taste(MIX, seed),
        DIMS[MIX],
        SimulatedRater(0.1),
        ROUNDS + 1,
        seed,
        watch=bests.append,
        looks=looks_of("style", MIX, seed),
    )
    painter = Style(styles=MIX, size=384)
    side = painting_styles.PAINTED_SIDES[MIX]
    shares = [painter.style(bests[0]), painter.style(bests[-1])]
    shares.append(painting_styles.hidden_shares(seed))
    return [painter.painted(each, side) for each in shares]


def strip(file: str) -> None:
    """Draw the strip."""
    photo = np.asarray(Image.open(SAMPLE).convert("RGB").resize((384, 288)))
    rows = [np.concatenate([photo, *session(seed)], axis=1) for seed in SEEDS]
    Image.fromarray(np.concatenate(rows)).save(file, quality=85)


if __name__ == "__main__":
    command, *given = sys.argv[1:] or ["times"]
    commands: dict[str, Callable[..., None]] = {
        "times": times,
        "ceilings": ceilings,
        "strip": strip,
    }
    commands[command](*given)
