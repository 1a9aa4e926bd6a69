"""What the benchmark of looks found: a line per method and case, and whether the claims hold.

Standard errors are over seeds. Differences are taken seed by seed, over the seeds that both
methods have; a mean over tastes is taken within each seed first. "Best in hindsight" is the
setting with the largest mean over these very seeds. Claims whose methods or tastes were not run
are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank.experiments.boxes import FAMILIES
from zorank.experiments.leads import Leads, Line, best_line, claim, standard_error, told
from zorank.experiments.looks import (
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
from zorank.experiments.looks_cases import DREAM, KINDS, LANDSCAPE, PEERS
from zorank.experiments.picture_tastes import HELD_OUT, NUMBERS

if TYPE_CHECKING:
    from numpy.typing import NDArray

MARKS = (5, 10, 20)
"""The rounds after which results are told."""

LABELS = {
    ALGORITHM_3: "algorithm 3, best μ in hindsight",
    NEIGHBOURS: "neighbours, best μ in hindsight",
    BOTORCH: "qEUBO, best prior in hindsight",
}
"""What a method with a grid is called in tables and figures."""


@dataclass(frozen=True, eq=False)
class TimedLine(Line):
    """A line, and for each seed the median and the longest time of a round."""

    typical_seconds: NDArray[np.float64]
    seconds: NDArray[np.float64]


def lines(study: Study, results: Results, case: Condition) -> dict[str, TimedLine]:
    """Every method that was run in one case, those with a grid at their best."""
    offered = BOX_METHODS if case.part == PEERS else METHODS
    found = {}
    for method in offered:
        tried = []
        for setting in study.grid(method):
            sessions = results.get(replace(case, method=method, setting=setting))
            if sessions is not None:
                tried.append(
                    TimedLine(setting, sessions.gains, sessions.typical_seconds, sessions.seconds)
                )
        if tried:
            found[method] = best_line(tried)
    return found


def group_of(case: Condition) -> str:
    """The group of a landscape's taste; elsewhere the part's name."""
    return KINDS[case.taste].group if case.part == LANDSCAPE else case.part


def meaning_of(case: Condition) -> str:
    """What a case's taste likes, in plain words."""
    return FAMILIES[case.taste][0] if case.part == PEERS else KINDS[case.taste].meaning


def named(case: Condition) -> str:
    """A case in a few words."""
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
    """By case: rank-looks after round `at` minus another method after `other_at`, paired."""
    found = {}
    for case in cases:
        by = lines(study, results, case)
        if LOOKS in by and other in by:
            ours, theirs = by[LOOKS].gains, by[other].gains
            seeds = min(len(ours), len(theirs))
            then = at if other_at is None else other_at
            found[named(case)] = ours[:seeds, at] - theirs[:seeds, then]
    return found


def summary(study: Study, results: Results) -> dict[str, Any]:
    """All that was found, as plain JSON values."""
    return {
        "quick": study.quick,
        "first_seed": study.first_seed,
        "rounds": study.rounds,
        "pictures": study.pictures,
        "parts": list(study.parts),
        "claims": claims(study, results),
        "cases": [
            {
                "part": case.part,
                "group": group_of(case),
                "taste": case.taste,
                "meaning": meaning_of(case),
                "noise": case.noise,
                "dim": case.dim,
                "methods": {
                    method: _told(line) for method, line in lines(study, results, case).items()
                },
            }
            for part in study.parts
            for case in study.cases(part)
        ],
    }


def claims(study: Study, results: Results) -> list[dict[str, Any]]:
    """What is said of rank-looks, held against what was measured."""
    found = []
    if LANDSCAPE in study.parts:
        for noise in study.noises:
            found += _in_landscapes(study, results, noise)
    if DREAM in study.parts:
        dreams = leads(study, results, study.cases(DREAM), PROCESS)
        found += _claimed("dream: minus rank-process", dreams, 0.5)
    if PEERS in study.parts:
        found += _level_with_botorch(study, results) + _time_ratio(study, results)
    return found


def _in_landscapes(study: Study, results: Results, noise: float) -> list[dict[str, Any]]:
    cases = [case for case in study.cases(LANDSCAPE) if case.noise == noise]
    perceptual = [case for case in cases if group_of(case) != NUMBERS]
    where = f"landscapes, noise {noise:g}"

    def lead(some: Iterable[Condition], other: str = PROCESS, **at: int) -> Leads:
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


def _claimed(
    name: str, found: Leads, needed: float, *, least: bool = False
) -> list[dict[str, Any]]:
    return [claim(name, found, needed, least=least)] if found else []


def _level_with_botorch(study: Study, results: Results) -> list[dict[str, Any]]:
    """After each mark: in no case behind qEUBO by more than one standard error."""
    told_of = []
    for mark in (mark for mark in MARKS if mark <= study.rounds):
        found = leads(study, results, study.cases(PEERS), BOTORCH, at=mark)
        if not found:
            continue
        behind = claim(f"boxes: after {mark} rounds minus {BOTORCH}, least case", found, 0.0)
        margins = {
            case: float(lead.mean()) + (standard_error(lead) or 0.0)
            for case, lead in found.items()
        }
        worst = min(margins, key=lambda case: margins[case])
        told_of.append(
            {
                **behind,
                **behind["cases"][worst],
                "holds": margins[worst] >= 0,
                "needed": "≥ −1 standard error",
                "where": worst,
            }
        )
    return told_of


def _time_ratio(study: Study, results: Results) -> list[dict[str, Any]]:
    """Median seconds of a round over those of qEUBO, the case of the largest ratio."""
    ratios = {}
    for case in study.cases(PEERS):
        by = lines(study, results, case)
        if LOOKS in by and BOTORCH in by:
            medians = [float(np.median(by[m].typical_seconds)) for m in (LOOKS, BOTORCH)]
            ratios[named(case)] = medians[0] / medians[1]
    if not ratios:
        return []
    worst = max(ratios, key=lambda case: ratios[case])
    return [
        {
            "name": f"boxes: seconds of a round over those of {BOTORCH}, medians, slowest case",
            "holds": ratios[worst] <= 0.1,
            "needed": "≤ 0.1",
            "measured": ratios[worst],
            "standard_error": None,
            "where": worst,
            "cases": {
                case: {"measured": ratio, "standard_error": None} for case, ratio in ratios.items()
            },
        }
    ]


def _told(line: TimedLine) -> dict[str, Any]:
    """A line as JSON, with the gains after the marks and the times of a round."""
    after = {mark: line.mean(mark) for mark in MARKS if mark < line.gains.shape[1]}
    return {
        **told(line),
        "seeds": len(line.gains),
        "after": {str(mark): gain for mark, gain in after.items()},
        "median_seconds": float(np.median(line.typical_seconds)),
        "longest_seconds": float(line.seconds.max()),
    }


def mean_lines(
    study: Study, results: Results, cases: Iterable[Condition]
) -> dict[str, NDArray[np.float64]]:
    """By method: gains, (seeds, slates), averaged within each seed over these cases."""
    by_method: dict[str, list[NDArray[np.float64]]] = {}
    for case in cases:
        for method, line in lines(study, results, case).items():
            by_method.setdefault(method, []).append(line.gains)
    return {
        method: np.mean([found[: min(map(len, gains))] for found in gains], axis=0)
        for method, gains in by_method.items()
    }
