"""The paper's statements about single estimates of a direction, checked by sampling.

The information in an answer is E cos²(g, ∇f), the share of the gradient that the estimate g
contains: from a ranking, from as many comparisons with x (SCOBO), and from values minus their mean
(ZO-SGD), for a linear f, which every smooth f is as μ → 0. Further: the effect of μ, the memory of
Algorithm 3, second moments and variances in k, and how far mild noise turns the estimate. The mean
of g̃ of a linear f lies along ∇f, so its variance is E|g̃|² − (E⟨g̃, u⟩)² with u = ∇f/|∇f|.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from zorank import rng
from zorank.estimators import against_first, rank_gradient
from zorank.experiments.claims import Claim, difference_claim
from zorank.experiments.paper.context import FigureContext
from zorank.experiments.paper.curve_figures import value_ratio
from zorank.experiments.paper.curve_panels import PROBLEM_NAMES, STYLES
from zorank.experiments.paper.curves import PROBLEMS
from zorank.experiments.report import Report
from zorank.experiments.sweep import Row, Sweep
from zorank.theory import edges, neighbouring_pairs
from zorank.types import Matrix, Ranking, Vector

DIM = 100
RUNS, DRAWS = 20, 400
RADII = (1.0, 0.1, 0.01, 0.001)
NOISES = (0.1, 0.3, 1.0, 3.0)
TASKS = {"Reacher": 24, "Swimmer": 18, "HalfCheetah": 108}
TOP = ((100, 1), (100, 10), (100, 100))
MEMORY = (1, 5)
POINTS = ("at x0", "near the minimum")
PAIR_AND_TEN = ("variance 2 2", "variance 10 10")


@dataclass(frozen=True)
class Trial:
    """Means over many draws; trials differ in their seeds only."""

    draws: int
    seed: int


def by_ranking(xi: Matrix, values: Vector) -> Vector:
    """Return the direction from a full ranking of all points."""
    return rank_gradient(xi, Ranking.from_values(values))


def by_comparisons(xi: Matrix, values: Vector) -> Vector:
    """Return the direction from comparisons of all points but the first with x, the first."""
    beaten = Ranking.from_values(np.concatenate(([0.0], values[1:])))
    return np.asarray(against_first(beaten, len(xi))[1:] @ xi[1:])


def by_values(xi: Matrix, values: Vector) -> Vector:
    """Return the direction from values, minus their mean."""
    return np.asarray((values - values.mean()) @ xi)


def by_differences(xi: Matrix, values: Vector) -> Vector:
    """Return the direction from values, minus that of x, the first point."""
    return np.asarray((values[1:] - values[0]) @ xi[1:])


def run_trial(trial: Trial) -> Row:
    """Return all means of one trial."""
    draw = rng.for_content(trial.seed, b"estimates").standard_normal
    many = range(trial.draws)
    return {
        "told": {
            f"{by.__name__} {m} {d}": float(np.mean([_cos2(by, draw((m, d))) for _ in many]))
            for by, m, d in _TOLD
        },
        "aligned": {
            f"{problem} {point} {mu:g}": float(
                np.mean([_aligned(problem, point, mu, draw) for _ in many])
            )
            for problem in PROBLEMS
            for point in POINTS
            for mu in RADII
        },
        "memory": {
            f"{tau}": float(
                np.mean([_first(sum(_ranked(draw((6, DIM))) for _ in range(tau))) for _ in many])
            )
            for tau in MEMORY
        },
        **_moments(trial.draws, draw),
        "turned": {
            f"{by.__name__} {noise:g}": float(np.mean([_turned(by, noise, draw) for _ in many]))
            for by in (by_ranking, by_values, by_differences)
            for noise in NOISES
        },
    }


def _moments(draws: int, draw: Callable[..., Matrix]) -> Row:
    """Return E|g̃|² and the variance E|g̃|² − |E g̃|² of several rankings, by m and k."""
    moment, variance = {}, {}
    for m, k in ((2, 2), (10, 10), *TOP):
        estimates = np.stack([_ranked(draw((m, DIM)), k) for _ in range(draws)])
        second = float((estimates**2).sum(axis=1).mean())
        moment[f"{m} {k}"] = second
        variance[f"{m} {k}"] = second - float(estimates[:, 0].mean()) ** 2
    return {"moment": moment, "variance": variance}


_TOLD: tuple[tuple[Callable[[Matrix, Vector], Vector], int, int], ...] = (
    *((by, 10, DIM) for by in (by_ranking, by_comparisons, by_values)),
    *((by_ranking, 5, d) for d in TASKS.values()),
    *((by_comparisons, m, d) for m in (5, 11) for d in TASKS.values()),
)
"""How a direction is estimated, from how many points, and d."""


def _first(g: Any) -> float:
    """Return cos² of a direction and the first axis, which is ∇f."""
    return float(g[0] ** 2 / (g @ g))


def _cos2(by: Callable[[Matrix, Vector], Vector], xi: Matrix) -> float:
    return _first(by(xi, xi[:, 0]))


def _ranked(xi: Matrix, k: int | None = None) -> Vector:
    return rank_gradient(xi, Ranking.from_values(xi[:, 0], top=k))


def _aligned(problem: str, point: str, mu: float, draw: Callable[..., Matrix]) -> float:
    """Return the cosine of an estimate from 10 ranked neighbours and the gradient."""
    f = PROBLEMS[problem]
    x = draw(DIM)
    if point != POINTS[0]:
        x = 0.01 * x + (problem == "rosenbrock")
    xi = draw((10, DIM))
    step = 1e-5 * np.eye(DIM)
    gradient = (f(x + step) - f(x - step)) / 2e-5
    g = by_ranking(xi, np.asarray(f(x + mu * xi)))
    return float(g @ gradient / np.linalg.norm(g) / np.linalg.norm(gradient))


def _turned(
    by: Callable[[Matrix, Vector], Vector], noise: float, draw: Callable[..., Matrix]
) -> float:
    """Return 1 − cos of the estimates with and without noise, in units of the values' sd."""
    xi = draw((10, DIM))
    if by is by_differences:
        xi[0] = 0.0
    clean, noisy = by(xi, xi[:, 0]), by(xi, xi[:, 0] + noise * draw(10))
    return float(1 - clean @ noisy / np.linalg.norm(clean) / np.linalg.norm(noisy))


SWEEP = Sweep("estimates", run_trial, "estimates 3", kind="Estimates")


def reproduce(context: FigureContext) -> Report:
    """Sample all estimates."""
    runs, draws = (3, 20) if context.quick else (RUNS, DRAWS)
    rows = context.run(SWEEP, [Trial(draws, seed) for seed in range(runs)])
    found = {
        f"{kind} {name}": np.array([row[kind][name] for row in rows.values()])
        for kind, names in next(iter(rows.values())).items()
        for name in names
    }
    return context.report(
        name="estimates",
        title=f"Estimates of a direction, {runs * draws:,} draws each",
        claims=_claims(found),
        draw=lambda figure: _draw(figure, found),
        columns=("quantity", "mean", "standard_error"),
        records=[
            (name, f"{v.mean():.6g}", f"{v.std(ddof=1) / len(v) ** 0.5:.2g}")
            for name, v in found.items()
        ],
        details={"draws": runs * draws, "means": {n: float(v.mean()) for n, v in found.items()}},
        measure="How many times larger the first is; of μ, how much larger the cosine is",
    )


def _claims(found: Mapping[str, Vector]) -> list[Claim]:
    linear = f"linear, d = {DIM}"
    ten = f"{linear}, 10 points"
    ranks, pairs, values = (
        f"told by_{by} 10 {DIM}" for by in ("ranking", "comparisons", "values")
    )
    rows: list[tuple[str, str, str, str, str, float]] = [
        ("a ranking tells more than comparisons", MORE, ten, ranks, pairs, 1.0),
        ("a ranking tells 90% of what values tell", ALMOST, ten, ranks, values, 0.9),
        ("five directions tell more than one", AVERAGE, linear, "memory 5", "memory 1", 1.0),
        ("one pair varies more than (10, 10)", REDUCED, linear, *PAIR_AND_TEN, 1.0),
    ]
    for task, d in TASKS.items():
        five, four, many = (
            f"told by_{by} {d}" for by in ("ranking 5", "comparisons 5", "comparisons 11")
        )
        where = f"linear, d = {d} ({task})"
        rows += [
            ("a ranking of 5 tells more than 4 comparisons", BETWEEN, where, five, four, 1.0),
            ("10 comparisons tell more than a ranking of 5", BETWEEN, where, many, five, 1.0),
        ]
    for (m, fewer), (_, more) in pairwise(TOP):
        where = f"{linear}, ({m}, {fewer}) and ({m}, {more})"
        needed = _second_term(m, fewer) / _second_term(m, more)
        for kind, label in (("variance", "the variance"), ("moment", "E‖g̃‖²")):
            name = f"{label} falls as far as Lemma 4's second term"
            quantities = (f"{kind} {m} {fewer}", f"{kind} {m} {more}")
            rows.append((name, SCALES, where, *quantities, needed))
    for noise in NOISES:
        for by, label in (("values", "minus the mean"), ("differences", "minus f(x)")):
            turned = (f"turned by_{by} {noise:g}", f"turned by_ranking {noise:g}", 1.0)
            name = f"noise turns ranks less than values {label}"
            rows.append((name, VARIES, f"{linear}, noise {noise:g} sd", *turned))
    return [_larger(found, *row) for row in rows] + _alignment_claims(found)


def _second_term(m: int, k: int) -> float:
    """Return Lemma 4's second term over M2."""
    return neighbouring_pairs(m, k) / edges(m, k) ** 2


def _larger(
    found: Mapping[str, Vector],
    name: str,
    says: str,
    where: str,
    first: str,
    second: str,
    needed: float,
) -> Claim:
    measured, interval = value_ratio(found[second], found[first])
    return Claim(name, says, where, "", interval[0] > needed, measured, interval, needed)


def _alignment_claims(found: Mapping[str, Vector]) -> list[Claim]:
    """Return claims about the difference of the cosine between a radius and the next smaller."""
    return [
        difference_claim(
            "smaller μ aligns better",
            "With smaller μ the estimated gradient aligns better with the true one.",
            f"{label}, {point}, μ = {narrow:g} against {wide:g}",
            "",
            found[f"aligned {problem} {point} {narrow:g}"]
            - found[f"aligned {problem} {point} {wide:g}"],
        )
        for problem, label in PROBLEM_NAMES.items()
        for point in POINTS
        for wide, narrow in pairwise(RADII)
    ]


MORE = "The ranking oracle contains more information than the pairwise comparison oracle."
ALMOST = "The ranking oracle can be almost as informative as the valuing oracle."
AVERAGE = "More estimates form a more accurate gradient estimator."
REDUCED = "The benefit of a ranking over a single comparison is a reduced variance."
BETWEEN = "A ranking of 5 lies between 4 and 10 independent comparisons."
SCALES = "The second variance term dominates and scales as 1/k."
VARIES = "Ranks may exhibit less variability under mild additive noise."


def _draw(figure: Any, found: Mapping[str, Vector]) -> None:
    figure.set_size_inches(10.5, 3.2)
    told, aligned, turned = figure.subplots(1, 3)
    names = {"comparisons": "SCOBO", "ranking": "ZO-RankSGD", "values": "ZO-SGD"}
    for place, (by, label) in enumerate(names.items()):
        values = found[f"told by_{by} 10 {DIM}"]
        told.bar(place, values.mean(), yerr=values.std(), color=STYLES[label]["color"], width=0.6)
    told.set_xticks(range(3), ["comparisons", "ranking", "values"])
    told.set_title(f"E cos²(g, ∇f), linear f, d = {DIM}, 10 points", fontsize=8)
    for problem, label in PROBLEM_NAMES.items():
        for point, style in zip(POINTS, ("-", "--"), strict=True):
            means = [found[f"aligned {problem} {point} {mu:g}"].mean() for mu in RADII]
            colour = STYLES["ZO-RankSGD" if problem == "quadratic" else "ZO-SGD"]["color"]
            aligned.plot(
                RADII, means, style, marker="o", ms=3, color=colour, label=f"{label}, {point}"
            )
    aligned.set_xscale("log")
    aligned.set_xlabel("μ")
    aligned.set_title("mean cosine of estimate and gradient", fontsize=8)
    _draw_noise(turned, found)
    for axes in (aligned, turned):
        axes.legend(frameon=False, fontsize=6)


def _draw_noise(axes: Any, found: Mapping[str, Vector]) -> None:
    kinds: Sequence[tuple[str, str, str, str]] = (
        ("ranking", "ranks", "ZO-RankSGD", "o-"),
        ("values", "values minus the mean", "ZO-SGD", "o-"),
        ("differences", "values minus f(x)", "ZO-SGD", "o:"),
    )
    for by, label, style, line in kinds:
        means = [found[f"turned by_{by} {noise:g}"].mean() for noise in NOISES]
        axes.plot(NOISES, means, line, ms=3, color=STYLES[style]["color"], label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("noise, in sd of the values")
    axes.set_title("1 − cosine of noisy and exact estimate", fontsize=8)
