"""The study `zorank bench items`: order 60 items from noisy answers, beside other methods.

Utilities are draws of N(0, s²). The judge orders what is shown by utility plus Gumbel noise of
scale 1: for two items this is the model of Bradley and Terry, for six that of Plackett and Luce.
Methods are compared by Kendall's τ with the true order at equal numbers of items shown, counted
with repetition: a slate of six counts 6 and a pair 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from zorank.errors import check_names
from zorank.experiments.claims import Claim, difference_claim
from zorank.experiments.item_rankers import RANKERS, Active
from zorank.experiments.report import Report
from zorank.experiments.sweep import Row, Sweep
from zorank.optimizers import RankItems
from zorank.types import Vector

VERSION = "items 1"
OURS, OUR_PAIRS = "rank-items", "rank-items, pairs"
MARKS = (120, 240, 360, 600, 900)
"""Numbers of items shown at which τ is measured: 20 to 150 slates of six, 60 to 450 pairs."""

RIVALS = {
    OURS: ("random slates", "TrueSkill, six", "TrueSkill, pairs", "merge sort"),
    OUR_PAIRS: ("random pairs", "TrueSkill, pairs", "merge sort"),
}


@dataclass(frozen=True)
class Trial:
    """One method on one set of items."""

    method: str
    items: int
    spread: float
    marks: tuple[int, ...]
    seed: int
    revision: int


@dataclass(frozen=True)
class Study:
    """The methods and conditions of a comparison.

    Attributes:
        items: the number of items.
        spreads: standard deviations of utilities, in units of the noise's scale.
        seeds: one set of items and one judge each.
        methods: names in `RANKERS`.
        marks: items shown when τ is measured.
    """

    items: int = 60
    spreads: tuple[float, ...] = (1.0, 2.0)
    seeds: tuple[int, ...] = tuple(range(5000, 5020))
    methods: tuple[str, ...] = tuple(RANKERS)
    marks: tuple[int, ...] = MARKS

    def __post_init__(self) -> None:
        check_names("method", self.methods, RANKERS)

    def trials(self) -> list[Trial]:
        """Return all trials, seed by seed."""
        return [
            Trial(method, self.items, spread, self.marks, seed, RankItems.revision)
            for seed in self.seeds
            for spread in self.spreads
            for method in self.methods
        ]


def run_trial(trial: Trial) -> Row:
    """Return τ at each mark, the expected share of right pairs, and the slowest round."""
    draws = np.random.default_rng([trial.seed, trial.items])
    truth = trial.spread * draws.standard_normal(trial.items)
    make, m = RANKERS[trial.method]
    ranker = make(trial.items, m, trial.seed)
    taus, certainties, shown, slowest = [], [], 0, 0.0
    for mark in trial.marks:
        while shown < mark:
            began = perf_counter()
            asked = ranker.ask()
            if asked is None:
                break
            seen = truth[asked] + draws.gumbel(size=len(asked))
            ranker.tell([asked[i] for i in np.argsort(-seen).tolist()])
            slowest = max(slowest, perf_counter() - began)
            shown += len(asked)
        taus.append(kendalls_tau(truth[ranker.order()]))
        if isinstance(ranker, Active):
            certainties.append(ranker.certainty)
    return {"taus": taus, "certainties": certainties, "shown": shown, "slowest": slowest}


def kendalls_tau(ranked: Vector) -> float:
    """Return τ of the values of items that are ordered best first, without ties."""
    right = np.sign(ranked[:, None] - ranked)[np.triu_indices(len(ranked), 1)]
    return float(right.mean())


SWEEP = Sweep("items", run_trial, VERSION)


def report(study: Study, rows: Mapping[Trial, Row]) -> Report:
    """Build the report of a study from the rows of its trials."""
    found = {
        (spread, method): np.array([row["taus"] for row in _own(rows, spread, method)])
        for spread in study.spreads
        for method in study.methods
    }
    claims = _claims(study, found)
    return Report(
        name="items",
        claims=claims,
        summary={
            "items": study.items,
            "seeds": list(study.seeds),
            "marks": list(study.marks),
            "results": [_result(study, rows, found, *key) for key in found],
            "claims": [claim.to_json() for claim in claims],
        },
        draw=lambda figure: draw(figure, study, found),
        measure="Differences of τ",
    )


def _own(rows: Mapping[Trial, Row], spread: float, method: str) -> list[Row]:
    return [row for t, row in rows.items() if (t.spread, t.method) == (spread, method)]


def _result(
    study: Study, rows: Mapping[Trial, Row], found: Mapping[Any, Any], spread: float, method: str
) -> dict[str, Any]:
    """Return the results of one method in one condition as JSON values."""
    taus, own = found[spread, method], _own(rows, spread, method)
    error = (
        taus.std(axis=0, ddof=1) / len(taus) ** 0.5 if len(taus) > 1 else [None] * len(study.marks)
    )
    expected = np.array([row["certainties"] for row in own])
    return {
        "method": method,
        "spread": spread,
        "tau": taus.mean(axis=0).tolist(),
        "standard_error": list(error),
        "right_pairs": ((1 + taus.mean(axis=0)) / 2).tolist(),
        "expected_right_pairs": expected.mean(axis=0).tolist() if expected.size else None,
        "shown": float(np.mean([row["shown"] for row in own])),
        "slowest_round_seconds": max(row["slowest"] for row in own),
    }


def _claims(study: Study, found: Mapping[Any, Any]) -> list[Claim]:
    """Claim that each of our variants is better than each rival, after every mark."""
    return [
        difference_claim(
            f"{ours} orders better than {rival}",
            "",
            f"s = {spread:g}",
            f"{mark} shown",
            found[spread, ours][:, k] - found[spread, rival][:, k],
        )
        for ours, rivals in RIVALS.items()
        for rival in rivals
        for spread in study.spreads
        for k, mark in enumerate(study.marks)
        if {ours, rival} <= set(study.methods)
    ]


def draw(figure: Any, study: Study, found: Mapping[Any, Any]) -> None:
    """Draw τ against the number of items shown, one panel per spread."""
    figure.set_size_inches(3.6 * len(study.spreads) + 0.6, 3.8)
    panels = figure.subplots(1, len(study.spreads), sharey=True, squeeze=False)[0]
    for axes, spread in zip(panels, study.spreads, strict=True):
        for method in study.methods:
            style = "--" if RANKERS[method][1] == 2 else "-"
            width = 2.2 if method.startswith(OURS) else 1.3
            mean = found[spread, method].mean(axis=0)
            axes.plot(study.marks, mean, style, lw=width, label=method)
        axes.set_title(f"spread s = {spread:g}")
        axes.set_xlabel("items shown")
        axes.grid(alpha=0.2, lw=0.6)
    panels[0].set_ylabel("Kendall's τ")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
