"""What the benchmark of judges found: a line per method and case, and whether the claims hold.

Standard errors are over seeds. Conditions share their seeds, so differences are taken seed by
seed; a mean over cases is taken within each seed first, as cases of one seed are not independent.
"Best in hindsight" is the setting with the largest mean over these very seeds: it flatters the
method, which nobody could have told.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank.experiments.judges import (
    ALGORITHM_3,
    NEIGHBOURS,
    PAPER,
    PROCESS,
    RANDOM,
    SEPCMA,
    Results,
    Study,
)
from zorank.experiments.leads import Leads, Line, best_line, claim, standard_error, told
from zorank.experiments.measured import Gained, Measured
from zorank.experiments.simulated_raters import Judge
from zorank.optimizers import REGISTRY

if TYPE_CHECKING:
    from numpy.typing import NDArray

Case = tuple[str, float, int]
"""A utility, a judge's noise and a dimension."""

BEST, WORST = "algorithm 3, best μ in hindsight", "algorithm 3, worst μ"


def cases(study: Study, dims: tuple[int, ...] | None = None) -> list[Case]:
    """The cases of "people" in these dimensions, in all of them if not told."""
    wanted = study.dims if dims is None else dims
    return [(u, n, d) for d in wanted for u in study.utilities for n in study.noises]


def lines(study: Study, results: Results, case: Case, at: int = -1) -> dict[str, Line]:
    """Every method in one case, those with a grid at their best (and worst) after that answer."""
    utility, noise, dim = case

    def tried(method: str) -> list[Line]:
        return _tried(study, results, utility, dim, Judge(noise), method)

    algorithm_3 = tried(ALGORITHM_3)
    return {
        PROCESS: tried(PROCESS)[0],
        BEST: best_line(algorithm_3, at),
        WORST: min(algorithm_3, key=lambda line: line.mean(at)),
        PAPER: tried(PAPER)[0],
        NEIGHBOURS: best_line(tried(NEIGHBOURS), at),
        SEPCMA: best_line(tried(SEPCMA), at),
        RANDOM: tried(RANDOM)[0],
    }


def judged(study: Study, results: Results) -> dict[str, dict[str, dict[str, Line]]]:
    """By habit and utility: rank-process and Algorithm 3 at its best μ in hindsight."""
    return {
        name: {
            utility: {
                label: best_line(
                    _tried(study, results, utility, study.judged_dim, judge, method), -1
                )
                for label, method in ((PROCESS, PROCESS), (BEST, ALGORITHM_3))
            }
            for utility in study.utilities
        }
        for name, judge in study.judges
    }


def measured(study: Study, results: Results) -> Measured:
    """What each (m, k) gained, a mean over the utilities."""
    rows = []
    for noise in study.mk_noises:
        for m, k in study.mk():
            conditions = [study.mk_condition(u, noise, m, k) for u in study.utilities]
            gains = np.mean([results[c].gains for c in conditions], axis=0)
            error = standard_error(gains[:, -1])
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
    """All that was found, as plain JSON values; parts that were not run are left out."""
    found: dict[str, Any] = {
        "quick": study.quick,
        "seeds": study.seeds,
        "first_seed": study.first_seed,
        "rounds": study.rounds,
        "pictures": study.pictures,
        "claims": claims(study, results),
    }
    if "people" in study.parts:
        found["cases"] = [
            {
                **dict(zip(("utility", "noise", "dim"), case, strict=True)),
                "methods": {k: told(v) for k, v in lines(study, results, case).items()},
            }
            for case in cases(study)
        ]
    if "judges" in study.parts:
        found["judges"] = {
            name: {u: {k: told(v) for k, v in by.items()} for u, by in of.items()}
            for name, of in judged(study, results).items()
        }
    if "mk" in study.parts:
        found["mk"] = [_priced(row) for row in measured(study, results).rows]
    slowest = [s.seconds.max() for c, s in results.items() if c.method == PROCESS]
    found["slowest_round_of_rank_process_seconds"] = float(max(slowest))
    return found


def claims(study: Study, results: Results) -> list[dict[str, Any]]:
    """What the README says, held against what was measured; only what these rounds can tell."""
    found: list[dict[str, Any]] = []
    if "people" in study.parts:
        found += _against_others(study, results)
        if study.rounds >= 10:
            found += _noise_is_known(study, results)
        if study.rounds >= 16:
            found += _fewer_rounds(study, results)
    if "judges" in study.parts:
        found += _habits(study, results)
    return found


def _tried(
    study: Study, results: Results, utility: str, dim: int, judge: Judge, method: str
) -> list[Line]:
    def found(setting: float | None) -> Line:
        condition = study.condition(utility, dim, judge, method, setting)
        return Line(setting, results[condition].gains)

    return [found(setting) for setting in study.grid(method)]


def _against_others(study: Study, results: Results) -> list[dict[str, Any]]:
    def lead_over(label: str) -> Leads:
        leads = {}
        for case in cases(study, study.claimed):
            found = lines(study, results, case)
            leads[_named(case)] = found[PROCESS].gains[:, -1] - found[label].gains[:, -1]
        return leads

    best, random = lead_over(BEST), lead_over(RANDOM)
    words = f"minus best of {study.pictures} random pictures"
    return [
        claim(f"minus {BEST}: mean over cases", best, 0.4),
        claim(f"minus {BEST}: least case", best, 0.0, least=True),
        claim(f"{words}: mean over cases", random, 1.4),
        claim(f"{words}: least case", random, 1.4, least=True),
    ]


def _fewer_rounds(study: Study, results: Results) -> list[dict[str, Any]]:
    leads = {}
    for case in cases(study, study.claimed):
        found = lines(study, results, case, at=16)
        leads[_named(case)] = found[PROCESS].gains[:, 10] - found[BEST].gains[:, 16]
    return [claim(f"after 10 rounds minus {BEST}, after 16: mean over cases", leads, 0.0)]


def _habits(study: Study, results: Results) -> list[dict[str, Any]]:
    of = judged(study, results)

    def final(habit: str, utility: str) -> NDArray[np.float64]:
        return of[habit][utility][PROCESS].gains[:, -1]

    def lead(habit: str) -> Leads:
        return {u: final(habit, u) - final("ranks all", u) for u in study.utilities}

    return [
        claim(
            "with the best 3 named minus with all ranked: mean over tastes", lead("names 3"), -0.4
        ),
        claim("with a tenth of answers random minus with none: mean", lead("lapses"), -0.4),
    ]


def _noise_is_known(study: Study, results: Results) -> list[dict[str, Any]]:
    """One claim for each noise, about the case in which the factor is furthest from 1."""
    found = []
    for noise in (n for n in study.noises if n > 0):
        logs = {}
        for case in cases(study, study.claimed):
            if case[1] == noise:
                condition = study.condition(case[0], case[2], Judge(noise), PROCESS)
                logs[_named(case)] = np.log(results[condition].noise / noise)
        factors = {case: _factor(values) for case, values in logs.items()}
        worst = max(logs, key=lambda case: abs(float(logs[case].mean())))
        found.append(
            {
                "name": f"estimates the noise {noise:g} after 10 rounds within a factor of 2: "
                "geometric mean of the factor, case furthest from 1",
                "holds": 0.5 <= factors[worst]["measured"] <= 2,
                "needed": "0.5 to 2",
                **factors[worst],
                "where": worst,
                "cases": factors,
            }
        )
    return found


def _factor(logs: NDArray[np.float64]) -> dict[str, Any]:
    """The geometric mean, its error to first order, and the median."""
    mean, error = math.exp(float(logs.mean())), standard_error(logs)
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
