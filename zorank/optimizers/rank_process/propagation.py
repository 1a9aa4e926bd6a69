"""The probability that a Gaussian vector lies in a box, and its law given that it does.

Expectation propagation (Cunningham, Hennig and Lacoste-Julien, 2011). Every side of the box gets a
Gaussian site exp(νt − τt²/2); all are updated at once, damped, until they hold still.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zorank.optimizers.rank_process.inverse_roots import inverse_roots

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zorank.types import Vector


@dataclass(frozen=True, eq=False)
class Propagated:
    """One row for each covariance.

    Attributes:
        evidence: the log-probability of the box.
        force: what the box adds to the mean, before the covariance.
        precision_root: R, where RᵀR is what it takes from the covariance, before and after it.
        sites: precision and shift of every side's site.
    """

    evidence: Vector
    force: NDArray[np.float64]
    precision_root: NDArray[np.float64]
    sites: NDArray[np.float64]


def propagate(
    covariances: NDArray[np.float64],
    halves: NDArray[np.float64],
    tied: NDArray[np.bool_],
    sites: NDArray[np.float64] | None,
    sweeps: int,
) -> Propagated:
    """What it says of t ~ N(0, S) to lie in a box, for many S at once.

    Args:
        covariances: the S, one after the other.
        halves: half the width of a tied side, one for each S.
        tied: which sides are |t| < half; the others are t > 0.
        sites: to start from, for the first so many sides.
        sweeps: the most of all sites.
    """
    stack, q, _ = covariances.shape
    own = np.einsum("hii->hi", covariances) * (1.0 + 1e-9)
    np.einsum("hii->hi", covariances)[...] = own
    least = 1e-6 / own  # below this a site says nothing, and 1 − B⁻¹ would lose its digits
    tau, nu = np.zeros((2, stack, q))
    if sites is not None:
        tau[:, : sites.shape[1]], nu[:, : sites.shape[1]] = sites[:, None]
    b = np.empty_like(covariances)
    for sweep in range(sweeps + 1):
        tau = np.maximum(tau, least)
        root = np.sqrt(tau)
        np.multiply(root[:, :, None], covariances, out=b)
        b *= root[:, None, :]
        np.einsum("hii->hi", b)[...] += 1.0
        inverse_root, log_volume = inverse_roots(b)
        inverse_diagonal = np.einsum("hij,hij->hj", inverse_root, inverse_root)
        variance = np.maximum(1.0 - inverse_diagonal, 1e-12) / tau
        force = root * _times(inverse_root.mT, _times(inverse_root, nu / root))
        mean = _times(covariances, force)
        cavity = np.maximum(1.0 / variance - tau, 1e-9 / own)
        cavity_mean = (mean / variance - nu) / cavity
        mass, lean, narrow = _truncated(
            cavity_mean * np.sqrt(cavity), halves * np.sqrt(cavity), tied
        )
        moved = cavity_mean + lean / np.sqrt(cavity)
        drift = np.abs(moved - mean) / np.sqrt(variance)
        # A tie pulls its mean nowhere: whether it has settled shows in its variance alone.
        drift = np.where(tied, np.maximum(drift, np.abs(narrow / cavity / variance - 1.0)), drift)
        settled = drift.max(initial=0.0) < TOLERANCE
        if sweep == sweeps or settled:
            break
        new_tau = cavity * (1.0 / narrow - 1.0)
        new_nu = moved * cavity / narrow - cavity_mean * cavity
        share = 1.0 if sweep == 0 and sites is None else DAMPING
        tau = tau + share * (new_tau - tau)
        nu = nu + share * (new_nu - nu)
    evidence = np.sum(mass + 0.5 * np.log1p(tau / cavity), axis=1)
    evidence -= 0.5 * log_volume
    evidence += 0.5 * np.sum(nu * mean - nu**2 / (tau + cavity), axis=1)
    pull = cavity_mean * cavity / (tau + cavity)
    evidence += 0.5 * np.sum(pull * (tau * cavity_mean - 2.0 * nu), axis=1)
    return Propagated(evidence, force, inverse_root * root[:, None, :], np.stack([tau, nu]))


def _times(matrices: NDArray[np.float64], vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray((matrices @ vectors[:, :, None])[:, :, 0])


TOLERANCE = 1e-2
DAMPING = 0.8

SLIPS = 3e-3
"""The chance that a comparison is the wrong way round for no reason: no single answer, however
absurd, can turn everything that is believed."""


def _truncated(
    z: NDArray[np.float64], width: NDArray[np.float64], tied: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Log-mass, shift of the mean and factor of the variance of N(z, 1) cut to its range.

    The range is t > 0, or |t| < width where tied. Beyond 30 deviations the answer contradicts the
    belief so flatly that only its direction counts.
    """
    z = np.maximum(z, -30.0)
    inside = SLIPS + (1.0 - 2.0 * SLIPS) * _normal_cdf(z)
    lean = (1.0 - 2.0 * SLIPS) * np.exp(-0.5 * z * z) / (_SQRT_2PI * inside)
    narrow = 1.0 - lean * (z + lean)
    mass = np.log(inside)
    if tied.any():
        sign, far = np.sign(z[:, tied]), np.abs(z[:, tied])
        half = width[:, tied]
        far = np.minimum(far, half + 30.0)
        low, high = -half - far, half - far
        inside = np.maximum(_normal_cdf(high) - _normal_cdf(low), 1e-300)
        p_low, p_high = (np.exp(-0.5 * edge * edge) / _SQRT_2PI / inside for edge in (low, high))
        shift = p_low - p_high
        mass[:, tied] = np.log(inside)
        lean[:, tied] = sign * shift
        narrow[:, tied] = 1.0 + low * p_low - high * p_high - shift**2
    return mass, lean, np.clip(narrow, 1e-6, 1.0 - 1e-9)


_SQRT_2PI = math.sqrt(2.0 * math.pi)
_erfc = np.frompyfunc(math.erfc, 1, 1)


def _normal_cdf(z: NDArray[np.float64]) -> NDArray[np.float64]:
    return 0.5 * np.asarray(_erfc(z * -math.sqrt(0.5)), dtype=np.float64)
