"""The study `zorank bench largescale`: auto and other optimizers in many dimensions, ranks only.

The functions are those of bbob-largescale (d = 80 … 640) and single functions (any d). The area
under the runtime distribution is that of `bbob.py`. The table compares points: the geometric mean
over functions, and over the targets that some peer reached on the function, of a peer's points
divided by auto's. A target that a peer does not reach counts as if reached at the end of the
budget, and points below d count as d, so the ratio is a lower bound where the peer is behind.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank import optimizers
from zorank.errors import unknown_name
from zorank.experiments.bbob import area, race
from zorank.experiments.large_problems import SINGLE, SUITE, problem
from zorank.experiments.peers import GUESTS, LARGE, PEERS
from zorank.experiments.report import Report
from zorank.experiments.sweep import Row, Sweep

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSION = "largescale 1"
OURS = "auto"
CONTENDERS = {**PEERS, **LARGE, **GUESTS}


@dataclass(frozen=True)
class Trial:
    """One peer on one instance of one problem."""

    peer: str
    problem: str
    instance: int
    dim: int
    points_per_dim: int
    revision: int = 0


@dataclass(frozen=True)
class Study:
    """The peers and problems of a comparison.

    Attributes:
        dims: the dimensions.
        problems: names of problems.
        instances: of every problem.
        peers: their names.
        points_per_dim: the budget, in evaluated points per dimension.
    """

    dims: tuple[int, ...]
    problems: tuple[str, ...]
    instances: tuple[int, ...]
    peers: tuple[str, ...] = tuple(LARGE)
    points_per_dim: int = 100

    def __post_init__(self) -> None:
        for name in self.peers:
            if name not in CONTENDERS:
                raise unknown_name("peer", name, tuple(CONTENDERS))
        for name in self.problems:
            if name not in (*SUITE, *SINGLE):
                raise unknown_name("problem", name, (*SUITE, *SINGLE))

    def trials(self) -> list[Trial]:
        """Return all trials by instance and dimension."""
        return [
            Trial(
                *(peer, name, instance, dim, self.points_per_dim),
                optimizers.REGISTRY[peer].revision if peer in optimizers.REGISTRY else 0,
            )
            for instance in self.instances
            for dim in self.dims
            for name in self.problems
            for peer in self.peers
        ]


def run_trial(trial: Trial) -> Row:
    """Return when each target was hit (None: never), and the peer's seconds per point."""
    found = problem(trial.problem, trial.instance, trial.dim)
    seed = rank_of_problem(trial.problem) * 1000 + trial.instance
    contender = CONTENDERS[trial.peer](found.x0, found.sigma0, seed)
    return race(contender, found.f, found.optimum, trial, found.targets)


def rank_of_problem(name: str) -> int:
    """Return the number of a problem, for seeds."""
    return (*SUITE, *SINGLE).index(name) + 1


SWEEP = Sweep("largescale", run_trial, VERSION)
