"""Peers of `zorank bench functions` with restarts, or that are told only the best few."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from zorank import optimizers
from zorank.experiments.peers import Contender, Ours, Pycma
from zorank.optimizers.auto import Auto
from zorank.optimizers.cma_es import load_pycma
from zorank.types import Vector


@dataclass
class RestartedPycma:
    """pycma that restarts at x0 with twice the population when it stops (IPOP).

    It is told values, because its criteria for stopping need them.
    """

    x0: Vector
    sigma0: float
    seed: int

    def __post_init__(self) -> None:
        self._restarts = 0
        self._begin()

    def _begin(self) -> None:
        options: dict[str, Any] = {"verbose": -9, "verb_log": 0}
        options["seed"] = self.seed + 1 + 1000 * self._restarts
        options["popsize"] = int(4 + 3 * np.log(self.x0.size)) << self._restarts
        self._strategy = load_pycma().CMAEvolutionStrategy(self.x0, self.sigma0, options)

    def ask(self) -> Vector:
        """Return the next population."""
        if self._strategy.stop():
            self._restarts += 1
            self._begin()
        self._candidates = self._strategy.ask()
        return np.array(self._candidates)

    def tell(self, values: Vector) -> None:
        """Pass the values on."""
        self._strategy.tell(self._candidates, values.tolist())


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

RESTARTS: Mapping[str, Make] = {"pycma: restarts": RestartedPycma}
"""Peers that restart, by name: (x0, sigma0, seed) → contender."""

TOP: Mapping[str, Make] = {
    **{f"auto: best {k} of 6": partial(_auto, k) for k in (1, 3)},
    **{f"pycma: best {k} of 6": partial(OnlyTheBest, k) for k in (1, 3)},
    **{
        f"zo-ranksgd: best {k} of 6, η = {step:g}, μ = {mu:g}": partial(_zo_ranksgd, k, step, mu)
        for k, step, mu in product((1, 3), (0.316, 1.0, 3.16, 10.0, 31.6), (1e-4, 1e-3, 1e-2, 0.1))
    },
}
"""Peers that are told the best k of six, in the same form; ZO-RankSGD with a grid of settings."""
