"""rank-process: a model of all answers so far, for judges who give tens of answers, not thousands.

The paper names a model-based approach as future work (its conclusion). Here all answers, the first
choice included, condition one Gaussian process over candidates (`posterior.py`). The evidence of
the answers determines its lengthscale and the judge's noise (`inference.py`), and these determine
the search radius, so there is nothing to tune. A slate (`proposals.py`) shows

- the peak: the maximiser of the posterior mean along its gradient at the best candidate so far;
- random directions around the peak, at the radius where this judge's answers are most informative;
- the best candidate again, while there are few answers or the peak is not clearly better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from zorank._recipes import DerivedPoints, LoggedVector, place_repeatably
from zorank.errors import InvalidInput
from zorank.optimizers.blas import one_thread
from zorank.optimizers.rank_process.inference import infer_hyperparameters
from zorank.optimizers.rank_process.posterior import fit_posteriors
from zorank.optimizers.rank_process.proposals import (
    find_peak,
    is_too_close,
    noise_variance,
    propose,
    search_radius,
)
from zorank.optimizers.rank_process.settings import MAX_COORDINATE, ProcessSettings
from zorank.optimizers.rank_process.state import ProcessState, add_candidates, forget_oldest
from zorank.optimizers.settings import check_flag, space_of
from zorank.optimizers.starts import random_starts
from zorank.slates import Slate
from zorank.types import Answer, Vector

LENGTHSCALE_PRIOR_SD = {"gaussian": 0.75, "euclidean": 2.0}
"""The prior's standard deviation of log ℓ: the scale of the shell is known, others are not."""


@dataclass(frozen=True, kw_only=True)
class RankProcess(ProcessSettings):
    """Preferential Bayesian optimization: a Gaussian process that learns from all answers.

    Attributes:
        pairs: whether to ask for the better of two when the order of the two best is uncertain.
    """

    name: ClassVar[str] = "rank-process"
    learns_raters: ClassVar[bool] = True
    revision: ClassVar[int] = 2

    pairs: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag(self, "pairs")

    def init(self, x0: Vector) -> ProcessState:
        """Return the state before the first answer."""
        if np.abs(x0).max() / self.sigma0 > MAX_COORDINATE:
            raise InvalidInput(
                f"x0 has a coordinate of {np.abs(x0).max():g}, whose square overflows in units of "
                f"sigma0 = {self.sigma0:g}; set sigma0 to the rough scale of the space, or "
                "choose an x0 closer to 0"
            )
        x, space = place_repeatably(space_of(self, x0), x0.copy())
        return ProcessState(x, start=LoggedVector(x0, space))

    def ask(self, state: ProcessState, rng: np.random.Generator) -> Slate:
        """Show the peak, random directions around it and, where needed, the best candidate."""
        space = space_of(self, state.x0)
        if self.pick and not state.candidates:
            starts = random_starts(rng, self.m, state.x0.size, space, self.sigma0)
            return Slate(starts, question="start", k=self.k)
        if self.pairs and is_too_close(state):
            pair = [state.candidate(state.best), state.candidate(state.runner_up)]
            return Slate(DerivedPoints.of(pair))
        return Slate(DerivedPoints.of(propose(state, self.m, self.sigma0, space, rng)), k=self.k)

    def tell(self, state: ProcessState, slate: Slate, answer: Answer) -> ProcessState:
        """Add the comparisons of the answer and condition the model on all of them."""
        with one_thread():
            extended, indices = add_candidates(state, slate, self.sigma0)
            comparisons, raters = state.comparisons.add(answer, indices, state.raters)
            if slate.question == "start" and comparisons.tied.all():
                return state  # no difference: the next slate shows other draws
            factors = state.hyperparameters.rater_factors
            factors = (*factors, *(1.0,) * (len(raters) - len(factors)))
            state = replace(
                extended,
                comparisons=comparisons,
                raters=raters,
                answers=state.answers + 1,
                hyperparameters=replace(state.hyperparameters, rater_factors=factors),
                asked_pair=len(slate) == 2 < self.m,
            )
            return self._condition(forget_oldest(state)) if len(comparisons) else state

    def best(self, state: ProcessState) -> Vector:
        """Return the candidate with the highest posterior mean."""
        return state.candidates[state.best] if state.candidates else state.x0

    def report(self, state: ProcessState) -> dict[str, float]:
        """Return radius and lengthscale, and estimates in standard deviations of the utility.

        noise: the judge's; visible: the typical difference between candidates of the next slate;
        consistency: the share of its pairs that the judge will order correctly; chance: the
        probability that the peak is better than the best candidate; gain: its expected
        improvement.
        """
        if state.posterior is None:
            return {}
        found, radius = state.hyperparameters, search_radius(state, space_of(self, state.x0))
        variance = -math.expm1(-((radius / found.lengthscale) ** 2)) / found.utility_sd**2
        visible = math.sqrt(variance)
        noise = math.sqrt(noise_variance(state, found))
        peak = state.peak
        return {
            "radius": radius * self.sigma0,
            "length": found.lengthscale * self.sigma0,
            "noise": found.noise,
            "visible": visible,
            "consistency": 0.5 + math.atan2(visible, noise) / math.pi,
            "chance": 0.0 if peak is None else peak.probability_of_improvement,
            "gain": 0.0 if peak is None else peak.expected_improvement / found.utility_sd,
        }

    def _condition(self, state: ProcessState) -> ProcessState:
        """Infer the hyperparameters, then the posterior, the best candidate and the peak."""
        dists, comparisons = state.half_sq_dists, state.comparisons
        sites = None if state.posterior is None else state.posterior.sites
        prior_sd = LENGTHSCALE_PRIOR_SD[self.space]
        found, weighted = infer_hyperparameters(
            dists, comparisons, state.hyperparameters, sites, prior_sd
        )
        posterior = fit_posteriors(dists, comparisons, [found], sites)[0]
        order = np.argsort(-posterior.mean(dists), kind="stable")
        best = int(order[0])
        return replace(
            state,
            hyperparameters=found,
            weighted=weighted,
            posterior=posterior,
            best=best,
            runner_up=int(order[1]) if len(order) > 1 else best,
            best_changed=best != state.best,
            peak=find_peak(state, posterior, best, self.sigma0, space_of(self, state.x0)),
        )
