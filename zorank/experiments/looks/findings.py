"""The results of the study of looks: gains by method and case, and its claims.

Differences are taken over the seeds that both methods have. "Best in hindsight" is the setting
with the largest mean over the reported seeds. Claims whose methods or tastes were not run are
omitted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank.experiments import studies
from zorank.experiments.claims import Claim
from zorank.experiments.looks import faces
from zorank.experiments.looks.boxes import FAMILIES
from zorank.experiments.looks.cases import DREAM, FACES, KINDS, LANDSCAPE, PEERS, STYLE
from zorank.experiments.looks.painting_styles import MEANINGS
from zorank.experiments.looks.picture_tastes import HELD_OUT, NUMBERS
from zorank.experiments.looks.study import (
    ALGORITHM_3,
    BOTORCH,
    BOX_METHODS,
    LOOKS,
    METHODS,
    NEIGHBOURS,
    PROCESS,
    RANDOM,
    Condition,
    Results,
    Study,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

MARKS = (5, 10, 20)
"""The rounds after which results are reported."""

LABELS = {
    ALGORITHM_3: "algorithm 3, best μ in hindsight",
    NEIGHBOURS: "neighbours, best μ in hindsight",
    BOTORCH: "qEUBO, best prior in hindsight",
}
"""The labels of methods with a grid, in tables and figures."""


def by_method(study: Study, results: Results, case: Condition) -> dict[str, studies.Sessions]:
    """Return the sessions of every method that was run in a case, at its best setting."""
    offered = BOX_METHODS if case.part == PEERS else METHODS
    found = {}
    for method in offered:
        conditions = (replace(case, method=method, setting=s) for s in study.grid(method))
        tried = [results[condition] for condition in conditions if condition in results]
        if tried:
            found[method] = studies.best_setting(tried)
    return found


def group_of(case: Condition) -> str:
    """Return the group of a taste in landscapes; for other parts the name of the part."""
    return KINDS[case.taste].group if case.part == LANDSCAPE else case.part


def meaning_of(case: Condition) -> str:
    """Return a description of the taste of a case."""
    if case.part in (STYLE, FACES):
        return {**MEANINGS, **faces.MEANINGS}[case.taste]
    return FAMILIES[case.taste][0] if case.part == PEERS else KINDS[case.taste].meaning


def label_of(case: Condition) -> str:
    """Return the label of a case."""
    where = f", d = {case.dim}" if case.part == PEERS else ""
    return f"{case.taste}, noise {case.noise:g}{where}"


def leads(
    study: Study,
    results: Results,
    cases: Iterable[Condition],
    other: str,
    *,
    at: int = -1,
    other_at: int | None = None,
) -> dict[str, NDArray[np.float64]]:
    """Return rank-looks after round `at` minus another method after `other_at`, by case."""
    found = {}
    for case in cases:
        by = by_method(study, results, case)
        if LOOKS in by and other in by:
            ours, theirs = by[LOOKS].gains, by[other].gains
            seeds = min(len(ours), len(theirs))
            then = at if other_at is None else other_at
            found[label_of(case)] = ours[:seeds, at] - theirs[:seeds, then]
    return found


def summary(study: Study, results: Results) -> dict[str, Any]:
    """Return all results, as JSON values."""
    return {
        "quick": study.quick,
        "first_seed": study.first_seed,
        "rounds": study.rounds,
        "pictures": study.pictures,
        "parts": list(study.parts),
        "claims": [claim.to_json() for claim in claims(study, results)],
        "cases": [
            {
                "part": case.part,
                "group": group_of(case),
                "taste": case.taste,
                "meaning": meaning_of(case),
                "noise": case.noise,
                "dim": case.dim,
                "methods": {
                    method: _to_json(found)
                    for method, found in by_method(study, results, case).items()
                },
            }
            for part in study.parts
            for case in study.cases(part)
        ],
    }


def claims(study: Study, results: Results) -> list[Claim]:
    """Return the claims about rank-looks."""
    found: list[Claim] = []
    if LANDSCAPE in study.parts:
        for noise in study.noises:
            found += _in_landscapes(study, results, noise)
    if DREAM in study.parts:
        dreams = leads(study, results, study.cases(DREAM), PROCESS)
        found += _claimed("dream: minus rank-process", dreams, 0.5)
    if STYLE in study.parts:
        found += _above_random(study, results, STYLE)
    if PEERS in study.parts:
        found += _level_with_botorch(study, results) + _time_ratio(study, results)
    if FACES in study.parts:
        found += _above_random(study, results, FACES)
    return found


def _in_landscapes(study: Study, results: Results, noise: float) -> list[Claim]:
    cases = [case for case in study.cases(LANDSCAPE) if case.noise == noise]
    perceptual = [case for case in cases if group_of(case) != NUMBERS]
    where = f"landscapes, noise {noise:g}"

    def lead(some: Iterable[Condition], other: str = PROCESS, **at: int) -> studies.Leads:
        return leads(study, results, some, other, **at)

    def within(group: str) -> list[Condition]:
        return [case for case in cases if group_of(case) == group]

    words = f"minus best of {study.pictures} random"
    found = [
        *_claimed(f"{where}: minus rank-process, perceptual tastes", lead(perceptual), 0.7),
        *_claimed(f"{where}: minus rank-process, held-out tastes", lead(within(HELD_OUT)), 0.5),
        *_claimed(f"{where}: {words}, least taste", lead(cases, RANDOM), 0.0, least=True),
        *_claimed(f"{where}: minus rank-process, tastes in numbers", lead(within(NUMBERS)), -0.3),
    ]
    if study.rounds >= 20:
        early = lead(perceptual, at=10, other_at=20)
        name = f"{where}: after 10 rounds minus rank-process after 20, perceptual tastes"
        found += _claimed(name, early, 0.0)
    return found


def _above_random(study: Study, results: Results, part: str) -> list[Claim]:
    """Claim, for each taste, to be a standard deviation above the best of as many random ones."""
    claims = []
    for case in study.cases(part):
        words = f"{part}, {case.taste} (d = {case.dim}): minus best of {study.pictures} random"
        claims += _claimed(words, leads(study, results, [case], RANDOM), 1.0)
    return claims


def _claimed(
    name: str, found: studies.Leads, needed: float, *, least: bool = False
) -> list[Claim]:
    return [studies.lead_claim(name, found, needed, least=least)] if found else []


def _level_with_botorch(study: Study, results: Results) -> list[Claim]:
    """Claim, after each mark, to be behind qEUBO in no case by more than one standard error."""
    claims = []
    for mark in (mark for mark in MARKS if mark <= study.rounds):
        found = leads(study, results, study.cases(PEERS), BOTORCH, at=mark)
        if not found:
            continue
        margins = {
            case: float(lead.mean()) + (studies.standard_error(lead) or 0.0)
            for case, lead in found.items()
        }
        worst = min(margins, key=lambda case: margins[case])
        by_case = {case: studies.with_error(lead) for case, lead in found.items()}
        claims.append(
            studies.benchmark_claim(
                f"boxes: after {mark} rounds minus {BOTORCH}, least case",
                holds=margins[worst] >= 0,
                needed="≥ −1 standard error",
                found=by_case[worst],
                where=worst,
                cases=by_case,
            )
        )
    return claims


def _time_ratio(study: Study, results: Results) -> list[Claim]:
    """Claim that rounds are ten times faster than those of qEUBO, in the slowest case."""
    ratios = {}
    for case in study.cases(PEERS):
        by = by_method(study, results, case)
        if LOOKS in by and BOTORCH in by:
            medians = [float(np.median(by[m].typical_seconds)) for m in (LOOKS, BOTORCH)]
            ratios[label_of(case)] = medians[0] / medians[1]
    if not ratios:
        return []
    worst = max(ratios, key=lambda case: ratios[case])
    by_case = {case: {"measured": ratio, "standard_error": None} for case, ratio in ratios.items()}
    return [
        studies.benchmark_claim(
            f"boxes: seconds of a round over those of {BOTORCH}, medians, slowest case",
            holds=ratios[worst] <= 0.1,
            needed="≤ 0.1",
            found=by_case[worst],
            where=worst,
            cases=by_case,
        )
    ]


def _to_json(sessions: studies.Sessions) -> dict[str, Any]:
    """Return the gains, also after the marks, and the times of a round, as JSON values."""
    marks = [mark for mark in MARKS if mark < sessions.gains.shape[1]]
    return {
        **sessions.to_json(),
        "seeds": len(sessions.gains),
        "after": {str(mark): sessions.mean(mark) for mark in marks},
        "median_seconds": float(np.median(sessions.typical_seconds)),
        "longest_seconds": float(sessions.seconds.max()),
    }


def mean_gains(
    study: Study, results: Results, cases: Iterable[Condition]
) -> dict[str, NDArray[np.float64]]:
    """Return gains, (seeds, slates), averaged within each seed over these cases, by method."""
    gathered: dict[str, list[NDArray[np.float64]]] = {}
    for case in cases:
        for method, sessions in by_method(study, results, case).items():
            gathered.setdefault(method, []).append(sessions.gains)
    return {
        method: np.mean([found[: min(map(len, gains))] for found in gains], axis=0)
        for method, gains in gathered.items()
    }
