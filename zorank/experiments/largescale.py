"""The study `zorank bench largescale`: auto and other optimizers in many dimensions, ranks only.

The functions are those of bbob-largescale (d = 80 … 640) and single functions (any d). The area
under the runtime distribution is that of `bbob.py`. The table compares points: the geometric mean
over functions, and over the targets that some peer reached on the function, of a peer's points
divided by auto's. A target that a peer does not reach counts as if reached at the end of the
budget, and points below d count as d, so the ratio is a lower bound where the peer is behind.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank import optimizers
from zorank.errors import InvalidInput, check_names
from zorank.experiments.bbob import COLOURS, Trial, area, hit_points, trials_of
from zorank.experiments.large_problems import SINGLE, SUITE, problem
from zorank.experiments.peers import LARGE, OPTIONAL_PEERS, PEERS
from zorank.experiments.report import Report
from zorank.experiments.sweep import Row, Sweep

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSION = "largescale 1"
OURS = "auto"
CONTENDERS = {**PEERS, **LARGE, **OPTIONAL_PEERS}


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
        check_names("peer", self.peers, tuple(CONTENDERS))
        check_names("problem", self.problems, (*SUITE, *SINGLE))

    def trials(self) -> list[Trial[str]]:
        """Return all trials by instance and dimension."""
        cases = product(self.instances, self.dims, self.problems, self.peers)
        return trials_of(cases, self.points_per_dim)


def run_trial(trial: Trial[str]) -> Row:
    """Return when each target was hit (None: never), and the peer's seconds per point."""
    found = problem(trial.function, trial.instance, trial.dim)
    seed = rank_of_problem(trial.function) * 1000 + trial.instance
    contender = CONTENDERS[trial.peer](found.x0, found.sigma0, seed)
    return hit_points(contender, found.f, found.optimum, trial, found.targets)


def rank_of_problem(name: str) -> int:
    """Return the number of a problem, from which its seeds are made."""
    return (*SUITE, *SINGLE).index(name) + 1


SWEEP = Sweep("largescale", run_trial, VERSION)
CHEAP = tuple(name for name in SUITE if name not in ("f21", "f22"))
"""Without the functions of random peaks, which take milliseconds a point in many dimensions."""
LARGEST = ("sphere", "ellipsoid", "rotated ellipsoid", "rotated cigar", "Rosenbrock")
STUDIES = (
    Study((80, 160), SUITE, (61,)),
    Study((320, 640), CHEAP, (61,), points_per_dim=50),
    Study((1000,), tuple(SINGLE), (500,)),
    Study((10_000,), LARGEST, (500,), points_per_dim=5),
)
"""The studies in the documentation; instances and seeds that were not used for tuning."""


def studies(
    dims: tuple[int, ...] = (), peers: tuple[str, ...] = (), points_per_dim: int | None = None
) -> list[Study]:
    """Return the studies in some of their dimensions, one dimension each."""
    known = [dim for study in STUDIES for dim in study.dims]
    for dim in dims:
        if dim not in known:
            raise InvalidInput(f"dim must be one of {', '.join(map(str, known))}, found {dim}")
    return [
        replace(
            study,
            dims=(dim,),
            peers=tuple(dict.fromkeys((OURS, *peers))) if peers else study.peers,
            points_per_dim=points_per_dim or study.points_per_dim,
        )
        for study in STUDIES
        for dim in study.dims
        if not dims or dim in dims
    ]


def report(found: Sequence[Study], rows: Mapping[Trial[str], Row]) -> Report:
    """Build the report of studies of one dimension each from the rows of their trials."""
    standings = [row for study in found for row in standings_of(study, rows)]
    summary = {"revision": optimizers.REGISTRY[OURS].revision, "standings": standings}
    return Report(name="largescale", summary=summary, draw=lambda figure: draw(figure, standings))


def standings_of(study: Study, rows: Mapping[Trial[str], Row]) -> list[dict[str, Any]]:
    """Return the results of the peers of a study of one dimension as JSON values."""
    (dim,) = study.dims
    hits = {peer: _hits(study, peer, rows) for peer in study.peers}
    finite = np.isfinite(np.stack(list(hits.values())))
    reached = np.asarray(finite.any(axis=(0, 2)))  # (problems, targets)
    compared = reached.any(axis=-1)
    budget = dim * study.points_per_dim
    used = {peer: np.log(np.clip(h, dim, budget)).mean(axis=1) for peer, h in hits.items()}
    result = []
    for peer, own in hits.items():
        ratios = np.array(
            [
                math.exp(float((used[peer] - used[OURS])[p][reached[p]].mean()))
                for p in np.flatnonzero(compared)
            ]
        )
        areas = 100 * area(own, dim, study.points_per_dim).mean(axis=1)
        seconds = [
            row["seconds_per_point"] for t, row in rows.items() if (t.peer, t.dim) == (peer, dim)
        ]
        result.append(
            {
                "dim": dim,
                "peer": peer,
                "points_per_dim": study.points_per_dim,
                "instances": list(study.instances),
                "functions": len(study.problems),
                "compared": int(compared.sum()),
                "area": float(areas.mean()),
                "hit": 100 * float(np.isfinite(own).mean()),
                "points_ratio": float(np.exp(np.log(ratios).mean())) if ratios.size else None,
                "behind": int((ratios < 1).sum()),
                "areas": dict(zip(study.problems, areas.tolist(), strict=True)),
                "ratios": dict(
                    zip(np.array(study.problems)[compared].tolist(), ratios.tolist(), strict=True)
                ),
                "microseconds_per_point": 1e6 * float(np.median(seconds)),
            }
        )
    return result


def _hits(study: Study, peer: str, rows: Mapping[Trial[str], Row]) -> NDArray[np.float64]:
    """Return after how many points targets were hit, (problems, instances, targets)."""
    own = {
        (t.function, t.instance): row["hits"]
        for t, row in rows.items()
        if (t.peer, (t.dim,)) == (peer, study.dims)
    }
    hits = np.array(
        [[own[name, i] for i in study.instances] for name in study.problems], dtype=np.float64
    )
    return np.where(np.isnan(hits), np.inf, hits)


def draw(figure: Any, standings: Sequence[Mapping[str, Any]]) -> None:
    """Draw the points of each peer relative to auto's against the dimension."""
    figure.set_size_inches(5.0, 3.4)
    axes = figure.subplots()
    for peer in dict.fromkeys(row["peer"] for row in standings):
        own = [row for row in standings if row["peer"] == peer and row["points_ratio"]]
        axes.plot(
            [row["dim"] for row in own],
            [row["points_ratio"] for row in own],
            marker="o",
            color=COLOURS.get(peer, "#8a8f98"),
            lw=2.2 if peer == OURS else 1.4,
            label=peer,
        )
    axes.set_xscale("log")
    axes.set_xlabel("d")
    axes.set_ylabel("points / points of auto")
    axes.grid(alpha=0.2, lw=0.6)
    axes.legend(frameon=False)
