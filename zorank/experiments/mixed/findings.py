"""The results of `zorank bench mixed`: win rates, medians and claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zorank.experiments.claims import Claim
from zorank.experiments.mixed.peers import OURS
from zorank.experiments.mixed.study import BUDGETS, Study, Trial
from zorank.experiments.report import Report
from zorank.experiments.sweep import Row

TIE = 1e-6
"""Values nearer to each other than this, as a share of 1 + the smaller one, are equal."""
RIVALS = ("CMAwM", "CatCMA", "TPE")
"""Peers that auto is claimed to beat; the others are reported only."""
CLAIMED = (300, 1000)


def report(study: Study, rows: Mapping[Trial, Row]) -> Report:
    """Build the report of a study from the rows of its trials."""
    found = {
        (t.peer, t.problem, t.seed, int(budget)): float(value)
        for t, row in rows.items()
        for budget, value in row["values"].items()
    }
    standings = [_standing(study, found, budget) for budget in BUDGETS]
    claims = _claims(standings) if OURS in study.peers else []
    return Report(
        name="mixed",
        title="Mixed spaces",
        claims=claims,
        summary={
            "seeds": list(study.seeds),
            "problems": list(study.problems),
            "tie": TIE,
            "standings": standings,
            "seconds": _seconds(study, rows),
            "claims": [claim.to_json() for claim in claims],
        },
        columns=("peer", "problem", "seed", "points", "value"),
        records=[(*key, value) for key, value in found.items()],
        draw=lambda figure: _draw(figure, study, standings),
    )


def win_rate(ours: float, theirs: float) -> float:
    """Return 1 if our value is smaller, 0 if theirs is, and a half if they are equal."""
    if abs(ours - theirs) <= TIE * (1 + min(abs(ours), abs(theirs))):
        return 0.5
    return float(ours < theirs)


def _standing(study: Study, found: Mapping[Any, float], budget: int) -> dict[str, Any]:
    """Return medians of all peers, and how often auto wins, for each problem at a budget."""
    problems: dict[str, Any] = {}
    for problem in study.problems:
        values = {
            peer: [
                v for s in study.seeds if (v := found.get((peer, problem, s, budget))) is not None
            ]
            for peer in study.peers
        }
        wins: dict[str, float] = {}
        for peer in study.peers:
            pairs = [
                win_rate(found[OURS, problem, s, budget], found[peer, problem, s, budget])
                for s in study.seeds
                if (OURS, problem, s, budget) in found and (peer, problem, s, budget) in found
            ]
            if pairs and peer != OURS:
                wins[peer] = float(np.mean(pairs))
        medians = {peer: float(np.median(own)) for peer, own in values.items() if own}
        seeds = {peer: len(own) for peer, own in values.items() if own}
        problems[problem] = {"medians": medians, "seeds": seeds, "wins": wins}
    overall = {
        peer: _over_problems([p["wins"][peer] for p in problems.values() if peer in p["wins"]])
        for peer in study.peers
        if any(peer in p["wins"] for p in problems.values())
    }
    return {"points": budget, "problems": problems, "overall": overall}


def _over_problems(rates: list[float]) -> dict[str, float]:
    return {
        "median": float(np.median(rates)),
        "mean": float(np.mean(rates)),
        "ahead": sum(rate > 0.5 for rate in rates),
        "behind": sum(rate < 0.5 for rate in rates),
    }


def _claims(standings: list[dict[str, Any]]) -> list[Claim]:
    """Claim that auto wins more than half of the pairs, in the median over the problems."""
    return [
        Claim(
            name=f"ahead of {peer}",
            says="",
            where=f"{standing['points']:,} points",
            at="",
            holds=found["median"] > 0.5,
            measured=found["median"],
            needed=0.5,
            cases={q: {"win_rate": p["wins"][peer]} for q, p in standing["problems"].items()},
        )
        for standing in standings
        if standing["points"] in CLAIMED
        for peer, found in standing["overall"].items()
        if peer in RIVALS
    ]


def _seconds(study: Study, rows: Mapping[Trial, Row]) -> dict[str, float]:
    """Return the median seconds per point of every peer, without the objective."""
    return {
        peer: float(
            np.median([row["seconds"] / t.points for t, row in rows.items() if t.peer == peer])
        )
        for peer in study.peers
    }


def _draw(figure: Any, study: Study, standings: list[dict[str, Any]]) -> None:
    """Draw the win rates of auto against every peer: one panel per budget."""
    figure.set_size_inches(9, 3.6)
    peers = [peer for peer in study.peers if peer != OURS]
    panels = figure.subplots(1, len(standings), sharey=True, squeeze=False)[0]
    for axes, standing in zip(panels, standings, strict=True):
        for place, peer in enumerate(peers):
            rates = [p["wins"][peer] for p in standing["problems"].values() if peer in p["wins"]]
            axes.plot(rates, [place] * len(rates), "o", ms=5, alpha=0.35, color="#1f4e9c")
            if rates:
                axes.plot(np.median(rates), place, "|", ms=18, mew=2.5, color="#1f4e9c")
        axes.axvline(0.5, color="#8a8f98", lw=1)
        axes.set(title=f"{standing['points']:,} points", xlim=(-0.05, 1.05))
        axes.set_xlabel("auto wins")
    panels[0].set_yticks(range(len(peers)), peers)
