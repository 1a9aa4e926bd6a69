"""auto among its peers on BBOB, the 24 functions of the COCO platform (Hansen et al., 2021).

Ranks only; everyone starts at the same x0 ~ U[−4, 4]^d with σ0 = 2 and looks at 300·d points. The
area of a run is the mean, over 51 targets f − f* = 10² … 10⁻⁸, of how early each was hit: 1 at d
points, 0 at the end, in between by the logarithm of points. Better methods have more area.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank import optimizers, rng
from zorank.errors import MissingExtra
from zorank.experiments import figures, sweep
from zorank.experiments.peers import GUESTS, PEERS
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console

VERSION = "field 1"
TARGETS = 10.0 ** np.linspace(2, -8, 51)
GROUPS = {
    "separable": range(1, 6),
    "moderate": range(6, 10),
    "ill-conditioned": range(10, 15),
    "multimodal": range(15, 20),
    "weak structure": range(20, 25),
}
FUNCTIONS = tuple(f for group in GROUPS.values() for f in group)
SIGMA0 = 2.0
OURS, RIVAL = "auto", "pycma"


@dataclass(frozen=True)
class Race:
    """One contender on one instance of one function."""

    peer: str
    function: int
    instance: int
    dim: int
    points_per_dim: int
    revision: int = 0


@dataclass(frozen=True)
class Meeting:
    """Who meets where.

    Attributes:
        dims: the dimensions.
        instances: of every function.
        peers: those who take part, by name.
        points_per_dim: how many points each may look at, per dimension.
        functions: numbers of BBOB functions.
    """

    dims: tuple[int, ...] = (10, 40)
    instances: tuple[int, ...] = (61, 62, 63, 64, 65)
    peers: tuple[str, ...] = (OURS, RIVAL)
    points_per_dim: int = 300
    functions: tuple[int, ...] = FUNCTIONS

    def races(self) -> list[Race]:
        """All of them, instance by instance, so that the time left can be told."""
        return [
            Race(
                *(peer, function, instance, dim, self.points_per_dim),
                optimizers.REGISTRY[peer].revision if peer in optimizers.REGISTRY else 0,
            )
            for instance in self.instances
            for dim in self.dims
            for function in self.functions
            for peer in self.peers
        ]


def race(entry: Race) -> sweep.Row:
    """When each target was hit (None: not at all), and the seconds that the contender took."""
    f, optimum = bbob(entry.function, entry.instance, entry.dim)
    key = f"{entry.function} {entry.instance} {entry.dim}".encode()
    x0 = rng.for_content(0, b"start", key).uniform(-4, 4, entry.dim)
    contender = {**PEERS, **GUESTS}[entry.peer](x0, SIGMA0, 1000 * entry.function + entry.instance)
    budget = entry.points_per_dim * entry.dim
    seen, seconds = 0, 0.0
    reached: list[Vector] = []
    while seen < budget:
        began = perf_counter()
        candidates = contender.ask()
        seconds += perf_counter() - began
        values = np.array([f(x) for x in candidates])
        reached.append(values - optimum)
        seen += len(values)
        began = perf_counter()
        contender.tell(values)
        seconds += perf_counter() - began
    best = np.minimum.accumulate(np.concatenate(reached)[:budget])
    hits = np.searchsorted(-best, -TARGETS) + 1  # best falls, so −best rises
    return {
        "hits": [int(hit) if hit <= budget else None for hit in hits],
        "seconds_per_point": seconds / seen,
    }


def bbob(function: int, instance: int, dim: int) -> tuple[Callable[[Vector], float], float]:
    """A function of the suite, and its minimum."""
    try:
        import cocoex
    except ModuleNotFoundError as error:
        raise MissingExtra("BBOB", "coco-experiment", "experiments") from error
    suite = cocoex.Suite(
        "bbob", f"instances: {instance}", f"dimensions: {dim} function_indices: {function}"
    )
    problem = suite[0]
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:  # the suite tells its optimum by a file only
        os.chdir(folder)
        try:
            problem._best_parameter("print")
            best = np.loadtxt(Path(folder) / "._bbob_problem_best_parameter.txt").reshape(-1)
        finally:
            os.chdir(before)
    optimum = float(problem(best))

    def f(x: Vector, _suite: Any = suite) -> float:  # a problem does not outlive its suite
        return float(problem(x))

    return f, optimum


def run(
    meeting: Meeting, folder: Path, *, workers: int | None = None, console: Console | None = None
) -> list[sweep.Row]:
    """The row of every race; what `folder` holds already is not run again."""
    races = meeting.races()
    file = folder / "field.cells.jsonl"
    return sweep.run(race, races, file, version=VERSION, workers=workers, console=console)


@dataclass(frozen=True, eq=False)
class Standing:
    """How one contender did in one dimension.

    Attributes:
        areas: (functions, instances).
        hit: the share of targets hit at the end, (functions, instances).
        when: points per dimension at which each target was hit, inf if never, all races in a row.
        seconds: for one point, in the median.
    """

    areas: NDArray[np.float64]
    hit: NDArray[np.float64]
    when: Vector
    seconds: float


def standings(meeting: Meeting, rows: Sequence[sweep.Row]) -> dict[tuple[str, int], Standing]:
    """Every contender in every dimension."""
    by_race = dict(zip(meeting.races(), rows, strict=True))
    found = {}
    for dim in meeting.dims:
        for peer in meeting.peers:
            own = {
                (r.function, r.instance): row
                for r, row in by_race.items()
                if (r.peer, r.dim) == (peer, dim)
            }
            hits = np.array(
                [[own[f, i]["hits"] for i in meeting.instances] for f in meeting.functions],
                dtype=np.float64,
            )
            hits = np.where(np.isnan(hits), np.inf, hits)
            found[peer, dim] = Standing(
                area(hits, dim, meeting.points_per_dim),
                np.isfinite(hits).mean(axis=-1),
                np.sort(hits.ravel()) / dim,
                float(np.median([row["seconds_per_point"] for row in own.values()])),
            )
    return found


def area(hits: NDArray[np.float64], dim: int, points_per_dim: int) -> NDArray[np.float64]:
    """The mean over targets (the last axis) of how early they were hit."""
    early = 1 - np.log(np.maximum(hits, dim) / dim) / np.log(points_per_dim)
    return np.asarray(np.clip(early, 0, 1).mean(axis=-1))


def summary(meeting: Meeting, found: Mapping[tuple[str, int], Standing]) -> dict[str, Any]:
    """All of it as plain JSON values, areas in percent."""
    return {
        "instances": list(meeting.instances),
        "points_per_dim": meeting.points_per_dim,
        "sigma0": SIGMA0,
        "x0": "U[-4, 4]^d",
        "standings": [
            {
                "peer": peer,
                "dim": dim,
                "area": 100 * float(s.areas.mean()),
                "standard_error": 100
                * float(s.areas.mean(axis=0).std(ddof=1))
                / len(meeting.instances) ** 0.5
                if len(meeting.instances) > 1
                else None,
                "hit": 100 * float(s.hit.mean()),
                "groups": {
                    name: 100 * float(s.areas[[meeting.functions.index(f) for f in own]].mean())
                    for name, group in GROUPS.items()
                    if (own := [f for f in group if f in meeting.functions])
                },
                "functions": dict(
                    zip(
                        map(str, meeting.functions),
                        (100 * s.areas.mean(axis=1)).tolist(),
                        strict=True,
                    )
                ),
                "microseconds_per_point": 1e6 * s.seconds,
            }
            for (peer, dim), s in found.items()
        ],
    }


COLOURS = {
    OURS: "#1f4e9c",
    RIVAL: "#7b4ea3",
    "pycma diagonal": "#b493d0",
    "pycma VkD": "#3f8f5b",
    "cmaes CMA": "#d1691f",
    "cmaes SepCMA": "#e3a76f",
}


def plot(
    meeting: Meeting, found: Mapping[tuple[str, int], Standing], files: Sequence[Path]
) -> None:
    """The share of all targets hit against points per dimension, a panel a dimension."""

    def draw(figure: Any) -> None:
        figure.set_size_inches(3.1 * len(meeting.dims) + 0.4, 3.4)
        panels = figure.subplots(1, len(meeting.dims), sharey=True, squeeze=False)[0]
        for axes, dim in zip(panels, meeting.dims, strict=True):
            for peer in meeting.peers:
                when = found[peer, dim].when
                share = np.arange(1, len(when) + 1) / len(when)
                hit = np.isfinite(when)
                axes.step(
                    *(
                        np.append(when[hit], meeting.points_per_dim),
                        np.append(share[hit], share[hit][-1:] if hit.any() else 0.0),
                    ),
                    where="post",
                    color=COLOURS.get(peer, "#8a8f98"),
                    lw=2.2 if peer == OURS else 1.4,
                    label=peer,
                )
            axes.set_xscale("log")
            axes.set_xlim(1, meeting.points_per_dim)
            axes.set_title(f"d = {dim}")
            axes.set_xlabel("points / d")
            axes.grid(alpha=0.2, lw=0.6)
        panels[0].set_ylabel("share of targets hit")
        handles, labels = panels[0].get_legend_handles_labels()
        columns = min(len(labels), 2 * len(meeting.dims))
        figure.legend(handles, labels, loc="outside upper center", ncols=columns, frameon=False)

    figures.save(draw, files)
