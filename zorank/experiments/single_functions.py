"""The study `zorank bench functions`: auto and its peers on single functions, with ranks only.

x0 is a draw of N(0, I). A trial counts the points that a peer needs until a candidate is below
each target, or the lowest value that it has seen at the end of its budget. There are five parts:
`targets` and `many` (400 dimensions), `restarts` (Rastrigin's function), `scale` (sigma0 within a
factor of 10), and `top` (answers that name only the best few).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from zorank import rng
from zorank.errors import InvalidInput, check_names
from zorank.experiments.peers import OPTIONAL_PEERS, PEERS, Contender, revision_of
from zorank.experiments.report import Report
from zorank.experiments.single_function_peers import TOP
from zorank.experiments.sweep import Row, Sweep
from zorank.problems import BentCigar, RotatedEllipsoid, ellipsoid, rastrigin, rosenbrock, sphere
from zorank.types import Vector

VERSION = "functions 1"
FIRST_SEED = 500
TARGETS = (1e-1, 1e-3, 1e-6)

Function = Callable[[Vector], Any]
FUNCTIONS: Mapping[str, Callable[[int, int], Function]] = {
    "sphere": lambda d, seed: sphere,
    "ellipsoid": lambda d, seed: ellipsoid,
    "rotated ellipsoid": RotatedEllipsoid,
    "Rosenbrock": lambda d, seed: rosenbrock,
    "bent cigar": BentCigar,
    "Rastrigin": lambda d, seed: rastrigin,
}
"""Functions by name, from (d, seed)."""

CONTENDERS: Mapping[str, Callable[[Vector, float, int], Contender]] = {
    **PEERS,
    **OPTIONAL_PEERS,
    **TOP,
}


@dataclass(frozen=True)
class Trial:
    """One peer on one function from one start.

    Attributes:
        part: a name in `PARTS`.
        peer: a name in `CONTENDERS`.
        function: a name in `FUNCTIONS`.
        dim: the dimension.
        seed: of x0, of a random rotation and of the peer's draws.
        budget: the number of points.
        targets: falling values; the trial ends when all are reached. Without targets, it goes on
            to the end of the budget.
        relative: whether targets are multiples of f(x0).
        sigma0: the initial step size.
        revision: of a peer of zorank.
    """

    part: str
    peer: str
    function: str
    dim: int
    seed: int
    budget: int
    targets: tuple[float, ...] = TARGETS
    relative: bool = True
    sigma0: float = 1.0
    revision: int = 0


def run_trial(trial: Trial) -> Row:
    """Return the points to each target (None: not reached) and the lowest value seen."""
    x0 = rng.for_content(trial.seed, b"x0").standard_normal(trial.dim)
    f = FUNCTIONS[trial.function](trial.dim, trial.seed)
    unit = float(f(x0)) if trial.relative else 1.0
    contender = CONTENDERS[trial.peer](x0, trial.sigma0, trial.seed)
    seen, lowest = 0, float("inf")
    points: list[int | None] = []
    while seen < trial.budget and (not trial.targets or len(points) < len(trial.targets)):
        values = np.array([f(x) for x in contender.ask()])
        contender.tell(values)
        for i, value in enumerate(values.tolist()):
            lowest = min(lowest, value)
            while len(points) < len(trial.targets) and value <= trial.targets[len(points)] * unit:
                points.append(seen + i + 1)
        seen += len(values)
    return {"points": points + [None] * (len(trial.targets) - len(points)), "lowest": lowest}


SWEEP = Sweep("functions", run_trial, VERSION)


def _targets(dims: Sequence[int], seeds: Sequence[int]) -> Iterable[Trial]:
    for d, function, peer in product(dims or (2, 10, 40, 100), FUNCTIONS, PEERS):
        for seed in seeds if d <= 40 else seeds[:3]:
            yield Trial("targets", peer, function, d, seed, 1000 * d)


def _many(dims: Sequence[int], seeds: Sequence[int]) -> Iterable[Trial]:
    peers = ("auto", "pycma VkD", "cmaes SepCMA", "pycma")
    for d, function, peer in product(dims or (400,), ("rotated ellipsoid", "Rosenbrock"), peers):
        for seed in seeds[:3]:
            yield Trial("many", peer, function, d, seed, 500 * d)


def _restarts(dims: Sequence[int], seeds: Sequence[int]) -> Iterable[Trial]:
    for d, peer, seed in product(dims or (2, 5, 10), ("auto", "pycma IPOP", "pycma BIPOP"), seeds):
        yield Trial("restarts", peer, "Rastrigin", d, seed, 5000 * d, (1e-6,), relative=False)


def _scale(dims: Sequence[int], seeds: Sequence[int]) -> Iterable[Trial]:
    for d, sigma0 in product(dims or (10, 20, 40, 100, 200, 1000), (0.1, 1.0, 10.0)):
        own = seeds if d < 1000 else seeds[:2]
        plain = Trial("scale", "auto", "sphere", d, 0, 100 * d, (1e-6 * d,), relative=False)
        yield from (replace(plain, seed=seed, sigma0=sigma0) for seed in own)


def _top(dims: Sequence[int], seeds: Sequence[int]) -> Iterable[Trial]:
    for d, peer, seed in product(dims or (100,), TOP, seeds):
        yield Trial("top", peer, "sphere", d, seed, 3000, ())


PARTS: Mapping[str, Callable[[Sequence[int], Sequence[int]], Iterable[Trial]]] = {
    "targets": _targets,
    "many": _many,
    "restarts": _restarts,
    "scale": _scale,
    "top": _top,
}
"""The trials of each part, from the dimensions (none: the part's own) and the seeds."""


@dataclass(frozen=True)
class Study:
    """The parts of a study.

    Attributes:
        parts: names in `PARTS`.
        dims: the dimensions; empty for those of each part.
        functions: only these; empty for all.
        peers: only these; empty for all.
        seeds: one start each.
    """

    parts: tuple[str, ...] = tuple(PARTS)
    dims: tuple[int, ...] = ()
    functions: tuple[str, ...] = ()
    peers: tuple[str, ...] = ()
    seeds: tuple[int, ...] = tuple(range(FIRST_SEED, FIRST_SEED + 5))

    def __post_init__(self) -> None:
        check_names("part", self.parts, tuple(PARTS))
        check_names("function", self.functions, tuple(FUNCTIONS))
        check_names("peer", self.peers, tuple(CONTENDERS))

    def trials(self) -> list[Trial]:
        """Return all trials, part by part."""
        found = [
            replace(trial, revision=revision_of(trial.peer))
            for part in self.parts
            for trial in PARTS[part](self.dims, self.seeds)
            if trial.function in (self.functions or FUNCTIONS)
            and trial.peer in (self.peers or CONTENDERS)
        ]
        if not found:
            raise InvalidInput(
                "no trial is left: no part in "
                f"{', '.join(self.parts)} has these functions and peers; name others"
            )
        return found


def report(study: Study, rows: Mapping[Trial, Row]) -> Report:
    """Build the report of a study from the rows of its trials."""
    groups: dict[Trial, list[Row]] = {}
    for trial, row in rows.items():
        groups.setdefault(replace(trial, seed=0), []).append(row)
    results = [_result(trial, own) for trial, own in groups.items()]
    return Report(
        name="functions",
        summary={"seeds": list(study.seeds), "results": results},
        draw=lambda figure: draw(figure, results),
    )


def _result(trial: Trial, rows: Sequence[Row]) -> dict[str, Any]:
    """Return the results of a peer in one condition as JSON values."""
    points = np.array([row["points"] for row in rows], dtype=np.float64)
    points = np.where(np.isnan(points), np.inf, points)
    return {
        "part": trial.part,
        "peer": trial.peer,
        "function": trial.function,
        "dim": trial.dim,
        "sigma0": trial.sigma0,
        "budget": trial.budget,
        "runs": len(rows),
        "targets": list(trial.targets),
        "median_points": _finite(np.median(points, axis=0)),
        "points": [_finite(own) for own in points],
        "median_lowest": float(np.median([row["lowest"] for row in rows])),
    }


def _finite(values: Vector) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]


def draw(figure: Any, results: Sequence[Mapping[str, Any]]) -> None:
    """Draw the median points per dimension to the last target reached in half of the runs."""
    ends = [
        (result, [p for p in result["median_points"] if p is not None])
        for result in results
        if result["targets"]
    ]
    figure.set_size_inches(6.5, 1.2 + 0.16 * max(len(ends), 4))
    axes = figure.subplots()
    labels = [f"{r['function']}, d = {r['dim']}, {r['peer']}" for r, _ in ends]
    axes.barh(range(len(ends)), [p[-1] / r["dim"] if p else 0 for r, p in ends], height=0.7)
    axes.set_yticks(range(len(ends)), labels, fontsize=6)
    axes.invert_yaxis()
    axes.set_xlabel("points / d to the last target reached in half of the runs")
    axes.grid(axis="x", alpha=0.2, lw=0.6)


__all__ = ["FUNCTIONS", "PARTS", "SWEEP", "Study", "Trial", "report", "run_trial"]
