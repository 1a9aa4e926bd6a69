"""Measures what docs/theory.md reports from sampling: second moments of g̃, and Theorem 1's slack.

    python benchmarks/theory.py

The first table is E|g̃|² of f = |x|² at x = (.5, …, .5) in d = 50 with μ = .001, from 2,000 draws,
beside the bounds; M1 and M2 are estimated from 20,000 draws. The second is ⟨∇f, E g̃⟩ of a function
that violates Lemma 1 for k < m − 1, from 20,000 draws. The third is the smallest gradient norm of
a run of Algorithm 1 relative to Theorem 1's bound, the range over 5 seeds. Some seconds.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from zorank import Run, planning, theory
from zorank.optimizers import ZORankSGD
from zorank.problems import sphere
from zorank.types import Vector

PAIRS = ((10, 10), (20, 20), (6, 3), (10, 3), (10, 1), (100, 1))
DRAWS = 2000
D, STEPS = 10, 400


def squared_norms(f: Callable[[Any], Any], x: Vector, mu: float, m: int, k: int) -> Vector:
    """Return |g̃|² for independent draws, exact rankings."""
    draws = np.random.default_rng(0)
    weights = np.array([2.0 * j - m - 1 if j <= k else k for j in range(1, m + 1)])
    found = []
    for _ in range(DRAWS):
        xi = draws.standard_normal((m, x.size))
        g = weights @ xi[np.argsort(f(x + mu * xi))] / theory.edges(m, k)
        found.append(g @ g)
    return np.array(found)


def moments() -> None:
    """Print the second moments and their bounds."""
    x, mu = np.full(50, 0.5), 1e-3
    m1, m2 = theory.estimate_m1(sphere, x, mu).value, theory.estimate_m2(sphere, x, mu).value
    print(
        "| (m, k) | E‖g̃‖² | Lemma 4, true M1 and M2 | Lemma 4, M1 ≤ 32/π, M2 ≤ 2d | any ranking |"
    )
    for m, k in PAIRS:
        squares = squared_norms(sphere, x, mu, m, k)
        true = theory.second_moment_bound(m, k, 50, m1, m2)
        loose = theory.second_moment_bound(m, k, 50, theory.LEMMA_3_ISOTROPIC)
        every = theory.ranking_moment_bound(m, 50, theory.top_k_comparisons(m, k))
        error = squares.std() / np.sqrt(DRAWS)
        print(f"| ({m}, {k}) | {squares.mean():.1f} ± {error:.1f} | {true:.1f} | ", end="")
        print(f"{loose:.0f} | {every:.0f} |")
    plan = planning.plan(100, 1, 1)
    exact = plan.alignment**2 / plan.quality
    bound = theory.second_moment_bound(100, 1, 1)
    print(f"linear f, d = 1, (100, 1): {exact:.1f} (exact), Lemma 4 with 2d {bound:.1f}")


def first_lemma() -> None:
    """Print ⟨∇f, E g̃⟩ of a function for which Lemma 1 is false if only the best is named."""
    slope, draws = 0.995, np.random.default_rng(1)
    print(f"f = x − x√(x² + 10⁻⁴)/2, Lemma 1's bound {slope - theory.lemma_1_constant(1):.2f}")
    for m, k in ((2, 1), (10, 10), (10, 1), (30, 1), (100, 1)):
        xi = draws.standard_normal((20_000, m))
        order = np.argsort(xi - xi * np.sqrt(xi * xi + 1e-4) / 2, axis=1)
        weights = np.array([2.0 * j - m - 1 if j <= k else k for j in range(1, m + 1)])
        g = slope * (np.take_along_axis(xi, order, axis=1) @ weights) / theory.edges(m, k)
        print(f"({m}, {k}): {g.mean():.2f} ± {g.std() / np.sqrt(len(g)):.2f}")


def slack() -> None:
    """Print the smallest gradient norms of runs relative to Theorem 1's bound."""
    curvature = np.geomspace(0.1, 1.0, D)
    functions: dict[str, tuple[Any, Any, float]] = {
        "quadratic": (
            lambda x: (curvature * x * x).sum(axis=-1) / 2,
            lambda x: curvature * x,
            0.0,
        ),
        "cosine": (lambda x: -np.cos(x).sum(axis=-1), np.sin, -float(D)),
    }
    eta, mu = theory.corollary_step(D, STEPS), theory.corollary_radius(D, STEPS)
    for name, (f, gradient, lowest) in functions.items():
        for m, k in ((10, 10), (6, 6), (10, 3), (6, 1)):
            ratios = []
            for seed in range(5):
                x0 = np.random.default_rng(seed).standard_normal(D)
                run = Run(ZORankSGD(m=m, k=k, step=eta, mu=mu, line_search=0), x0, seed=seed)
                smallest = np.inf
                for _ in range(STEPS):
                    smallest = min(smallest, float(np.linalg.norm(gradient(run.best()))))
                    slate = run.ask()
                    run.tell(slate.answer_from(f(np.asarray(slate))))
                gap = float(f(x0)) - lowest
                ratios.append(smallest / theory.theorem_1_bound(gap, STEPS, eta, mu, 1.0, m, k, D))
            print(f"{name}, ({m}, {k}): {min(ratios):.3f} to {max(ratios):.3f} of the bound")


if __name__ == "__main__":
    moments()
    first_lemma()
    slack()
