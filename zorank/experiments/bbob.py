"""The study `zorank bench field`: auto and other optimizers on BBOB, with ranks only.

BBOB is the suite of 24 functions of the COCO platform (Hansen et al., 2021). All peers start at
the same x0 ~ U[−4, 4]^d with σ0 = 2 and evaluate 300·d points. The result of a trial is the area
under its runtime distribution over 51 targets f − f* = 10² … 10⁻⁸: each target scores 1 if it is
hit within d points, 0 if it is missed, and in between falls with the logarithm of the points.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from zorank import rng
from zorank.errors import InvalidInput, check_names, required_by
from zorank.experiments.auto_variants import VARIANTS
from zorank.experiments.peers import OPTIONAL_PEERS, PEERS, Contender, revision_of
from zorank.experiments.report import Report
from zorank.experiments.sweep import Row, Sweep
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
CONTENDERS = {**PEERS, **OPTIONAL_PEERS, **VARIANTS}


F = TypeVar("F")


@dataclass(frozen=True)
class Trial(Generic[F]):
    """One peer on one instance of one function, which has a number or a name."""

    peer: str
    function: F
    instance: int
    dim: int
    points_per_dim: int
    revision: int = 0


def trials_of(cases: Iterable[tuple[int, int, F, str]], points_per_dim: int) -> list[Trial[F]]:
    """Return the trials of cases: instance, dimension, function and peer."""
    return [
        Trial(peer, function, instance, dim, points_per_dim, revision_of(peer))
        for instance, dim, function, peer in cases
    ]


@dataclass(frozen=True)
class Study:
    """The peers, functions and dimensions of a comparison.

    Attributes:
        dims: the dimensions.
        instances: of every function.
        peers: their names.
        points_per_dim: the budget, in evaluated points per dimension.
        functions: numbers of BBOB functions.
    """

    dims: tuple[int, ...] = (10, 40)
    instances: tuple[int, ...] = (61, 62, 63, 64, 65)
    peers: tuple[str, ...] = (OURS, RIVAL)
    points_per_dim: int = 300
    functions: tuple[int, ...] = FUNCTIONS

    def __post_init__(self) -> None:
        check_names("peer", self.peers, tuple(CONTENDERS))

    def trials(self) -> list[Trial[int]]:
        """Return all trials by instance, so that the remaining time can be estimated."""
        cases = product(self.instances, self.dims, self.functions, self.peers)
        return trials_of(cases, self.points_per_dim)


def run_trial(trial: Trial[int]) -> Row:
    """Return when each target was hit (None: never), and the peer's seconds per point."""
    f, optimum = bbob(trial.function, trial.instance, trial.dim)
    key = f"{trial.function} {trial.instance} {trial.dim}".encode()
    x0 = rng.for_content(0, b"start", key).uniform(-4, 4, trial.dim)
    contender = CONTENDERS[trial.peer](x0, SIGMA0, 1000 * trial.function + trial.instance)
    return hit_points(contender, lambda x: np.array([f(row) for row in x]), optimum, trial)


def hit_points(
    contender: Contender,
    f: Callable[[NDArray[np.float64]], Vector],
    optimum: float,
    trial: Trial[Any],
    targets: Vector = TARGETS,
) -> Row:
    """Return after how many points each target was hit (None: never), and seconds per point.

    Args:
        contender: an optimizer at its start.
        f: the values of candidates (n, d), (n,).
        optimum: the minimum of f.
        trial: gives the budget.
        targets: falling values of f minus its minimum.
    """
    budget = trial.points_per_dim * trial.dim
    seen, seconds = 0, 0.0
    reached: list[Vector] = []
    while seen < budget:
        began = perf_counter()
        candidates = contender.ask()
        seconds += perf_counter() - began
        values = f(candidates)
        reached.append(values - optimum)
        seen += len(values)
        began = perf_counter()
        contender.tell(values)
        seconds += perf_counter() - began
    best = np.minimum.accumulate(np.concatenate(reached)[:budget])
    hits = np.searchsorted(-best, -targets) + 1  # best falls, so −best rises
    return {
        "hits": [int(hit) if hit <= budget else None for hit in hits],
        "seconds_per_point": seconds / seen,
    }


def bbob(
    function: int, instance: int, dim: int, suite_name: str = "bbob"
) -> tuple[Callable[[Vector], float], float]:
    """Return a function of the suite and its minimum."""
    with required_by("BBOB", "coco-experiment", "experiments"):
        import cocoex
    suite = cocoex.Suite(
        suite_name, f"instances: {instance}", f"dimensions: {dim} function_indices: {function}"
    )
    problem = suite[0]
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:  # the suite writes its optimum only to a file
        os.chdir(folder)
        try:
            problem._best_parameter("print")
            best = np.loadtxt(Path(folder) / "._bbob_problem_best_parameter.txt").reshape(-1)
        finally:
            os.chdir(before)
    optimum = float(problem(best))

    def f(
        x: Vector, _suite: Any = suite
    ) -> float:  # the problem is valid only while its suite exists
        return float(problem(x))

    return f, optimum


SWEEP = Sweep("field", run_trial, VERSION, kind="Race")


def instance_range(text: str) -> tuple[int, ...]:
    """Return the instances FIRST, …, LAST of a text such as 61-65."""
    first, _, last = text.partition("-")
    if not (first.isdigit() and (last or first).isdigit() and int(first) <= int(last or first)):
        raise InvalidInput(f"instances must be FIRST-LAST, such as 61-65, found {text!r}")
    return tuple(range(int(first), int(last or first) + 1))


def report(study: Study, rows: Mapping[Trial[int], Row]) -> Report:
    """Build the report of a study from the rows of its trials."""
    found = standings(study, rows)
    return Report(
        name="field",
        summary=summary(study, found),
        draw=lambda figure: draw(figure, study, found),
    )


@dataclass(frozen=True, eq=False)
class Standing:
    """The results of one peer in one dimension.

    Attributes:
        areas: (functions, instances).
        hit: the fraction of targets hit at the end, (functions, instances).
        when: points per dimension at which targets were hit, sorted over all trials; inf if never.
        seconds: the median time per point.
    """

    areas: NDArray[np.float64]
    hit: NDArray[np.float64]
    when: Vector
    seconds: float


def standings(study: Study, rows: Mapping[Trial[int], Row]) -> dict[tuple[str, int], Standing]:
    """Return the results of every peer in every dimension."""
    found = {}
    for dim in study.dims:
        for peer in study.peers:
            own = {
                (t.function, t.instance): row
                for t, row in rows.items()
                if (t.peer, t.dim) == (peer, dim)
            }
            hits = np.array(
                [[own[f, i]["hits"] for i in study.instances] for f in study.functions],
                dtype=np.float64,
            )
            hits = np.where(np.isnan(hits), np.inf, hits)
            found[peer, dim] = Standing(
                area(hits, dim, study.points_per_dim),
                np.isfinite(hits).mean(axis=-1),
                np.sort(hits.ravel()) / dim,
                float(np.median([row["seconds_per_point"] for row in own.values()])),
            )
    return found


def area(hits: NDArray[np.float64], dim: int, points_per_dim: int) -> NDArray[np.float64]:
    """Return the area under the runtime distribution; targets are the last axis of `hits`."""
    early = 1 - np.log(np.maximum(hits, dim) / dim) / np.log(points_per_dim)
    return np.asarray(np.clip(early, 0, 1).mean(axis=-1))


def summary(study: Study, found: Mapping[tuple[str, int], Standing]) -> dict[str, Any]:
    """Return all results as JSON values, areas in percent."""
    return {
        "instances": list(study.instances),
        "points_per_dim": study.points_per_dim,
        "sigma0": SIGMA0,
        "x0": "U[-4, 4]^d",
        "standings": [
            {
                "peer": peer,
                "dim": dim,
                "area": 100 * float(s.areas.mean()),
                "standard_error": 100
                * float(s.areas.mean(axis=0).std(ddof=1))
                / len(study.instances) ** 0.5
                if len(study.instances) > 1
                else None,
                "hit": 100 * float(s.hit.mean()),
                "groups": {
                    name: 100 * float(s.areas[[study.functions.index(f) for f in own]].mean())
                    for name, group in GROUPS.items()
                    if (own := [f for f in group if f in study.functions])
                },
                "functions": dict(
                    zip(
                        map(str, study.functions),
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


def draw(figure: Any, study: Study, found: Mapping[tuple[str, int], Standing]) -> None:
    """Draw the fraction of targets hit against points per dimension, one panel per dimension."""
    figure.set_size_inches(3.1 * len(study.dims) + 0.4, 3.4)
    panels = figure.subplots(1, len(study.dims), sharey=True, squeeze=False)[0]
    for axes, dim in zip(panels, study.dims, strict=True):
        for peer in study.peers:
            when = found[peer, dim].when
            share = np.arange(1, len(when) + 1) / len(when)
            hit = np.isfinite(when)
            axes.step(
                *(
                    np.append(when[hit], study.points_per_dim),
                    np.append(share[hit], share[hit][-1:] if hit.any() else 0.0),
                ),
                where="post",
                color=COLOURS.get(peer, "#8a8f98"),
                lw=2.2 if peer == OURS else 1.4,
                label=peer,
            )
        axes.set_xscale("log")
        axes.set_xlim(1, study.points_per_dim)
        axes.set_title(f"d = {dim}")
        axes.set_xlabel("points / d")
        axes.grid(alpha=0.2, lw=0.6)
    panels[0].set_ylabel("fraction of targets hit")
    handles, labels = panels[0].get_legend_handles_labels()
    columns = min(len(labels), 2 * len(study.dims))
    figure.legend(handles, labels, loc="outside upper center", ncols=columns, frameon=False)
