"""Peers of `zorank bench functions` that are told only the best few of six."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from zorank import optimizers
from zorank.experiments.peers import Contender, Ours, Pycma
from zorank.optimizers.auto import Auto
from zorank.types import Vector


@dataclass
class OnlyTheBest:
    """pycma, told only which k were best, in order; the others get random ranks behind them."""

    k: int
    x0: Vector
    sigma0: float
    seed: int

    def __post_init__(self) -> None:
        self._draws = np.random.default_rng(0)
        self._inner = Pycma(self.x0, self.sigma0, self.seed, {"popsize": 6})

    def ask(self) -> Vector:
        """Return the next population."""
        return self._inner.ask()

    def tell(self, values: Vector) -> None:
        """Pass the ranks on."""
        ranks = np.argsort(np.argsort(values)).astype(float)
        named = ranks < self.k
        ranks[~named] = self.k + self._draws.permutation(int((~named).sum()))
        self._inner.tell(ranks)


def _auto(k: int, x0: Vector, sigma0: float, seed: int) -> Contender:
    return Ours(Auto(m=6, k=k, sigma0=sigma0), x0, seed)


def _zo_ranksgd(k: int, step: float, mu: float, x0: Vector, sigma0: float, seed: int) -> Contender:
    options = {"m": 6, "k": k, "step": step, "mu": mu}
    return Ours(optimizers.make("zo-ranksgd", options), x0, seed)


Make = Callable[[Vector, float, int], Contender]

TOP: Mapping[str, Make] = {
    **{f"auto: best {k} of 6": partial(_auto, k) for k in (1, 3)},
    **{f"pycma: best {k} of 6": partial(OnlyTheBest, k) for k in (1, 3)},
    **{
        f"zo-ranksgd: best {k} of 6, η = {step:g}, μ = {mu:g}": partial(_zo_ranksgd, k, step, mu)
        for k, step, mu in product((1, 3), (0.316, 1.0, 3.16, 10.0, 31.6), (1e-4, 1e-3, 1e-2, 0.1))
    },
}
"""The peers by name: (x0, sigma0, seed) → contender; ZO-RankSGD with a grid of settings."""
