"""The study of looks: raters judge pictures, and methods may use what pictures look like.

A condition is a taste, the noise of a rater and a method with one setting; a trial is a condition
with a seed. There are five parts: "landscape" (many tastes, d = 62), "dream" (a diffusion model,
d = 4,096), "peers" (points in a box, compared with preferential Bayesian optimisation of other
libraries) and, only if named, "style" (a photo in painting styles, d = 100, 20 or 26) and "faces"
(a GAN, d = 512, and a model as the judge). The seed
determines the first slate, the rater's noise and the random part of a taste. μ and the prior of
qEUBO are tried over a grid; `findings` picks the best in hindsight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TypeAlias

import numpy as np

from zorank.errors import InvalidInput, check_names
from zorank.experiments import studies
from zorank.experiments.baselines import BestOfRandom, Neighbours
from zorank.experiments.judges.study import algorithm_3
from zorank.experiments.looks import faces
from zorank.experiments.looks.boxes import BOUNDS, FAMILIES, SPREAD, UniformStart
from zorank.experiments.looks.cases import (
    DREAM,
    EYE,
    FACES,
    KINDS,
    LANDSCAPE,
    PEERS,
    STYLE,
    looks_of,
    plan_of,
    taste_of,
)
from zorank.experiments.looks.preferential_peers import QEUBO, OptunaPreferential
from zorank.experiments.plotting import load_figure
from zorank.experiments.simulated_raters import SimulatedRater, run_session
from zorank.experiments.sweep import Row, Sweep
from zorank.optimizers import make
from zorank.protocols import AnyOptimizer, uses_looks
from zorank.renderers.style import DIMS

VERSION = "looks 1"
M = 6
PARTS = (LANDSCAPE, DREAM, PEERS)
"""The parts that need nothing but libraries."""

ALL_PARTS = (*PARTS, STYLE, FACES)
LOOKS, PROCESS, ALGORITHM_3 = "rank-looks", "rank-process", "algorithm 3"
RANDOM, NEIGHBOURS = "random", "neighbours"
BOTORCH, OPTUNA = "qEUBO", "optuna"
DREAM_TASTE, DREAM_DIM = "mixture", 4096


@dataclass(frozen=True)
class Condition:
    """A method and the case that it is measured in.

    Attributes:
        part: one of `ALL_PARTS`.
        taste: the name of the taste.
        dim: the number of coordinates of a candidate.
        noise: the noise of the rater.
        method: a name in `METHODS`, or in `BOX_METHODS` for "peers".
        setting: the value of the option that is tried over a grid (μ, or qEUBO's prior), if any.
        rounds: answers after the first slate.
    """

    part: str
    taste: str
    dim: int
    noise: float
    method: str
    setting: float | None = None
    rounds: int = 20


Trial: TypeAlias = studies.Trial[Condition]
Results: TypeAlias = Mapping[Condition, studies.Sessions]

ON_SHELL = {"m": M, "space": "gaussian", "pick": True}
IN_BOX = {"space": "euclidean", "bounds": BOUNDS, "sigma0": float(SPREAD)}

METHODS: dict[str, Callable[[float | None], AnyOptimizer]] = {
    LOOKS: lambda _: make(LOOKS, ON_SHELL),
    PROCESS: lambda _: make(PROCESS, ON_SHELL),
    ALGORITHM_3: lambda mu: algorithm_3(M, None, mu),
    NEIGHBOURS: lambda mu: Neighbours(m=M, mu=mu or 0.0),
    RANDOM: lambda _: BestOfRandom(m=M),
}
"""Methods for pictures, by name: a setting → an optimizer."""

BOX_METHODS: dict[str, Callable[[float | None], AnyOptimizer]] = {
    LOOKS: lambda _: UniformStart(LOOKS, IN_BOX, M),
    PROCESS: lambda _: UniformStart(PROCESS, IN_BOX, M),
    BOTORCH: lambda scaled: QEUBO(m=M, bounds=BOUNDS, scaled_prior=bool(scaled)),
    OPTUNA: lambda _: OptunaPreferential(m=M, bounds=BOUNDS),
    RANDOM: lambda _: BestOfRandom(m=M, bounds=BOUNDS),
}
"""Methods for points in a box, by name: a setting → an optimizer."""

ALL_METHODS = tuple(dict.fromkeys((*METHODS, *BOX_METHODS)))


@dataclass(frozen=True)
class Study:
    """The settings of a study; the defaults are those of the published claims.

    Attributes:
        quick: whether this is the small study, which only checks that everything works.
        first_seed: seeds are first_seed, first_seed + 1, …; report other seeds than you tune on.
        rounds: answers after the first slate.
        parts: some of `ALL_PARTS`.
        methods: the methods to compare, in the parts where they can be used.
        tastes, families, styles: the tastes in landscapes, in boxes, and in painting styles.
        noises: the noises of raters in landscapes.
        noise: the noise of raters in the other parts.
        dims: the dimensions of boxes.
        mus: the grid of μ.
        priors: the priors of qEUBO: 0, the default of PairwiseGP; 1, scaled by √d.
        landscape_seeds, dream_seeds, peers_seeds, style_seeds, faces_seeds: sessions per
            condition of a part.
        optuna_seeds: the maximum for Optuna, which is slow.
    """

    quick: bool = False
    first_seed: int = 3000
    rounds: int = 20
    parts: tuple[str, ...] = PARTS
    methods: tuple[str, ...] = ALL_METHODS
    tastes: tuple[str, ...] = tuple(KINDS)
    families: tuple[str, ...] = tuple(FAMILIES)
    styles: tuple[str, ...] = tuple(DIMS)
    noises: tuple[float, ...] = (0.1, 0.3)
    noise: float = 0.1
    dims: tuple[int, ...] = (20, 62)
    mus: tuple[float, ...] = (0.2, 0.35, 0.5)
    priors: tuple[float, ...] = (0.0, 1.0)
    landscape_seeds: int = 20
    dream_seeds: int = 10
    peers_seeds: int = 10
    style_seeds: int = 20
    faces_seeds: int = 10
    optuna_seeds: int = 3

    def __post_init__(self) -> None:
        check_names("part", self.parts, ALL_PARTS)
        check_names("method", self.methods, ALL_METHODS)
        check_names("taste", self.tastes, KINDS)
        check_names("family of tastes", self.families, FAMILIES)
        check_names("set of styles", self.styles, DIMS)
        if not self.conditions():
            raise InvalidInput(
                "nothing is left to measure: none of these methods or tastes exists in "
                f"{', '.join(self.parts) or 'no part'}"
            )

    @property
    def pictures(self) -> int:
        """The number of candidates that a rater sees."""
        return M * (self.rounds + 1)

    def with_seeds(self, seeds: int) -> Study:
        """Return the study with this number of seeds in every part; Optuna keeps its maximum."""
        few = min(seeds, self.optuna_seeds)
        return replace(
            self,
            landscape_seeds=seeds,
            dream_seeds=seeds,
            peers_seeds=seeds,
            style_seeds=seeds,
            faces_seeds=seeds,
            optuna_seeds=few,
        )

    def with_tastes(self, names: Sequence[str]) -> Study:
        """Return the study with these tastes; dream has its own."""
        check_names("taste", names, (*KINDS, *FAMILIES, *DIMS))
        return replace(
            self,
            tastes=tuple(name for name in dict.fromkeys(names) if name in KINDS),
            families=tuple(name for name in dict.fromkeys(names) if name in FAMILIES),
            styles=tuple(name for name in dict.fromkeys(names) if name in DIMS),
        )

    def grid(self, method: str) -> tuple[float | None, ...]:
        """Return the settings that a method is tried with."""
        grids = {ALGORITHM_3: self.mus, NEIGHBOURS: self.mus, BOTORCH: self.priors}
        return grids.get(method, (None,))

    def seeds(self, condition: Condition) -> int:
        """Return the number of seeds of a condition."""
        if condition.method == OPTUNA:
            return min(self.optuna_seeds, self.peers_seeds)
        return {
            LANDSCAPE: self.landscape_seeds,
            DREAM: self.dream_seeds,
            PEERS: self.peers_seeds,
            STYLE: self.style_seeds,
            FACES: self.faces_seeds,
        }[condition.part]

    def cases(self, part: str) -> list[Condition]:
        """Return the tastes, dimensions and noises of a part, as conditions without a method."""
        if part == LANDSCAPE:
            found = [(t, EYE.dim, n) for n in self.noises for t in self.tastes]
        elif part == DREAM:
            found = [(DREAM_TASTE, DREAM_DIM, self.noise)]
        elif part == STYLE:
            found = [(name, dim, self.noise) for name, dim in DIMS.items() if name in self.styles]
        elif part == FACES:
            found = [(faces.TASTE, faces.DIM, self.noise)]
        else:
            found = [(f, dim, self.noise) for dim in self.dims for f in self.families]
        return [Condition(part, *case, method="", rounds=self.rounds) for case in found]

    def conditions(self) -> list[Condition]:
        """Return all conditions of the parts."""
        return [c for part in ALL_PARTS if part in self.parts for c in self._conditions(part)]

    def trials(self) -> list[Trial]:
        """Return all trials, seed by seed, so that partial results are balanced."""
        revised = [(c, studies.revision_of(optimizer_of(c))) for c in self.conditions()]
        most = max(self.seeds(c) for c, _ in revised)
        return [
            studies.Trial(c, self.first_seed + n, revision)
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


def study_for(
    *,
    quick: bool = False,
    seeds: int | None = None,
    first_seed: int = Study.first_seed,
    rounds: int | None = None,
    parts: tuple[str, ...] = (),
    methods: tuple[str, ...] = (),
    tastes: tuple[str, ...] = (),
) -> Study:
    """Return the study of `zorank bench looks`, and check that its libraries are installed."""
    study = QUICK if quick else Study()
    study = replace(
        study,
        first_seed=first_seed,
        rounds=rounds or study.rounds,
        parts=parts or study.parts,
        methods=methods or study.methods,
    )
    study = study.with_tastes(tastes) if tastes else study
    study = study.with_seeds(seeds) if seeds else study
    load_figure()
    if FACES in study.parts:
        faces.check_models()
    for condition in {(c.part, c.method): c for c in study.conditions()}.values():
        optimizer = optimizer_of(condition)
        if condition.part == PEERS:
            optimizer.init(np.ones(2))
    return study


def run_trial(trial: Trial) -> Row:
    """Run one session; return its row."""
    c = trial.condition
    optimizer = optimizer_of(c)
    session = run_session(
        optimizer,
        taste_of(c.part, c.taste, c.dim, trial.seed),
        c.dim,
        SimulatedRater(c.noise),
        c.rounds + 1,
        trial.seed,
        looks=looks_of(c.part, c.taste, trial.seed) if uses_looks(optimizer) else None,
    )
    return {
        "gains": session.gains,
        "seconds": session.seconds,
        "typical_seconds": session.typical_seconds,
    }


SWEEP = Sweep("looks", run_trial, VERSION)


def record(trial: Trial, row: Row) -> Row:
    """Return a flat record of a trial, for a table."""
    results = {
        "gain": row["gains"][-1],
        "seconds": row["seconds"],
        "typical_seconds": row["typical_seconds"],
        "gains": studies.spaced(row["gains"]),
    }
    return studies.record(trial, asdict(trial.condition), results)


def optimizer_of(condition: Condition) -> AnyOptimizer:
    """Return the method of a condition."""
    plan = plan_of(condition.part, condition.taste)
    if condition.method == LOOKS and plan is not None:
        return make(LOOKS, {**ON_SHELL, "pool": plan.pool})
    methods = BOX_METHODS if condition.part == PEERS else METHODS
    return methods[condition.method](condition.setting)
