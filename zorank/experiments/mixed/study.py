"""The study `zorank bench mixed`: auto and other optimizers in mixed spaces.

Every trial evaluates 1,000 points of one instance. Its row has the best value after 100, 300 and
1,000 points. For zorank this is the value of the point that `minimize` would return, not of the
best candidate. Peers other than zorank receive values, zorank only ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

from zorank import optimizers
from zorank.errors import check_names
from zorank.experiments.mixed.peers import OURS, PEERS
from zorank.experiments.mixed.problems import PROBLEMS, Objective
from zorank.experiments.sweep import Row, Sweep
from zorank.spaces import SearchSpace

VERSION = "mixed 1"
BUDGETS = (100, 300, 1000)
SLOW = ("TPE",)
"""Peers that take about a minute for 1,000 points."""
FEW_POINTS = ("NGOpt",)
"""Peers that run 300 points only."""
KNOWS_BUDGET = ("NGOpt",)
"""Peers that choose their method by the budget, and so run once for each of them."""


@dataclass(frozen=True)
class Trial:
    """One peer on one instance of one problem, with a budget of points."""

    peer: str
    problem: str
    seed: int
    points: int
    revision: int = 0


@dataclass(frozen=True)
class Study:
    """The peers, problems and seeds of a comparison.

    Attributes:
        seeds: the instances.
        slow_seeds: how many of them slow peers run to the end; of the others they run 300 points.
        peers: their names.
        problems: their names.
    """

    seeds: tuple[int, ...]
    slow_seeds: int = 3
    peers: tuple[str, ...] = tuple(PEERS)
    problems: tuple[str, ...] = tuple(PROBLEMS)

    def __post_init__(self) -> None:
        check_names("peer", self.peers, PEERS)
        check_names("problem", self.problems, PROBLEMS)

    def trials(self) -> list[Trial]:
        """Return all trials by seed, so that the remaining time can be estimated."""
        revision = optimizers.REGISTRY[OURS].revision
        return [
            Trial(
                *(peer, problem, seed),
                self._points(peer, place),
                revision if peer == OURS else 0,
            )
            for place, seed in enumerate(self.seeds)
            for problem in self.problems
            for peer in self.peers
        ]

    def _points(self, peer: str, place: int) -> int:
        few = peer in FEW_POINTS or (peer in SLOW and place >= self.slow_seeds)
        return BUDGETS[1] if few else BUDGETS[-1]


def run_trial(trial: Trial) -> Row:
    """Return the value found within each budget, and the peer's seconds for all points."""
    parameters, make = PROBLEMS[trial.problem]
    space, f = SearchSpace(parameters), make(trial.seed)
    found: dict[str, float] = {}
    seconds = 0.0
    wanted = tuple(budget for budget in BUDGETS if budget <= trial.points)
    runs = [(budget,) for budget in wanted] if trial.peer in KNOWS_BUDGET else [wanted]
    for budgets in runs:
        peer = PEERS[trial.peer](space, trial.seed, budgets[-1])
        values, seconds = _search(peer, f, budgets)
        found |= values
    return {"values": found, "seconds": seconds}


def _search(peer: Any, f: Objective, budgets: tuple[int, ...]) -> tuple[dict[str, float], float]:
    """Return the value found within each budget, and the seconds that the peer took."""
    found: dict[str, float] = {}
    seen, best, seconds = 0, float("inf"), 0.0
    while seen < budgets[-1]:
        began = perf_counter()
        candidates = peer.ask()
        seconds += perf_counter() - began
        values = [f(params) for params in candidates]
        within = [b for b in budgets if seen < b <= seen + len(values)]
        for budget in within:
            found[str(budget)] = min([best, *values[: budget - seen]])
            if hasattr(peer, "best"):  # the result without a slate that does not fit
                found[str(budget)] = f(peer.best())
        best, seen = min([best, *values]), seen + len(values)
        began = perf_counter()
        peer.tell(values)
        seconds += perf_counter() - began
        if seen in within and hasattr(peer, "best"):
            found[str(seen)] = f(peer.best())
    return found, seconds


SWEEP = Sweep("mixed", run_trial, VERSION, kind="MixedTrial")
