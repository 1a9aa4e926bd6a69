"""Tables of the benchmark of judges."""

from collections.abc import Mapping
from typing import Any

from zorank.experiments.judges.findings import BEST, WORST
from zorank.experiments.judges.study import NEIGHBOURS, PAPER, PROCESS, RANDOM, SEPCMA
from zorank.experiments.measured import Gained, compare

METHODS = {
    PROCESS: "rank-process",
    BEST: "Algorithm 3, best μ",
    WORST: "its worst μ",
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
        told = f"{claim['name']} | {measured} | {claim['needed']} | {_holds(claim)}"
        lines.append(f"| {told} |")
    return lines


def _holds(claim: Mapping[str, Any]) -> str:
    bounds = [float(word) for word in claim["needed"].split() if word not in ("≥", "to")]
    half = CERTAIN * claim["standard_error"]
    if any(abs(claim["measured"] - bound) <= half for bound in bounds):
        return "undecided"
    return "yes" if claim["holds"] else "**no**"


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
