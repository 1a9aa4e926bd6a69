"""auto against its peers beyond BBOB: points to targets, noise, top-k, scale, time; and its parts.

    python benchmarks/auto.py targets      # points to 1e-1, 1e-3, 1e-6 of f(x0), median of 5 seeds
    python benchmarks/auto.py many         # the same in d = 400, median of 3 seeds, 500·d points
    python benchmarks/auto.py restarts     # Rastrigin's function, beside pycma with restarts
    python benchmarks/auto.py scale        # the sphere, for sigma0 within a factor of 10
    python benchmarks/auto.py noise        # f after 10,000 points, against tuned ZO-RankSGD;
                                           # writes docs/results/auto-noise.json
    python benchmarks/auto.py top          # best 3 of 6, best of 6
    python benchmarks/auto.py time         # time of a point, against pycma and cmaes in turns
    python benchmarks/auto.py parts        # each part taken away, on BBOB

x0 ~ N(0, I), sigma0 = 1 unless said otherwise; seeds 500 and on, BBOB instances 71 and on.
"""

import json
import math
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from zorank import optimizers, rng
from zorank.experiments import bbob
from zorank.experiments.claims import Claim
from zorank.experiments.paper.curve_figures import ratio_claims
from zorank.experiments.paper.curve_panels import PROBLEM_NAMES
from zorank.experiments.paper.curves import Curves, Setting, follow, trials_of
from zorank.experiments.peers import GUESTS, PEERS, Contender, Ours, Pycma
from zorank.optimizers.auto import Auto
from zorank.optimizers.auto_tuning import Tuning
from zorank.optimizers.cma_es import load_pycma
from zorank.problems import BentCigar, RotatedEllipsoid, ellipsoid, rastrigin, rosenbrock, sphere
from zorank.types import Vector

RESULTS = Path(__file__).parents[1] / "docs" / "results"
SEEDS = range(500, 505)
POINTS = 10_000
"""With a noisy judge."""

Function = Callable[[Vector], Any]
TARGETS = (1e-1, 1e-3, 1e-6)
FUNCTIONS: dict[str, Callable[[int, int], Function]] = {
    "sphere": lambda d, seed: sphere,
    "ellipsoid": lambda d, seed: ellipsoid,
    "rotated ellipsoid": RotatedEllipsoid,
    "Rosenbrock": lambda d, seed: rosenbrock,
    "bent cigar": BentCigar,
    "Rastrigin": lambda d, seed: rastrigin,
}


def points_to(
    contender: Contender,
    f: Function,
    f0: float,
    budget: int,
    targets: Sequence[float] = TARGETS,
) -> list[float]:
    """Points after which a candidate was below each target, inf if none was."""
    seen = 0
    found: list[float] = []
    while seen < budget and len(found) < len(targets):
        candidates = contender.ask()
        values = np.array([f(x) for x in candidates])
        contender.tell(values)
        for i, value in enumerate(values):
            while len(found) < len(targets) and value <= targets[len(found)] * f0:
                found.append(seen + i + 1)
        seen += len(values)
    return found + [math.inf] * (len(targets) - len(found))


def start(d: int, seed: int) -> Vector:
    """x0 of a seed."""
    return rng.for_content(seed, b"x0").standard_normal(d)


def targets(peers: Sequence[str] = tuple(PEERS)) -> None:
    """Points to targets on single functions."""
    dims = [int(d) for d in sys.argv[2:]] or [2, 10, 40, 100]
    for d in dims:
        for name, make in FUNCTIONS.items():
            for peer in peers:
                if d > 100 and peer in ("pycma", "cmaes CMA"):
                    continue  # hours
                rows = []
                for seed in SEEDS if d <= 40 else SEEDS[:3]:
                    x0, f = start(d, seed), make(d, seed)
                    contender = PEERS[peer](x0, 1.0, seed)
                    rows.append(points_to(contender, f, float(f(x0)), 1000 * d))
                told = " / ".join(f"{p:.0f}" for p in np.median(rows, axis=0))
                print(f"d = {d:5}  {name:18} {peer:15} {told}", flush=True)


def many() -> None:
    """Points to targets in 400 dimensions."""
    d = 400
    for name in ("rotated ellipsoid", "Rosenbrock"):
        for peer in ("auto", "pycma VkD", "cmaes SepCMA", "pycma"):
            rows = []
            for seed in SEEDS[:3]:
                x0, f = start(d, seed), FUNCTIONS[name](d, seed)
                contender = PEERS[peer](x0, 1.0, seed)
                rows.append(points_to(contender, f, float(f(x0)), 500 * d, TARGETS))
            told = " / ".join(f"{p:.0f}" for p in np.median(rows, axis=0))
            print(f"{name:18} {peer:15} {told}", flush=True)


def restarts() -> None:
    """Points per dimension to the lowest dent of Rastrigin's function, within 5,000·d."""
    for d in [int(d) for d in sys.argv[2:]] or [2, 5, 10]:
        for name, race in (("auto", ours_to_lowest), ("pycma, 9 restarts", pycma_to_lowest)):
            told = " ".join(f"{race(start(d, seed), seed, 5000 * d) / d:.0f}" for seed in SEEDS)
            print(f"d = {d:2}  {name:18} {told}", flush=True)


def ours_to_lowest(x0: Vector, seed: int, budget: int) -> float:
    """Points until auto was below 1e-6."""
    contender = PEERS["auto"](x0, 1.0, seed)
    return points_to(contender, rastrigin, 1.0, budget, TARGETS[2:])[0]


def pycma_to_lowest(x0: Vector, seed: int, budget: int) -> float:
    """Points until pycma was, which doubles its population at each of nine restarts from x0."""
    seen = 0
    lowest = math.inf

    def f(x: Vector) -> float:
        nonlocal seen, lowest
        seen += 1
        lowest = min(lowest, float(rastrigin(x)))
        return float(rastrigin(x))

    options: dict[str, Any] = {"verbose": -9, "verb_log": 0, "seed": seed + 1}
    options |= {"maxfevals": budget, "ftarget": TARGETS[2]}
    load_pycma().fmin2(f, x0, 1.0, options, restarts=9)
    return seen if lowest <= TARGETS[2] else math.inf


def scale() -> None:
    """The sphere from a start that is too narrow, right, or too wide."""
    for d in (10, 20, 40, 100, 200, 1000):
        told = []
        for sigma0 in (0.1, 1.0, 10.0):
            rows = [
                points_to(PEERS["auto"](start(d, s), sigma0, s), sphere, d, 100 * d, (1e-6,))
                for s in (SEEDS if d < 1000 else SEEDS[:2])
            ]
            told.append(f"{np.median(rows) / d:.1f}")
        print(f"sphere, d = {d}: points/d to 1e-6 for sigma0 .1 / 1 / 10: {' / '.join(told)}")


def noise() -> None:
    """Against ZO-RankSGD, with the settings and seeds of `zorank reproduce noise`."""
    claims: list[Claim] = []
    rows = []
    for line in json.loads((RESULTS / "noise.json").read_text())["lines"]:
        if line["method"] != "zo-ranksgd":
            continue
        problem, sd, seeds = line["problem"], line["noise"], line["seeds"]
        tuned = Setting("zo-ranksgd", tuple(line["options"].items()))
        ours, theirs = (noisy(problem, sd, s, seeds) for s in (Setting("auto"), tuned))
        where = f"{PROBLEM_NAMES[problem]}, noise {sd:g}"
        claims += ratio_claims("auto ahead of ZO-RankSGD", "", where, ours, theirs, [POINTS])
        found = [float(curves.at(POINTS).mean()) for curves in (ours, theirs)]
        rows.append({"where": where, "auto": found[0], "zo-ranksgd": found[1]})
        print(f"{where}: auto {found[0]:.3g}, ZO-RankSGD {found[1]:.3g}", flush=True)
    kept = {
        "command": "python benchmarks/auto.py noise",
        "revision": optimizers.REGISTRY["auto"].revision,
        "seeds": len(seeds),
        "points": POINTS,
        "rows": rows,
        "claims": [claim.to_json() for claim in claims],
    }
    (RESULTS / "auto-noise.json").write_text(json.dumps(kept, indent=1) + "\n")


def noisy(problem: str, sd: float, setting: Setting, seeds: Sequence[int]) -> Curves:
    """The true values of runs with a noisy judge, d = 100."""
    trials = trials_of(problem, 100, setting, POINTS, seeds, sd)
    return Curves.of(trials, {trial: follow(trial) for trial in trials})


class OnlyTheBest:
    """pycma told only which k were best, in order: the others tie, in a random order."""

    def __init__(self, k: int, x0: Vector, seed: int) -> None:
        self.k, self.draws = k, np.random.default_rng(0)
        self.inner = Pycma(x0, 1.0, seed, {"popsize": 6})

    def ask(self) -> Vector:
        """A population."""
        return self.inner.ask()

    def tell(self, values: Vector) -> None:
        """The best k in order, the rest in a random one."""
        ranks = np.argsort(np.argsort(values)).astype(float)
        named = ranks < self.k
        ranks[~named] = self.k + self.draws.permutation((~named).sum())
        self.inner.tell(ranks)


def top() -> None:
    """From the best few only."""
    d, points = 100, 3000
    for k in (1, 3):
        ours, theirs, tuned = [], [], math.inf
        for seed in SEEDS:
            x0 = start(d, seed)
            ours.append(after(Ours(Auto(m=6, k=k), x0, seed), points))
            theirs.append(after(OnlyTheBest(k, x0, seed), points))
        for step in (0.316, 1.0, 3.16, 10.0, 31.6):
            for mu in (1e-4, 1e-3, 1e-2, 1e-1):
                options = {"m": 6, "k": k, "step": step, "mu": mu}
                other = optimizers.make("zo-ranksgd", options)
                tried = [after(Ours(other, start(d, s), s), points) for s in SEEDS]
                tuned = min(tuned, float(np.median(tried)))
        told = f"auto {np.median(ours):.3g}, pycma {np.median(theirs):.3g}, zo-ranksgd {tuned:.3g}"
        print(
            f"sphere, d = {d}, best {k} of 6, lowest f seen in {points} points: {told}", flush=True
        )


def after(contender: Contender, points: int) -> float:
    """The lowest value seen within so many points."""
    seen, best = 0, math.inf
    while seen < points:
        values = np.array([sphere(x) for x in contender.ask()])
        contender.tell(values)
        seen, best = seen + len(values), min(best, values.min())
    return best


def time() -> None:
    """CPU time of a point beside its evaluation: auto, pycma and cmaes in turns, median."""
    from point_cost import ratios

    ratios()


def variant(tuning: Tuning, x0: Vector, sigma0: float, seed: int) -> Contender:
    """Auto with other constants."""
    return Ours(Auto(sigma0=sigma0).search(tuning), x0, seed)


def gaussian(m: int, d: int, draws: np.random.Generator) -> Vector:
    """Directions as CMA-ES draws them."""
    return draws.standard_normal((m, d))


def equal_lengths(m: int, d: int, draws: np.random.Generator) -> Vector:
    """Directions of one length, not orthogonal."""
    z = draws.standard_normal((m, d))
    return np.asarray(z * math.sqrt(d) / np.linalg.norm(z, axis=1, keepdims=True))


def positive(weights: Vector, scores: Vector) -> Vector:
    """Only the better half counts for the step."""
    order = np.argsort(scores, kind="stable")
    logs = np.maximum(np.log((len(order) + 1) / 2) - np.log(np.arange(1, len(order) + 1)), 0)
    result = np.empty_like(logs)
    result[order] = logs if abs(weights.sum()) < 1e-9 else weights
    return np.asarray(result)


PARTS = {
    "all parts": Tuning(),
    "no quadratic model": Tuning(max_model_dim=0),
    "covariance apart from the model": Tuning(model_rate=0.0),
    "directions of their own every round": Tuning(max_past_dim=0),
    "only checks allow restarts": Tuning(agreeing_credit=2.0),
    "Gaussian directions": Tuning(directions=gaussian, max_past_dim=0),
    "equal lengths, not orthogonal": Tuning(directions=equal_lengths, max_past_dim=0),
    "only the better half counts": Tuning(assign=positive),
    "no wider than the step": Tuning(width=1.0, width_if_many=1.0),
    "three times as wide": Tuning(width=3.0, width_if_many=3.0),
    "damping 1 instead of .5": Tuning(damping=1.0),
    "steps grow by up to e^.3": Tuning(max_growth=0.3),
}


def parts() -> None:
    """Each part taken away in turn."""
    dims = [int(d) for d in sys.argv[2:]] or [3, 10, 40]
    for name, tuning in PARTS.items():
        GUESTS[name] = partial(variant, tuning)
        told = []
        for d in dims:
            study = bbob.Study((d,), tuple(range(71, 74)), (name,))
            found = bbob.standings(study, {t: bbob.run_trial(t) for t in study.trials()})
            s = found[name, d]
            told.append(f"{100 * s.areas.mean():.1f} / {100 * s.hit.mean():.0f}%")
        print(f"{name:32} " + "   ".join(told), flush=True)


if __name__ == "__main__":
    commands = {f.__name__: f for f in (targets, many, restarts, scale, noise, top, time, parts)}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]]()
