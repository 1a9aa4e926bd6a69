"""Tables of the benchmark of judges."""

import re
from collections.abc import Mapping
from typing import Any

from zorank.experiments.judges.findings import BEST, WORST
from zorank.experiments.judges.study import NEIGHBOURS, PAPER, PROCESS, RANDOM, SEPCMA
from zorank.experiments.measured import Gained, compare

METHODS = {
    PROCESS: "rank-process",
    BEST: "Algorithm 3, best μ and η",
    WORST: "its worst",
    PAPER: "paper's μ, η",
    SEPCMA: "sep-CMA-ES",
    NEIGHBOURS: "near",
    RANDOM: "random",
}
RATERS = {
    "ranks all": "ranks all six",
    "names 3": "names the best three",
    "names 2": "names the best two",
    "names 1": "names the best",
    "lapses": "a tenth of the answers is random",
    "ties": "ties what differs by less than .2 sd",
    "tires": "tires: noise grows by a tenth an answer",
}
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?= to|$)")
CERTAIN = 1.96
"""Standard errors on either side of a 95% interval."""


def people(found: dict[str, Any]) -> list[str]:
    """List the final gain of every method in every case."""
    lines = ["| taste | noise | d | " + " | ".join(METHODS.values()) + " |"]
    lines.append("| --- " * (len(METHODS) + 3) + "|")
    for case in found["cases"]:
        cells = " | ".join(_gain(case["methods"][name]) for name in METHODS)
        lines.append(f"| {case['utility']} | {case['noise']:g} | {case['dim']:,} | {cells} |")
    return lines


def judge_claims(found: dict[str, Any]) -> list[str]:
    """List the claims; one is undecided if a 95% interval contains its bound."""
    lines = ["| rank-process … | measured | wanted | holds |", "| --- " * 4 + "|"]
    for claim in found["claims"]:
        measured = f"{claim['measured']:.2f} ± {claim['standard_error']:.2f}"
        told = f"{claim['name']} | {measured} | {claim['needed']} | {holds(claim)}"
        lines.append(f"| {told} |")
    return lines


def holds(claim: Mapping[str, Any]) -> str:
    """Say whether a claim holds; undecided if a bound lies within its 95% interval."""
    bounds = [float(word) for word in NUMBER.findall(claim["needed"])]
    half = CERTAIN * (claim["standard_error"] or 0.0)
    if any(abs(claim["measured"] - bound) <= half for bound in bounds):
        return "undecided"
    return "yes" if claim["holds"] else "**no**"


def grid_ends(found: dict[str, Any]) -> list[str]:
    """Say in how many cases the best setting lies at an end of its grid, and which η is best."""
    grids, cases = found["grids"], found["cases"]
    told = []
    for method, name, option in (
        (BEST, "Algorithm 3", "mu"),
        (SEPCMA, "sep-CMA-ES", "sigma"),
        (NEIGHBOURS, "near", "mu"),
    ):
        ends = (grids[option][0], grids[option][-1])
        count = sum(case["methods"][method]["setting"] in ends for case in cases)
        told.append(f"{name} in {count}")
    mus, sigmas, steps = (
        ", ".join(f"{value:g}" for value in grids[name]) for name in ("mu", "sigma", "step")
    )
    shorter = sum(case["best_step"] == grids["step"][0] for case in cases)
    return [
        f"The grids: μ of {mus}; η of {steps} for Algorithm 3; σ of {sigmas}. "
        f"Of {len(cases)} cases the best value lies at an end of its grid for "
        f"{', '.join(told)}. Algorithm 3 is best with η = {grids['step'][0]:g} in {shorter} cases."
    ]


def least_lead(found: dict[str, Any]) -> list[str]:
    """Say in which case the lead over Algorithm 3 is smallest, and how large it is."""
    claim = _claim(found, f"minus {BEST}: least case")
    return [f"{claim['where']}: {_measured(claim)}, {_order(claim)}"]


def ten_rounds(found: dict[str, Any]) -> list[str]:
    """Say how ten rounds of rank-process compare with sixteen of Algorithm 3."""
    claim = _claim(found, "after 10 rounds")
    return [f"{_measured(claim)}, {_order(claim)}"]


def _claim(found: Mapping[str, Any], start: str) -> Mapping[str, Any]:
    (claim,) = (claim for claim in found["claims"] if claim["name"].startswith(start))
    return claim


def _measured(claim: Mapping[str, Any]) -> str:
    return f"{claim['measured']:.2f} ± {claim['standard_error']:.2f} sd"


def _order(claim: Mapping[str, Any]) -> str:
    """Return "ahead" or "behind", if 0 lies outside the 95% interval of a lead."""
    if abs(claim["measured"]) <= CERTAIN * claim["standard_error"]:
        return "undecided"
    return "ahead" if claim["measured"] > 0 else "behind"


def raters(found: dict[str, Any]) -> list[str]:
    """List rank-process and Algorithm 3 by kind of rater."""
    tastes = list(next(iter(found["judges"].values())))
    lines = ["| judge | " + " | ".join(f"{t}: rank-process / Algorithm 3" for t in tastes) + " |"]
    lines.append("| --- " * (len(tastes) + 1) + "|")
    for name, by_taste in found["judges"].items():
        cells = (
            f"{_gain(by[PROCESS])} / {_gain(by[BEST])} ({by[BEST]['setting']:g})"
            for by in by_taste.values()
        )
        lines.append(f"| {RATERS[name]} | " + " | ".join(cells) + " |")
    return lines


def _gain(line: Mapping[str, Any]) -> str:
    return f"{line['gain']:.2f} ±{line['standard_error']:.2f}"


def shown(found: dict[str, Any]) -> list[str]:
    """List the gain of each (m, k) by noise, and in equal time as their mean."""
    rows = [Gained(**{**row, "gains": tuple(row["gains"])}) for row in found["rows"]]
    minutes, offers = compare(rows)
    noises = list(dict.fromkeys(row.noise for row in rows))
    gains = " | ".join(f"gain at noise {noise:g}" for noise in noises)
    lines = [f"| show | name | {gains} | comparisons | minutes | gain in {minutes:.1f} minutes |"]
    lines.append("| --- " * (len(noises) + 5) + "|")
    for offer in sorted(offers, key=lambda offer: (offer.rows[0].m, offer.rows[0].k or 99)):
        first = offer.rows[0]
        cells = " | ".join(f"{row.gain:.2f} ±{row.standard_error:.2f}" for row in offer.rows)
        cost = f"{first.comparisons} | {first.minutes():.1f} | {offer.gain:.2f}"
        lines.append(f"| {first.m} | {first.k or 'all'} | {cells} | {cost} |")
    return lines
