"""LM-MA-ES (Loshchilov, Glasmachers & Beyer, 2019), a peer for many dimensions, with ranks only.

Candidates are y + σ T z with T = Π_i ((1 − c_d,i) I + c_d,i m_i m_iᵀ). The m_i are averages of
past steps over windows that grow fourfold from one to the next. Time and memory are O(d ln d).
Constants are those of the paper (arXiv:1705.06693, algorithm 2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from zorank.types import Vector


@dataclass
class LMMAES:
    """The strategy behind ask and tell; only the order of the values is used."""

    x0: Vector
    sigma: float
    seed: int
    _draws: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        d = self.x0.size
        self._draws = np.random.default_rng(self.seed)
        self._m = 4 + int(3 * math.log(d))
        mu = self._m // 2
        weights = math.log(mu + 0.5) - np.log(np.arange(1, mu + 1))
        self._weights = weights / weights.sum()
        windows = np.arange(self._m)
        self._shares = 1 / (1.5**windows * d)  # c_d
        self._rates = np.minimum(self._m / (4.0**windows * d), 1)  # c_c
        self._path_rate = min(2 * self._m / d, 1)  # c_σ
        self._y, self._path = self.x0.copy(), np.zeros(d)
        self._steps = np.zeros((self._m, d))  # m_i
        self._rounds = 0

    def ask(self) -> Vector:
        """Return a population."""
        self._z = self._draws.standard_normal((self._m, self._y.size))
        t = self._z.copy()
        for share, step in list(zip(self._shares, self._steps, strict=True))[: self._rounds]:
            along = t @ step
            t *= 1 - share
            t += np.outer(share * along, step)
        self._t = t
        return np.asarray(self._y + self.sigma * t)

    def tell(self, values: Vector) -> None:
        """Move, and adapt the step size and the transformation."""
        best = np.argsort(values, kind="stable")[: len(self._weights)]
        self._y = self._y + self.sigma * (self._weights @ self._t[best])
        step = self._weights @ self._z[best]
        mu_eff = 1 / float(self._weights @ self._weights)
        keep = 1 - self._path_rate
        gain = math.sqrt(mu_eff * self._path_rate * (2 - self._path_rate))
        self._path = keep * self._path + gain * step
        gains = np.sqrt(mu_eff * self._rates * (2 - self._rates))
        self._steps *= (1 - self._rates)[:, None]
        self._steps += np.outer(gains, step)
        agreement = float(self._path @ self._path) / self._y.size
        self.sigma *= math.exp(self._path_rate / 2 * (agreement - 1))
        self._rounds += 1
