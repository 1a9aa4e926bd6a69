"""The candidates of the next slate.

- The peak: the maximiser of the posterior mean along its gradient at the best candidate.
- Random directions around the peak, at the radius where comparisons are most informative.
- The best candidate again, while there are few answers or the peak is not clearly better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from zorank._recipes import DerivedVector, GradientStep, place_repeatably, random_points
from zorank.optimizers.rank_process.hyperparameters import Hyperparameters
from zorank.optimizers.rank_process.posterior import Posterior
from zorank.optimizers.rank_process.state import ProcessState, half_sq_dists
from zorank.slates import Shell, Space
from zorank.types import Vector

FEW_ANSWERS = 5
"""Until then every slate shows the best candidate again. Without it the model cannot distinguish a
rough utility from a noisy judge."""

CLEAR_LEAD = 0.5
"""The best candidate is left out if the peak leads it by this many standard deviations."""

MAX_RADIUS_ON_SHELL = 1.5
"""Beyond this radius, candidates on the shell are almost independent of the centre."""

MIN_NOISE_VARIANCE = 4e-4
"""A lower limit on the noise when the radius is chosen, because the model is not exact."""


@dataclass(frozen=True, eq=False)
class Peak:
    """The maximiser of the posterior mean along its gradient.

    Attributes:
        x: the candidate.
        lead: the posterior mean of u(x) − u(best).
        lead_sd: its standard deviation.
        climb: how the candidate is made.
    """

    x: Vector
    lead: float
    lead_sd: float
    climb: GradientStep

    @property
    def probability_of_improvement(self) -> float:
        """The probability that x is better than the best candidate."""
        return 0.5 * math.erfc(-self.lead / self.lead_sd / math.sqrt(2.0))

    @property
    def expected_improvement(self) -> float:
        """E max(u(x) − u(best), 0)."""
        z = self.lead / self.lead_sd
        density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
        return self.lead * self.probability_of_improvement + self.lead_sd * density


def propose(
    state: ProcessState, m: int, sigma0: float, space: Space, rng: np.random.Generator
) -> list[DerivedVector]:
    """Return the m candidates of the next slate."""
    best = state.candidate(state.best)
    peak = None if state.peak is None else DerivedVector(state.peak.x, state.peak.climb)
    shown = [] if peak is None else [peak]
    if _needs_best(state):
        shown.insert(0, best)
    shown = shown[: m - 1]  # at least one direction is random
    radius = search_radius(state, space) * sigma0
    return [
        *shown,
        *random_points(rng, m - len(shown), state.x0.size, radius, space, peak or best),
    ]


def _needs_best(state: ProcessState) -> bool:
    peak = state.peak
    unclear = peak is None or peak.lead < CLEAR_LEAD * peak.lead_sd
    return unclear or state.answers < FEW_ANSWERS or not state.best_changed


def is_too_close(state: ProcessState) -> bool:
    """Return whether the order of the two best is uncertain although they differ."""
    if state.posterior is None or state.asked_pair or state.best == state.runner_up:
        return False
    a, b = state.half_sq_dists[state.best], state.half_sq_dists[state.runner_up]
    lead, lead_sd = state.posterior.difference(a, b, float(a[state.runner_up]))
    noise = state.hyperparameters.noise * state.hyperparameters.utility_sd
    return lead < 0.5 * lead_sd and lead_sd > 0.5 * noise


def search_radius(state: ProcessState, space: Space) -> float:
    """Return the radius at which random directions are most informative, over all alternatives.

    At distance s the utility differs by x = s/ℓ prior deviations along the gradient and, from
    curvature, by x²/√2 unrelated to the gradient. The share of a comparison's variance that is due
    to the gradient, x²/(x² + σ² + x⁴/2), is largest at x = (2σ²)^¼: noisier judges need wider
    slates.
    """
    on_shell = isinstance(space, Shell)
    reach = MAX_RADIUS_ON_SHELL if on_shell else 2.0 * state.hyperparameters.lengthscale
    s = np.geomspace(0.01 * reach, reach, 60)
    information = np.zeros_like(s)
    for weight, one in state.weighted:
        x2 = (s / one.lengthscale) ** 2
        noise = max(noise_variance(state, one) * one.utility_sd**2, MIN_NOISE_VARIANCE)
        information += weight * x2 / (x2 + noise + 0.5 * x2 * x2)
    return float(s[np.argmax(information)])


def noise_variance(state: ProcessState, hyperparameters: Hyperparameters) -> float:
    """Return the noise variance of one judgement; if judges tie, plus δ²/3 for the threshold."""
    ties = hyperparameters.threshold**2 / 3.0 if state.comparisons.tied.any() else 0.0
    return hyperparameters.noise**2 + ties


def find_peak(
    state: ProcessState, posterior: Posterior, best: int, sigma0: float, space: Space
) -> Peak | None:
    """Maximise the posterior mean along its gradient at the best candidate."""
    x, dists = state.candidates[best], state.half_sq_dists[best]
    on_shell = isinstance(space, Shell)
    climb, along = _ascent(state, posterior, best, on_shell)
    gradient = climb.gradient()
    slope = float(np.linalg.norm(gradient)) / (math.sqrt(x.size) * sigma0)
    if slope == 0.0 or not math.isfinite(slope):
        return None
    along /= slope
    steps = np.linspace(0.02, MAX_RADIUS_ON_SHELL, 40)[:, None]
    if on_shell:
        on_path = 1.0 - np.cos(steps) * (1.0 - dists) - np.sin(steps) * along
    else:
        steps = steps * 2.0 * posterior.hyperparameters.lengthscale
        on_path = dists - steps * along + 0.5 * steps * steps
    step = float(steps[np.argmax(posterior.mean(on_path)), 0])
    keep, go = (math.cos(step), math.sin(step)) if on_shell else (1.0, step)
    climb = replace(climb, slope=slope, keep=keep, go=go)
    peak, placed = place_repeatably(space, climb.end(gradient))
    to_peak = half_sq_dists(state.candidates, state.sq_norms, peak[None], sigma0)[0]
    lead, lead_sd = posterior.difference(to_peak, dists, float(to_peak[best]))
    if not (lead > 0 and to_peak.all()):
        return None
    return Peak(peak, lead, lead_sd, replace(climb, space=placed))


def _ascent(
    state: ProcessState, posterior: Posterior, best: int, on_shell: bool
) -> tuple[GradientStep, Vector]:
    """Return the ascent along the gradient g at x, and (y − x)·g/d sigma0² for all candidates y.

    The latter follows from half squared distances h: (y − x)·(z − x)/d is
    h(x, y) + h(x, z) − h(y, z).
    """
    d, dists = state.x0.size, state.half_sq_dists[best]
    pulls = posterior.weights * posterior.kernel(dists)
    total = float(pulls.sum())
    along = total * dists + pulls @ dists - state.half_sq_dists @ pulls
    climb = GradientStep(state.candidates, best, pulls, total)
    if on_shell:  # remove the part of the gradient that is normal to the shell
        normal = (state.sq_norms - state.sq_norms[best]) / (2.0 * d) - dists
        share = float((pulls @ normal) * d / state.sq_norms[best])
        along -= share * normal
        climb = replace(climb, share=share)
    return climb, along
