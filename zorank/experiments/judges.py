"""The regime of people: 20 rounds of six pictures, for every method and kind of judge.

A study is a set of conditions, a condition is a taste, a judge and a method with one setting, and
a trial is a condition with a seed, the cell of `zorank.experiments.sweep`. Everyone begins with
six random pictures and sees 126 in all. What a method cannot know beforehand, such as μ, is tried
over a grid; `judges_findings` picks the best in hindsight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank.errors import InvalidInput
from zorank.experiments import sweep
from zorank.experiments.baselines import BestOfRandom, Neighbours, SeparableCMA
from zorank.experiments.simulated_raters import Judge, hold_session, taste
from zorank.optimizers import make
from zorank.protocols import AnyOptimizer

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console

VERSION = "judges 1"
M = 6
NOISE_AFTER = 10
"""The rounds after which a method's estimate of the judge's noise is recorded."""

PROCESS, ALGORITHM_3, PAPER = "rank-process", "algorithm 3", "algorithm 3 as in the paper"
NEIGHBOURS, SEPCMA, RANDOM = "neighbours", "sepcma", "random"
PARTS = ("people", "judges", "mk")


@dataclass(frozen=True)
class Condition:
    """A method and whom it meets.

    Attributes:
        utility: the name of the taste.
        dim: the dimension of a candidate.
        judge: how the person answers.
        method: a name in `METHODS`.
        setting: the one setting of the method that is tried over a grid; None if it has none.
        m: candidates of a slate.
        rounds: answers after the first slate.
    """

    utility: str
    dim: int
    judge: Judge
    method: str
    setting: float | None = None
    m: int = M
    rounds: int = 20


@dataclass(frozen=True)
class Trial:
    """One session: a condition, a seed, and the revision of the method that it speaks of."""

    condition: Condition
    seed: int
    revision: int


def algorithm_3(m: int, k: int | None, mu: float | None, step: float = 2.0) -> AnyOptimizer:
    """Algorithm 3 of the paper on the shell, begun by picking one of m random candidates."""
    options = {"m": m, "k": k, "step": step, "mu": mu, "gamma": 0.5, "space": "gaussian"}
    return make("pick-start", {"m": m, "method": "zo-ranksgd-memory", "options": options})


METHODS: dict[str, Callable[[Condition], AnyOptimizer]] = {
    PROCESS: lambda c: make(
        "rank-process", {"m": c.m, "k": c.judge.k, "space": "gaussian", "pick": True}
    ),
    ALGORITHM_3: lambda c: algorithm_3(c.m, c.judge.k, c.setting),
    PAPER: lambda c: algorithm_3(
        c.m, c.judge.k, 0.1, step=1.0
    ),  # its appendix on Stable Diffusion
    NEIGHBOURS: lambda c: Neighbours(m=c.m, mu=c.setting or 0.0),
    SEPCMA: lambda c: SeparableCMA(m=c.m, sigma=c.setting or 0.0),
    RANDOM: lambda c: BestOfRandom(m=c.m),
}


@dataclass(frozen=True)
class Study:
    """What is measured; the defaults are the benchmark that the claims speak of.

    Attributes:
        quick: whether this is the small study that only shows that all is well.
        seeds: sessions for each condition.
        first_seed: theirs are first_seed, first_seed + 1, …; tune on others than you report.
        rounds: answers after the first slate, for slates of six.
        parts: "people" (methods), "judges" (habits of judges), "mk" (how many to show and rank).
        utilities, dims, noises: the cases of "people".
        claimed: those dimensions that the claims are about.
        mus, sigmas: the grids of μ and σ.
        judges: the habits, by name, at dimension `judged_dim`.
        shown, ranked: m and k of "mk", where every m is also ranked whole.
        mk_noises: the judges' noises of "mk".
    """

    quick: bool = False
    seeds: int = 24
    first_seed: int = 1000
    rounds: int = 20
    parts: tuple[str, ...] = PARTS
    utilities: tuple[str, ...] = ("hidden", "sine")
    dims: tuple[int, ...] = (20, 576, 16384)
    noises: tuple[float, ...] = (0.0, 0.1, 0.3)
    claimed: tuple[int, ...] = (576, 16384)
    mus: tuple[float, ...] = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0)
    sigmas: tuple[float, ...] = (0.1, 0.3, 0.5, 1.0)
    judges: tuple[tuple[str, Judge], ...] = (
        ("ranks all", Judge(0.1)),
        ("names 3", Judge(0.1, k=3)),
        ("names 2", Judge(0.1, k=2)),
        ("names 1", Judge(0.1, k=1)),
        ("lapses", Judge(0.1, lapse=0.1)),
        ("ties", Judge(0.1, jnd=0.2)),
        ("tires", Judge(0.1, fatigue=0.1)),
    )
    judged_dim: int = 576
    shown: tuple[int, ...] = (2, 3, 4, 6, 8, 10)
    ranked: tuple[int, ...] = (1, 2, 3)
    mk_noises: tuple[float, ...] = (0.1, 0.3)

    def __post_init__(self) -> None:
        if self.seeds < 1 or self.rounds < 1:
            raise InvalidInput(
                f"a study needs at least one seed and one round, "
                f"found {self.seeds} and {self.rounds}"
            )
        unknown = [part for part in self.parts if part not in PARTS]
        if unknown or not self.parts:
            raise InvalidInput(f"a study's parts are some of {', '.join(PARTS)}; found {unknown}")

    @property
    def pictures(self) -> int:
        """How many pictures a person looks at."""
        return M * (self.rounds + 1)

    def grid(self, method: str) -> tuple[float | None, ...]:
        """The settings that a method is tried with."""
        grids = {ALGORITHM_3: self.mus, NEIGHBOURS: self.mus, SEPCMA: self.sigmas}
        return grids.get(method, (None,))

    def condition(
        self, utility: str, dim: int, judge: Judge, method: str, setting: float | None = None
    ) -> Condition:
        """The condition of slates of six."""
        return Condition(utility, dim, judge, method, setting, rounds=self.rounds)

    def mk(self) -> list[tuple[int, int | None]]:
        """Every (m, k): to name all but one is to rank all, which is written k = None."""
        return [(m, k) for m in self.shown for k in (*self.ranked, None) if k is None or k < m - 1]

    def mk_condition(self, utility: str, noise: float, m: int, k: int | None) -> Condition:
        """The condition that shows m and has k ranked, within the same number of pictures."""
        judge = Judge(noise, k=k)
        rounds = self.pictures // m - 1
        return Condition(utility, self.judged_dim, judge, PROCESS, m=m, rounds=rounds)

    def conditions(self) -> list[Condition]:
        """All conditions of the parts, each once; those that share a taste follow each other."""
        parts = {"people": self._people, "judges": self._judges, "mk": self._mk}
        wanted = dict.fromkeys(c for part in self.parts for c in parts[part]())
        return sorted(wanted, key=lambda c: (c.dim, c.utility))

    def trials(self) -> list[Trial]:
        """Seed by seed: each asks for the same mix of work, so the time left can be told."""
        revised = [(c, _revision(c)) for c in self.conditions()]
        seeds = range(self.first_seed, self.first_seed + self.seeds)
        return [Trial(c, seed, revision) for seed in seeds for c, revision in revised]

    def _people(self) -> Iterator[Condition]:
        for utility in self.utilities:
            for dim in self.dims:
                for noise in self.noises:
                    for method in METHODS:
                        for setting in self.grid(method):
                            yield self.condition(utility, dim, Judge(noise), method, setting)

    def _judges(self) -> Iterator[Condition]:
        for utility in self.utilities:
            for _, judge in self.judges:
                for method in (PROCESS, ALGORITHM_3):
                    for setting in self.grid(method):
                        yield self.condition(utility, self.judged_dim, judge, method, setting)

    def _mk(self) -> Iterator[Condition]:
        for utility in self.utilities:
            for noise in self.mk_noises:
                for m, k in self.mk():
                    yield self.mk_condition(utility, noise, m, k)


QUICK = Study(
    quick=True,
    seeds=3,
    dims=(64, 576),
    claimed=(64, 576),
    noises=(0.1, 0.3),
    mus=(0.1, 0.2, 0.5),
    sigmas=(0.3, 1.0),
    shown=(2, 6, 10),
    ranked=(1, 3),
    mk_noises=(0.1,),
)


@dataclass(frozen=True, eq=False)
class Sessions:
    """The trials of one condition.

    Attributes:
        gains: the best's utility after each answer, (seeds, slates), in sd above a random picture.
        noise: the judge's noise as estimated after ten rounds, (seeds,); NaN where it is not.
        seconds: the longest that the method computed between two slates, (seeds,).
    """

    gains: NDArray[np.float64]
    noise: NDArray[np.float64]
    seconds: NDArray[np.float64]


Results = Mapping[Condition, Sessions]


def try_once(trial: Trial) -> sweep.Row:
    """The row of one trial."""
    c = trial.condition
    liking = taste(c.utility, c.dim, trial.seed)
    held = hold_session(METHODS[c.method](c), liking, c.dim, c.judge, c.rounds + 1, trial.seed)
    noise = held.noises[NOISE_AFTER] if c.rounds >= NOISE_AFTER else None
    return {"gains": list(held.gains), "noise": noise, "seconds": held.seconds}


def run(
    study: Study, folder: Path, *, workers: int | None = None, console: Console | None = None
) -> list[sweep.Row]:
    """The row of every trial of a study, in order; finished trials of `folder` are kept."""
    file = folder / "judges.cells.jsonl"
    trials = study.trials()
    return sweep.run(try_once, trials, file, version=VERSION, workers=workers, console=console)


def collect(trials: Sequence[Trial], rows: Sequence[sweep.Row]) -> dict[Condition, Sessions]:
    """Rows by condition, their seeds in order, so that conditions can be compared seed by seed."""
    grouped = sweep.grouped([trial.condition for trial in trials], rows)
    return {c: Sessions(*sweep.columns(group, _COLUMNS)) for c, group in grouped.items()}


_COLUMNS = ("gains", "noise", "seconds")


def records(trials: Sequence[Trial], rows: Sequence[sweep.Row]) -> list[dict[str, Any]]:
    """Flat records of all trials, for a table: the configuration, then the results."""
    flat = []
    for trial, row in zip(trials, rows, strict=True):
        c = asdict(trial.condition)
        judge = c.pop("judge")
        judge = {"noise": judge.pop("noise"), **judge}
        results = {
            "gain": row["gains"][-1],
            "estimated_noise": row["noise"],
            "seconds": row["seconds"],
            "gains": " ".join(f"{gain:.6g}" for gain in row["gains"]),
        }
        flat.append({**c, **judge, "seed": trial.seed, "revision": trial.revision, **results})
    return flat


def _revision(condition: Condition) -> int:
    return revision_of(METHODS[condition.method](condition))


def revision_of(optimizer: AnyOptimizer) -> int:
    """The revision of a method; of the inner one if another begins for it."""
    inner = getattr(optimizer, "method", None)
    return make(inner).revision if inner else optimizer.revision
