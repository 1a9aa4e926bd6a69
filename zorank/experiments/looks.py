"""The benchmark of looks: people who judge pictures, and methods that may look at them too.

A condition is a taste, a judge's noise and a method with one setting; a trial is a condition with
a seed, the cell of `zorank.experiments.sweep`. Three parts: "landscape" (many tastes, 62 numbers),
"dream" (a diffusion model, 4,096 numbers) and "peers" (points in a box, where the preferential
Bayesian optimisation of other libraries takes part). A seed fixes the first slate, the judge's eye
and what is personal about a taste. μ, and the prior of qEUBO, are tried over a grid;
`looks_findings` picks the best in hindsight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank.errors import InvalidInput, unknown_name
from zorank.experiments import sweep
from zorank.experiments.baselines import BestOfRandom, Neighbours
from zorank.experiments.boxes import BOUNDS, FAMILIES, SPREAD, UniformStart
from zorank.experiments.judges import algorithm_3, revision_of
from zorank.experiments.looks_cases import (
    DREAM,
    EYE,
    KINDS,
    LANDSCAPE,
    PEERS,
    PLAN_OF,
    looks_of,
    taste_of,
)
from zorank.experiments.preferential_peers import QEUBO, OptunaPreferential
from zorank.experiments.simulated_raters import Judge, hold_session
from zorank.optimizers import make
from zorank.protocols import AnyOptimizer, uses_looks

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console

VERSION = "looks 1"
M = 6
PARTS = (LANDSCAPE, DREAM, PEERS)
LOOKS, PROCESS, ALGORITHM_3 = "rank-looks", "rank-process", "algorithm 3"
RANDOM, NEIGHBOURS = "random", "neighbours"
BOTORCH, OPTUNA = "qEUBO", "optuna"
DREAM_TASTE, DREAM_DIM = "mixture", 4096


@dataclass(frozen=True)
class Condition:
    """A method and whom it meets.

    Attributes:
        part: where candidates live, one of `PARTS`.
        taste: the name of the taste.
        dim: the number of coordinates of a candidate.
        noise: the standard deviation of the judge's looks.
        method: a name in `METHODS`, or in `BOX_METHODS` for "peers".
        setting: the one that the method is tried over a grid of, if any: μ, or qEUBO's prior.
        rounds: answers after the first slate.
    """

    part: str
    taste: str
    dim: int
    noise: float
    method: str
    setting: float | None = None
    rounds: int = 20


@dataclass(frozen=True)
class Trial:
    """One session: a condition, a seed, and the revision of the method that it speaks of."""

    condition: Condition
    seed: int
    revision: int


ON_SHELL = {"m": M, "space": "gaussian", "pick": True}
IN_BOX = {"space": "euclidean", "bounds": BOUNDS, "sigma0": float(SPREAD)}

METHODS: dict[str, Callable[[float | None], AnyOptimizer]] = {
    LOOKS: lambda _: make(LOOKS, ON_SHELL),
    PROCESS: lambda _: make(PROCESS, ON_SHELL),
    ALGORITHM_3: lambda mu: algorithm_3(M, None, mu),
    NEIGHBOURS: lambda mu: Neighbours(m=M, mu=mu or 0.0),
    RANDOM: lambda _: BestOfRandom(m=M),
}
"""How the next pictures are chosen, by name: a setting → an optimizer."""

BOX_METHODS: dict[str, Callable[[float | None], AnyOptimizer]] = {
    LOOKS: lambda _: UniformStart(LOOKS, IN_BOX, M),
    PROCESS: lambda _: UniformStart(PROCESS, IN_BOX, M),
    BOTORCH: lambda scaled: QEUBO(m=M, bounds=BOUNDS, scaled_prior=bool(scaled)),
    OPTUNA: lambda _: OptunaPreferential(m=M, bounds=BOUNDS),
    RANDOM: lambda _: BestOfRandom(m=M, bounds=BOUNDS),
}
"""How the next points of a box are chosen, by name."""

ALL_METHODS = tuple(dict.fromkeys((*METHODS, *BOX_METHODS)))


@dataclass(frozen=True)
class Study:
    """What is measured; the defaults are the benchmark that the claims speak of.

    Attributes:
        quick: whether this is the small study that only shows that all is well.
        first_seed: seeds are first_seed, first_seed + 1, …; tune on others than you report.
        rounds: answers after the first slate.
        parts: some of `PARTS`.
        methods: those that take part where they can.
        tastes, families: the tastes in landscapes and in boxes.
        noises: the judges' noises in landscapes; elsewhere it is `noise`.
        dims: the dimensions of boxes.
        mus: the grid of μ.
        priors: the priors that qEUBO is tried with: 0, PairwiseGP's own; 1, scaled by √d.
        landscape_seeds, dream_seeds, peers_seeds: sessions for each condition of a part.
        optuna_seeds: at most so many for Optuna, which is slow.
    """

    quick: bool = False
    first_seed: int = 3000
    rounds: int = 20
    parts: tuple[str, ...] = PARTS
    methods: tuple[str, ...] = ALL_METHODS
    tastes: tuple[str, ...] = tuple(KINDS)
    families: tuple[str, ...] = tuple(FAMILIES)
    noises: tuple[float, ...] = (0.1, 0.3)
    noise: float = 0.1
    dims: tuple[int, ...] = (20, 62)
    mus: tuple[float, ...] = (0.2, 0.35, 0.5)
    priors: tuple[float, ...] = (0.0, 1.0)
    landscape_seeds: int = 20
    dream_seeds: int = 10
    peers_seeds: int = 10
    optuna_seeds: int = 3

    def __post_init__(self) -> None:
        for kind, found, known in (
            ("part", self.parts, PARTS),
            ("method", self.methods, ALL_METHODS),
            ("taste", self.tastes, KINDS),
            ("family of tastes", self.families, FAMILIES),
        ):
            for name in found:
                if name not in known:
                    raise unknown_name(kind, name, known)
        if not self.conditions():
            raise InvalidInput(
                "nothing is left to measure: these methods or tastes do not occur in "
                f"{', '.join(self.parts) or 'no part'}"
            )

    @property
    def pictures(self) -> int:
        """How many candidates a person looks at."""
        return M * (self.rounds + 1)

    def with_seeds(self, seeds: int) -> Study:
        """The same study with so many seeds in every part, Optuna's at most as many as before."""
        few = min(seeds, self.optuna_seeds)
        return replace(
            self,
            landscape_seeds=seeds,
            dream_seeds=seeds,
            peers_seeds=seeds,
            optuna_seeds=few,
        )

    def with_tastes(self, names: Sequence[str]) -> Study:
        """The same study with these tastes, in landscapes and boxes; dream has one of its own."""
        for name in names:
            if name not in KINDS and name not in FAMILIES:
                raise unknown_name("taste", name, (*KINDS, *FAMILIES))
        return replace(
            self,
            tastes=tuple(name for name in dict.fromkeys(names) if name in KINDS),
            families=tuple(name for name in dict.fromkeys(names) if name in FAMILIES),
        )

    def grid(self, method: str) -> tuple[float | None, ...]:
        """The settings that a method is tried with."""
        grids = {ALGORITHM_3: self.mus, NEIGHBOURS: self.mus, BOTORCH: self.priors}
        return grids.get(method, (None,))

    def seeds(self, condition: Condition) -> int:
        """How many seeds a condition has."""
        if condition.method == OPTUNA:
            return min(self.optuna_seeds, self.peers_seeds)
        return {
            LANDSCAPE: self.landscape_seeds,
            DREAM: self.dream_seeds,
            PEERS: self.peers_seeds,
        }[condition.part]

    def cases(self, part: str) -> list[Condition]:
        """The tastes, dimensions and noises of a part, as conditions without a method."""
        if part == LANDSCAPE:
            found = [(t, EYE.dim, n) for n in self.noises for t in self.tastes]
        elif part == DREAM:
            found = [(DREAM_TASTE, DREAM_DIM, self.noise)]
        else:
            found = [(f, dim, self.noise) for dim in self.dims for f in self.families]
        return [Condition(part, *case, method="", rounds=self.rounds) for case in found]

    def conditions(self) -> list[Condition]:
        """All conditions of the parts."""
        return [c for part in PARTS if part in self.parts for c in self._conditions(part)]

    def trials(self) -> list[Trial]:
        """Seed by seed, so that what is finished early is balanced."""
        revised = [(c, _revision(c)) for c in self.conditions()]
        most = max(self.seeds(c) for c, _ in revised)
        return [
            Trial(c, self.first_seed + n, revision)
            for n in range(most)
            for c, revision in revised
            if n < self.seeds(c)
        ]

    def _conditions(self, part: str) -> Iterator[Condition]:
        offered = BOX_METHODS if part == PEERS else METHODS
        for case in self.cases(part):
            for method in (m for m in offered if m in self.methods):
                for setting in self.grid(method):
                    yield replace(case, method=method, setting=setting)


QUICK = Study(
    quick=True,
    rounds=5,
    parts=(LANDSCAPE, PEERS),
    methods=(LOOKS, PROCESS, ALGORITHM_3, RANDOM),
    tastes=("warm", "in mind", "dials"),
    families=("ridges",),
    noises=(0.1,),
    dims=(20,),
    mus=(0.35,),
    priors=(1.0,),
    landscape_seeds=2,
    dream_seeds=1,
    peers_seeds=2,
    optuna_seeds=1,
)


def check(study: Study) -> None:
    """Raise if a library or a method that the study needs is not there."""
    for condition in {(c.part, c.method): c for c in study.conditions()}.values():
        optimizer = _optimizer(condition)
        if condition.part == PEERS:
            optimizer.init(np.ones(2))


@dataclass(frozen=True, eq=False)
class Sessions:
    """The trials of one condition.

    Attributes:
        gains: the best's utility after each answer, (seeds, slates), in sd above a random one.
        seconds: the longest that the method computed for a round, (seeds,).
        typical_seconds: the median of its rounds, (seeds,).
    """

    gains: NDArray[np.float64]
    seconds: NDArray[np.float64]
    typical_seconds: NDArray[np.float64]


_COLUMNS = ("gains", "seconds", "typical_seconds")
Results = Mapping[Condition, Sessions]


def try_once(trial: Trial) -> sweep.Row:
    """The row of one trial."""
    c = trial.condition
    optimizer = _optimizer(c)
    looking = uses_looks(optimizer)
    held = hold_session(
        optimizer,
        taste_of(c.part, c.taste, c.dim, trial.seed),
        c.dim,
        Judge(c.noise),
        c.rounds + 1,
        trial.seed,
        looks=looks_of(c.part, trial.seed) if looking else None,
    )
    return {name: getattr(held, name) for name in _COLUMNS}


def run(
    study: Study, folder: Path, *, workers: int | None = None, console: Console | None = None
) -> list[sweep.Row]:
    """The row of every trial of a study, in order; finished trials of `folder` are kept."""
    file = folder / "looks.cells.jsonl"
    trials = study.trials()
    return sweep.run(try_once, trials, file, version=VERSION, workers=workers, console=console)


def collect(trials: Sequence[Trial], rows: Sequence[sweep.Row]) -> dict[Condition, Sessions]:
    """Rows by condition, their seeds in order, so that conditions can be compared seed by seed."""
    grouped = sweep.grouped([trial.condition for trial in trials], rows)
    return {c: Sessions(*sweep.columns(group, _COLUMNS)) for c, group in grouped.items()}


def records(trials: Sequence[Trial], rows: Sequence[sweep.Row]) -> list[dict[str, Any]]:
    """Flat records of all trials, for a table: the configuration, then the results."""
    return [
        {
            **asdict(trial.condition),
            "seed": trial.seed,
            "revision": trial.revision,
            "gain": row["gains"][-1],
            "seconds": row["seconds"],
            "typical_seconds": row["typical_seconds"],
            "gains": " ".join(f"{gain:.6g}" for gain in row["gains"]),
        }
        for trial, row in zip(trials, rows, strict=True)
    ]


def _optimizer(condition: Condition) -> AnyOptimizer:
    if condition.method == LOOKS and condition.part in PLAN_OF:
        return make(LOOKS, {**ON_SHELL, "pool": PLAN_OF[condition.part].pool})
    methods = BOX_METHODS if condition.part == PEERS else METHODS
    return methods[condition.method](condition.setting)


def _revision(condition: Condition) -> int:
    return revision_of(_optimizer(condition))
