"""The results of the study of judges: gains by method and case, and its claims.

"Best in hindsight" is the setting with the largest mean over the reported seeds. It is an
optimistic estimate, since the best setting is not known before a session.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank.experiments import studies
from zorank.experiments.claims import Claim
from zorank.experiments.judges.study import (
    NEIGHBOURS,
    PAPER,
    PROCESS,
    RANDOM,
    SEPCMA,
    STEPS,
    Results,
    Study,
)
from zorank.experiments.measured import Gained, Measured
from zorank.experiments.simulated_raters import SimulatedRater
from zorank.optimizers import REGISTRY

if TYPE_CHECKING:
    from numpy.typing import NDArray

Case = tuple[str, float, int]
"""A utility, the noise of a rater and a dimension."""

BEST = "algorithm 3, best μ and η in hindsight"
WORST = "algorithm 3, worst μ and η"


def cases(study: Study, dims: tuple[int, ...] | None = None) -> list[Case]:
    """Return the cases of "people" in these dimensions; None is all dimensions."""
    wanted = study.dims if dims is None else dims
    return [(u, n, d) for d in wanted for u in study.utilities for n in study.noises]


def by_method(
    study: Study, results: Results, case: Case, at: int = -1
) -> dict[str, studies.Sessions]:
    """Return the sessions of every method in a case.

    Methods with a grid have the best (and worst) setting after answer `at`.
    """
    utility, noise, dim = case

    def tried(method: str) -> list[studies.Sessions]:
        return _tried(study, results, utility, dim, SimulatedRater(noise), method)

    algorithm_3 = [sessions for method in STEPS for sessions in tried(method)]
    return {
        PROCESS: tried(PROCESS)[0],
        BEST: studies.best_setting(algorithm_3, at),
        WORST: min(algorithm_3, key=lambda sessions: sessions.mean(at)),
        PAPER: tried(PAPER)[0],
        NEIGHBOURS: studies.best_setting(tried(NEIGHBOURS), at),
        SEPCMA: studies.best_setting(tried(SEPCMA), at),
        RANDOM: tried(RANDOM)[0],
    }


def by_rater(study: Study, results: Results) -> dict[str, dict[str, dict[str, studies.Sessions]]]:
    """Return rank-process and Algorithm 3 at its best μ and η, by kind of rater and utility."""

    def best(utility: str, judge: SimulatedRater, *methods: str) -> studies.Sessions:
        where = (utility, study.judged_dim, judge)
        tried = [s for method in methods for s in _tried(study, results, *where, method)]
        return studies.best_setting(tried, -1)

    return {
        name: {
            utility: {PROCESS: best(utility, judge, PROCESS), BEST: best(utility, judge, *STEPS)}
            for utility in study.utilities
        }
        for name, judge in study.judges
    }


def best_step(
    study: Study, results: Results, utility: str, dim: int, judge: SimulatedRater
) -> float:
    """Return the step η of Algorithm 3 that is best in hindsight, with its best μ."""

    def gain(method: str) -> float:
        tried = _tried(study, results, utility, dim, judge, method)
        return studies.best_setting(tried).mean()

    return STEPS[max(STEPS, key=gain)]


def measured(study: Study, results: Results) -> Measured:
    """Return the gain of each (m, k), averaged over the utilities."""
    rows = []
    for noise in study.mk_noises:
        for m, k in study.mk():
            conditions = [study.mk_condition(u, noise, m, k) for u in study.utilities]
            gains = np.mean([results[c].gains for c in conditions], axis=0)
            error = studies.standard_error(gains[:, -1])
            rows.append(Gained(m, k, noise, tuple(gains.mean(axis=0).tolist()), error))
    return Measured(
        dim=study.judged_dim,
        pictures=study.pictures,
        seeds=study.seeds,
        first_seed=study.first_seed,
        quick=study.quick,
        revision=REGISTRY[PROCESS].revision,
        rows=tuple(rows),
    )


def summary(study: Study, results: Results) -> dict[str, Any]:
    """Return all results of the parts that were run, as JSON values."""
    found: dict[str, Any] = {
        "quick": study.quick,
        "seeds": study.seeds,
        "first_seed": study.first_seed,
        "rounds": study.rounds,
        "pictures": study.pictures,
        "claims": [claim.to_json() for claim in claims(study, results)],
    }
    if "people" in study.parts:
        found["cases"] = [
            {
                **dict(zip(("utility", "noise", "dim"), case, strict=True)),
                "methods": {k: v.to_json() for k, v in by_method(study, results, case).items()},
                "best_step": best_step(study, results, case[0], case[2], SimulatedRater(case[1])),
            }
            for case in cases(study)
        ]
        found["grids"] = {"mu": study.mus, "sigma": study.sigmas, "step": sorted(STEPS.values())}
    if "judges" in study.parts:
        found["judges"] = {
            name: {u: {k: v.to_json() for k, v in by.items()} for u, by in of.items()}
            for name, of in by_rater(study, results).items()
        }
    if "mk" in study.parts:
        found["mk"] = [_priced(row) for row in measured(study, results).rows]
    slowest = [s.seconds.max() for c, s in results.items() if c.method == PROCESS]
    found["slowest_round_of_rank_process_seconds"] = float(max(slowest))
    return found


def claims(study: Study, results: Results) -> list[Claim]:
    """Return the claims that the parts and rounds of a study can decide."""
    found: list[Claim] = []
    if "people" in study.parts:
        found += _against_others(study, results)
        if study.rounds >= 10:
            found += _noise_estimates(study, results)
        if study.rounds >= 16:
            found += _fewer_rounds(study, results)
    if "judges" in study.parts:
        found += _rater_claims(study, results)
    return found


def _tried(
    study: Study, results: Results, utility: str, dim: int, judge: SimulatedRater, method: str
) -> list[studies.Sessions]:
    return [
        results[study.condition(utility, dim, judge, method, setting)]
        for setting in study.grid(method)
    ]


def _against_others(study: Study, results: Results) -> list[Claim]:
    def lead_over(label: str) -> studies.Leads:
        leads = {}
        for case in cases(study, study.claimed):
            found = by_method(study, results, case)
            leads[_named(case)] = found[PROCESS].gains[:, -1] - found[label].gains[:, -1]
        return leads

    best, random = lead_over(BEST), lead_over(RANDOM)
    words = f"minus best of {study.pictures} random pictures"
    return [
        studies.lead_claim(f"minus {BEST}: mean over cases", best, 0.4),
        studies.lead_claim(f"minus {BEST}: least case", best, 0.0, least=True),
        studies.lead_claim(f"{words}: mean over cases", random, 1.4),
        studies.lead_claim(f"{words}: least case", random, 1.4, least=True),
    ]


def _fewer_rounds(study: Study, results: Results) -> list[Claim]:
    leads = {}
    for case in cases(study, study.claimed):
        found = by_method(study, results, case, at=16)
        leads[_named(case)] = found[PROCESS].gains[:, 10] - found[BEST].gains[:, 16]
    return [
        studies.lead_claim(f"after 10 rounds minus {BEST}, after 16: mean over cases", leads, 0.0)
    ]


def _rater_claims(study: Study, results: Results) -> list[Claim]:
    of = by_rater(study, results)

    def final(rater: str, utility: str) -> NDArray[np.float64]:
        return of[rater][utility][PROCESS].gains[:, -1]

    def lead(rater: str) -> studies.Leads:
        return {u: final(rater, u) - final("ranks all", u) for u in study.utilities}

    return [
        studies.lead_claim(
            "with the best 3 named minus with all ranked: mean over tastes", lead("names 3"), -0.4
        ),
        studies.lead_claim(
            "with a tenth of answers random minus with none: mean", lead("lapses"), -0.4
        ),
    ]


def _noise_estimates(study: Study, results: Results) -> list[Claim]:
    """Return one claim per noise, about the case whose factor is furthest from 1."""
    found = []
    for noise in (n for n in study.noises if n > 0):
        logs = {}
        for case in cases(study, study.claimed):
            if case[1] == noise:
                condition = study.condition(case[0], case[2], SimulatedRater(noise), PROCESS)
                logs[_named(case)] = np.log(results[condition].noise / noise)
        factors = {case: _factor(values) for case, values in logs.items()}
        worst = max(logs, key=lambda case: abs(float(logs[case].mean())))
        found.append(
            studies.benchmark_claim(
                f"estimates the noise {noise:g} after 10 rounds within a factor of 2: "
                "geometric mean of the factor, case furthest from 1",
                holds=0.5 <= factors[worst]["measured"] <= 2,
                needed="0.5 to 2",
                found=factors[worst],
                where=worst,
                cases=factors,
            )
        )
    return found


def _factor(logs: NDArray[np.float64]) -> dict[str, Any]:
    """Return the geometric mean, its standard error to first order, and the median."""
    mean, error = math.exp(float(logs.mean())), studies.standard_error(logs)
    return {
        "measured": mean,
        "standard_error": None if error is None else mean * error,
        "median": math.exp(float(np.median(logs))),
    }


def _priced(row: Gained) -> dict[str, Any]:
    return {
        "m": row.m,
        "k": row.k,
        "noise": row.noise,
        "gain": row.gain,
        "standard_error": row.standard_error,
        "pictures": row.pictures,
        "comparisons": row.comparisons,
        "minutes": row.minutes(),
        "gain_per_picture": row.gain / row.pictures,
        "gain_per_comparison": row.gain / row.comparisons,
        "gain_per_minute": row.gain / row.minutes(),
    }


def _named(case: Case) -> str:
    utility, noise, dim = case
    return f"{utility}, noise {noise:g}, d = {dim}"
