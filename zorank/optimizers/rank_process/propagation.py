"""Expectation propagation for Gaussian probabilities of boxes (Cunningham et al., 2011).

Given t ~ N(0, S), approximate the probability that every t_i lies in its interval, and the
distribution of t given that it does. Each interval is replaced by a Gaussian site
exp(ν t_i − τ t_i²/2). All sites are updated in parallel, with damping, until the moments of the
tilted distributions match the marginals (Rasmussen and Williams, 2006, section 3.6).
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

TOLERANCE = 1e-2
"""Converged: no marginal mean moves by more standard deviations than this."""

DAMPING = 0.8
"""The share of an update that is applied."""

LAPSE_RATE = 3e-3
"""The probability that a comparison is reversed by mistake. It bounds the influence of any single
answer."""


@dataclass(frozen=True, eq=False)
class Propagated:
    """The Gaussian approximation, one row for each covariance S.

    Attributes:
        log_partition: the log-probability of the box, (h,).
        alpha: the mean of t given the box is S·alpha, (h, q).
        precision_root: R with RᵀR = (S + T⁻¹)⁻¹ for the site precisions T, (h, q, q): the
            covariance of t given the box is S − S RᵀR S.
        sites: the natural parameters τ and ν of all sites, (2, h, q).
    """

    log_partition: Vector
    alpha: NDArray[np.float64]
    precision_root: NDArray[np.float64]
    sites: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Marginals:
    """The Gaussian approximation given all sites; each array has a row for each covariance."""

    root: NDArray[np.float64]  # √τ
    inverse_root: NDArray[np.float64]  # of B = I + √τ S √τ
    log_det: Vector  # log|B|
    alpha: NDArray[np.float64]
    mean: NDArray[np.float64]
    variance: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Tilted:
    """The cavities, and the moments of the cavities truncated to their intervals."""

    cavity_precision: NDArray[np.float64]
    cavity_mean: NDArray[np.float64]
    log_mass: NDArray[np.float64]
    mean: NDArray[np.float64]
    variance_ratio: NDArray[np.float64]  # tilted over cavity variance


def propagate(
    covariances: NDArray[np.float64],
    half_widths: NDArray[np.float64],
    tied: NDArray[np.bool_],
    sites: NDArray[np.float64] | None,
    sweeps: int,
) -> Propagated:
    """Approximate t ~ N(0, S) given that t lies in a box, for many S at once.

    Args:
        covariances: the S, (h, q, q); their diagonals are changed in place.
        half_widths: half the width of a tied interval, (h, 1).
        tied: which intervals are |t| < half_width; the others are t > 0, (q,).
        sites: τ and ν of the first sites, (2, n ≤ q), to start from.
        sweeps: the maximum number of updates of all sites.
    """
    stack, q, _ = covariances.shape
    prior_variance = np.einsum("hii->hi", covariances) * (1.0 + 1e-9)
    np.einsum("hii->hi", covariances)[...] = prior_variance
    min_tau = 1e-6 / prior_variance  # below this, 1 − B⁻¹ would lose its digits
    tau, nu = np.zeros((2, stack, q))
    if sites is not None:
        tau[:, : sites.shape[1]], nu[:, : sites.shape[1]] = sites[:, None]
    b = np.empty_like(covariances)
    for sweep in range(sweeps + 1):
        tau = np.maximum(tau, min_tau)
        marginal = _marginals(covariances, tau, nu, b)
        tilted = _tilt(marginal, tau, nu, 1e-9 / prior_variance, half_widths, tied)
        if sweep == sweeps or _residual(marginal, tilted, tied) < TOLERANCE:
            break
        precision, ratio = tilted.cavity_precision, tilted.variance_ratio
        new_tau = precision * (1.0 / ratio - 1.0)
        new_nu = tilted.mean * precision / ratio - tilted.cavity_mean * precision
        step = 1.0 if sweep == 0 and sites is None else DAMPING
        tau = tau + step * (new_tau - tau)
        nu = nu + step * (new_nu - nu)
    log_partition = _log_partition(marginal, tilted, tau, nu)
    precision_root = marginal.inverse_root * marginal.root[:, None, :]
    return Propagated(log_partition, marginal.alpha, precision_root, np.stack([tau, nu]))


def _marginals(
    covariances: NDArray[np.float64],
    tau: NDArray[np.float64],
    nu: NDArray[np.float64],
    b: NDArray[np.float64],
) -> _Marginals:
    """Combine the prior and all sites; `b` is overwritten by B = I + √τ S √τ (eq. 3.67)."""
    root = np.sqrt(tau)
    np.multiply(root[:, :, None], covariances, out=b)
    b *= root[:, None, :]
    np.einsum("hii->hi", b)[...] += 1.0
    inverse_root, log_det = inverse_roots(b)
    inverse_diagonal = np.einsum("hij,hij->hj", inverse_root, inverse_root)
    variance = np.maximum(1.0 - inverse_diagonal, 1e-12) / tau
    alpha = root * _times(inverse_root.mT, _times(inverse_root, nu / root))
    return _Marginals(root, inverse_root, log_det, alpha, _times(covariances, alpha), variance)


def _tilt(
    marginal: _Marginals,
    tau: NDArray[np.float64],
    nu: NDArray[np.float64],
    min_precision: NDArray[np.float64],
    half_widths: NDArray[np.float64],
    tied: NDArray[np.bool_],
) -> _Tilted:
    """Remove each site from its marginal (the cavity), and truncate that to the interval."""
    precision = np.maximum(1.0 / marginal.variance - tau, min_precision)
    mean = (marginal.mean / marginal.variance - nu) / precision
    log_mass, shift, ratio = _truncated_moments(
        mean * np.sqrt(precision), half_widths * np.sqrt(precision), tied
    )
    return _Tilted(precision, mean, log_mass, mean + shift / np.sqrt(precision), ratio)


def _residual(marginal: _Marginals, tilted: _Tilted, tied: NDArray[np.bool_]) -> float:
    """Return the largest mismatch of moments, in standard deviations."""
    residual = np.abs(tilted.mean - marginal.mean) / np.sqrt(marginal.variance)
    # A tie leaves its mean unchanged, so its variance has to converge as well.
    variance = tilted.variance_ratio / tilted.cavity_precision / marginal.variance
    residual = np.where(tied, np.maximum(residual, np.abs(variance - 1.0)), residual)
    return float(residual.max(initial=0.0))


def _log_partition(
    marginal: _Marginals, tilted: _Tilted, tau: NDArray[np.float64], nu: NDArray[np.float64]
) -> Vector:
    """Return the log-probability of the box (Rasmussen and Williams, 2006, eq. 3.65)."""
    precision, mean = tilted.cavity_precision, tilted.cavity_mean
    total = np.sum(tilted.log_mass + 0.5 * np.log1p(tau / precision), axis=1)
    total -= 0.5 * marginal.log_det
    total += 0.5 * np.sum(nu * marginal.mean - nu**2 / (tau + precision), axis=1)
    pull = mean * precision / (tau + precision)
    total += 0.5 * np.sum(pull * (tau * mean - 2.0 * nu), axis=1)
    return np.asarray(total)


def _times(matrices: NDArray[np.float64], vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray((matrices @ vectors[:, :, None])[:, :, 0])


def _truncated_moments(
    z: NDArray[np.float64], half_width: NDArray[np.float64], tied: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return log-mass, shift of the mean and variance of N(z, 1) truncated to its interval.

    The interval is t > 0, or |t| < half_width where tied. Deviations beyond 30 are clipped: the
    answer contradicts the model so strongly that only its direction matters.
    """
    z = np.maximum(z, -30.0)
    mass = LAPSE_RATE + (1.0 - 2.0 * LAPSE_RATE) * _normal_cdf(z)
    shift = (1.0 - 2.0 * LAPSE_RATE) * np.exp(-0.5 * z * z) / (_SQRT_2PI * mass)
    variance = 1.0 - shift * (z + shift)
    log_mass = np.log(mass)
    if tied.any():
        sign, distance = np.sign(z[:, tied]), np.abs(z[:, tied])
        half = half_width[:, tied]
        distance = np.minimum(distance, half + 30.0)
        low, high = -half - distance, half - distance
        mass = np.maximum(_normal_cdf(high) - _normal_cdf(low), 1e-300)
        p_low, p_high = (np.exp(-0.5 * edge * edge) / _SQRT_2PI / mass for edge in (low, high))
        tied_shift = p_low - p_high
        log_mass[:, tied] = np.log(mass)
        shift[:, tied] = sign * tied_shift
        variance[:, tied] = 1.0 + low * p_low - high * p_high - tied_shift**2
    return log_mass, shift, np.clip(variance, 1e-6, 1.0 - 1e-9)


_SQRT_2PI = math.sqrt(2.0 * math.pi)
_erfc = np.frompyfunc(math.erfc, 1, 1)


def _normal_cdf(z: NDArray[np.float64]) -> NDArray[np.float64]:
    return 0.5 * np.asarray(_erfc(z * -math.sqrt(0.5)), dtype=np.float64)
