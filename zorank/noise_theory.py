"""Factors by which noise in the answers shortens the expected direction.

For a linear f with slope |∇f|, which every smooth f is as μ → 0, E⟨∇f, g̃⟩ from noisy full rankings
is a factor from 0 to 1 times that from exact ones. These are the factors for the oracles of
`zorank.oracles`. The direction stays that of the gradient, so noise costs length, not bias.
"""

from __future__ import annotations

import numpy as np

from zorank._arrays import is_real, plain
from zorank.errors import InvalidInput, short
from zorank.planning import normal_order_means
from zorank.theory import LARGEST, check_mk, check_positive, gauss_legendre


def gaussian_factor(sd: float, mu: float, slope: float) -> float:
    """Return the factor of `GaussianNoise`: 1/√(1 + (sd/(μ|∇f|))²)."""
    return float(1 / np.sqrt(1 + (_at_least_0(sd=sd) / _signal(mu, slope)) ** 2))


def plackett_luce_factor(temperature: float, mu: float, slope: float) -> float:
    """Return the factor of `PlackettLuce`: E[|Δ| tanh(|Δ|/2τ)]/E|Δ| with Δ ~ N(0, 2μ²|∇f|²)."""
    check_positive(temperature=temperature)
    signal = _signal(mu, slope)
    nodes, weights = gauss_legendre(200)
    z = 5 * (nodes + 1)  # |N(0, 1)|, whose density beyond 10 is negligible
    density = 10 * weights * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    difference = np.sqrt(2) * signal * z
    known = density @ (difference * np.tanh(difference / (2 * temperature)))
    return float(known * np.sqrt(np.pi) / (2 * signal))


def just_noticeable_bound(threshold: float, mu: float, slope: float) -> float:
    """Return a lower bound on the factor of `JustNoticeable`: exp(−δ²/(4μ²|∇f|²)).

    Pairs that differ by more than δ are ordered correctly. Closer ones are left out or ordered
    correctly too. With two candidates the bound is the factor.
    """
    share = _at_least_0(threshold=threshold) / _signal(mu, slope)
    return float(np.exp(-(share**2) / 4))


def random_swaps_factor(probability: float, m: int) -> float:
    """Return the factor of `RandomSwaps` of full rankings of m.

    Each neighbouring pair is swapped with this probability, from the best pair to the worst. So
    the candidate at rank j ends at j − 1 if the pair (j − 1, j) is swapped, else at j or lower.
    """
    if not is_real(probability) or not 0 <= probability <= 1:
        raise InvalidInput(f"probability must be from 0 to 1, found {short(probability)}")
    m, _ = check_mk(m, m)
    means, ranks = normal_order_means(m), np.arange(m)
    weights = 2.0 * ranks - m + 1
    ends = np.zeros((m, m))  # the probability that rank j ends at rank i
    for j in ranks:
        stays = 1.0
        if j > 0:
            ends[j, j - 1] += probability
            stays -= probability
        for i in range(j, m):
            stops = 1.0 if i == m - 1 else 1 - probability
            ends[j, i] += stays * stops
            stays -= stays * stops
    return float((ends @ weights) @ means / (weights @ means))


def _signal(mu: float, slope: float) -> float:
    """Return μ|∇f|, the standard deviation of the values of candidates."""
    check_positive(mu=mu, slope=slope)
    return mu * slope


def _at_least_0(**number: float) -> float:
    ((name, value),) = number.items()
    if not is_real(value) or not 0 <= plain(value) < LARGEST:
        raise InvalidInput(f"{name} must be a finite number, 0 or more, found {short(value)}")
    return value
