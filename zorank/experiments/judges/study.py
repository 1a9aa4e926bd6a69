"""The study of judges: 20 rounds of six pictures, for every method and kind of rater.

A condition is a taste, a rater and a method with one setting; a trial is a condition with a seed.
Every session starts with six random pictures and shows 126 in all. Options that depend on the
problem, such as μ, are tried over a grid; `findings` picks the best in hindsight. Algorithm 3 is
tried with two steps η, which are methods of their own here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TypeAlias

from zorank.errors import InvalidInput
from zorank.experiments import studies
from zorank.experiments.baselines import BestOfRandom, Neighbours, SeparableCMA, load_sepcma
from zorank.experiments.plotting import load_figure
from zorank.experiments.simulated_raters import SimulatedRater, make_taste, run_session
from zorank.experiments.sweep import Row, Sweep
from zorank.optimizers import make
from zorank.protocols import AnyOptimizer

VERSION = "judges 1"
M = 6
NOISE_AFTER = 10
"""The round after which a method's estimate of the noise is recorded."""

PROCESS, ALGORITHM_3, PAPER = "rank-process", "algorithm 3", "algorithm 3 as in the paper"
SHORTER = "algorithm 3, η = 1"
NEIGHBOURS, SEPCMA, RANDOM = "neighbours", "sepcma", "random"
STEPS = {ALGORITHM_3: 2.0, SHORTER: 1.0}
"""The step η of Algorithm 3, by method."""
PARTS = ("people", "judges", "mk")


@dataclass(frozen=True)
class Condition:
    """A method and the case that it is measured in.

    Attributes:
        utility: the name of the taste.
        dim: the dimension of a candidate.
        judge: how the rater answers.
        method: a name in `METHODS`.
        setting: the value of the option that is tried over a grid; None if there is none.
        m: candidates of a slate.
        rounds: answers after the first slate.
    """

    utility: str
    dim: int
    judge: SimulatedRater
    method: str
    setting: float | None = None
    m: int = M
    rounds: int = 20


Trial: TypeAlias = studies.Trial[Condition]
Results: TypeAlias = Mapping[Condition, studies.Sessions]


def algorithm_3(m: int, k: int | None, mu: float | None, step: float = 2.0) -> AnyOptimizer:
    """Return Algorithm 3 on the shell; its start is picked from m random candidates."""
    options = {"m": m, "k": k, "step": step, "mu": mu, "gamma": 0.5, "space": "gaussian"}
    return make("pick-start", {"m": m, "method": "zo-ranksgd-memory", "options": options})


METHODS: dict[str, Callable[[Condition], AnyOptimizer]] = {
    PROCESS: lambda c: make(
        "rank-process", {"m": c.m, "k": c.judge.k, "space": "gaussian", "pick": True}
    ),
    ALGORITHM_3: lambda c: algorithm_3(c.m, c.judge.k, c.setting),
    SHORTER: lambda c: algorithm_3(c.m, c.judge.k, c.setting, step=STEPS[SHORTER]),
    PAPER: lambda c: algorithm_3(
        c.m, c.judge.k, 0.1, step=1.0
    ),  # its appendix on Stable Diffusion
    NEIGHBOURS: lambda c: Neighbours(m=c.m, mu=c.setting or 0.0),
    SEPCMA: lambda c: SeparableCMA(m=c.m, sigma=c.setting or 0.0),
    RANDOM: lambda c: BestOfRandom(m=c.m),
}


@dataclass(frozen=True)
class Study:
    """The settings of a study; the defaults are those of the published claims.

    Attributes:
        quick: whether this is the small study, which only checks that everything works.
        seeds: sessions for each condition.
        first_seed: seeds are first_seed, first_seed + 1, …; report other seeds than you tune on.
        rounds: answers after the first slate, for slates of six.
        parts: "people" (methods), "judges" (kinds of raters), "mk" (how many to show and rank).
        utilities, dims, noises: the cases of "people".
        claimed: the dimensions that the claims are about.
        mus, sigmas: the grids of μ and σ.
        judges: the raters of "judges", by name, at dimension `judged_dim`.
        shown, ranked: m and k of "mk"; every m is also ranked completely.
        mk_noises: the noises of the raters of "mk".
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
    mus: tuple[float, ...] = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
    sigmas: tuple[float, ...] = (0.03, 0.1, 0.3, 0.5, 1.0, 2.0, 3.0)
    judges: tuple[tuple[str, SimulatedRater], ...] = (
        ("ranks all", SimulatedRater(0.1)),
        ("names 3", SimulatedRater(0.1, k=3)),
        ("names 2", SimulatedRater(0.1, k=2)),
        ("names 1", SimulatedRater(0.1, k=1)),
        ("lapses", SimulatedRater(0.1, lapse=0.1)),
        ("ties", SimulatedRater(0.1, jnd=0.2)),
        ("tires", SimulatedRater(0.1, fatigue=0.1)),
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
            raise InvalidInput(f"parts must be some of {', '.join(PARTS)}, found {unknown}")

    @property
    def pictures(self) -> int:
        """The number of pictures that a rater sees."""
        return M * (self.rounds + 1)

    def grid(self, method: str) -> tuple[float | None, ...]:
        """Return the settings that a method is tried with."""
        radii = dict.fromkeys((*STEPS, NEIGHBOURS), self.mus)
        grids: dict[str, tuple[float, ...]] = {**radii, SEPCMA: self.sigmas}
        return grids.get(method, (None,))

    def condition(
        self,
        utility: str,
        dim: int,
        judge: SimulatedRater,
        method: str,
        setting: float | None = None,
    ) -> Condition:
        """Return a condition with slates of six."""
        return Condition(utility, dim, judge, method, setting, rounds=self.rounds)

    def mk(self) -> list[tuple[int, int | None]]:
        """Return every (m, k); k = m − 1 ranks all and is written k = None."""
        return [(m, k) for m in self.shown for k in (*self.ranked, None) if k is None or k < m - 1]

    def mk_condition(self, utility: str, noise: float, m: int, k: int | None) -> Condition:
        """Return the condition with slates of m, k ranked, and the same number of pictures."""
        judge = SimulatedRater(noise, k=k)
        rounds = self.pictures // m - 1
        return Condition(utility, self.judged_dim, judge, PROCESS, m=m, rounds=rounds)

    def conditions(self) -> list[Condition]:
        """Return all conditions of the parts, each once, ordered by taste."""
        parts = {"people": self._people, "judges": self._judges, "mk": self._mk}
        wanted = dict.fromkeys(c for part in self.parts for c in parts[part]())
        return sorted(wanted, key=lambda c: (c.dim, c.utility))

    def trials(self) -> list[Trial]:
        """Return all trials, seed by seed, so that the remaining time can be estimated."""
        revised = [(c, studies.revision_of(METHODS[c.method](c))) for c in self.conditions()]
        seeds = range(self.first_seed, self.first_seed + self.seeds)
        return [studies.Trial(c, seed, revision) for seed in seeds for c, revision in revised]

    def _people(self) -> Iterator[Condition]:
        for utility in self.utilities:
            for dim in self.dims:
                for noise in self.noises:
                    for method in METHODS:
                        for setting in self.grid(method):
                            yield self.condition(
                                utility, dim, SimulatedRater(noise), method, setting
                            )

    def _judges(self) -> Iterator[Condition]:
        for utility in self.utilities:
            for _, judge in self.judges:
                for method in (PROCESS, *STEPS):
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
    mus=(0.2, 0.5),
    sigmas=(0.3, 1.0),
    shown=(2, 6, 10),
    ranked=(1, 3),
    mk_noises=(0.1,),
)


def study_for(
    *,
    quick: bool = False,
    seeds: int | None = None,
    first_seed: int = Study.first_seed,
    rounds: int = Study.rounds,
    parts: tuple[str, ...] = (),
    update_measured: bool = False,
) -> Study:
    """Return the study of `zorank bench judges`, and check that it can be run.

    `update_measured` says whether the results of "mk" will be written into the package.
    """
    study = replace(QUICK if quick else Study(), first_seed=first_seed, rounds=rounds)
    study = replace(study, seeds=seeds or study.seeds, parts=parts or study.parts)
    if update_measured and "mk" not in study.parts:
        raise InvalidInput("--update-measured writes the results of the part mk; add --only mk")
    if update_measured and quick:
        raise InvalidInput("--update-measured needs the full part mk; leave out --quick")
    if update_measured and rounds < Study.rounds:
        raise InvalidInput(f"--update-measured needs {Study.rounds} rounds, found {rounds}")
    load_figure()
    if "people" in study.parts:
        load_sepcma()
    return study


def run_trial(trial: Trial) -> Row:
    """Run one session; return its row."""
    c = trial.condition
    taste = make_taste(c.utility, c.dim, trial.seed)
    session = run_session(METHODS[c.method](c), taste, c.dim, c.judge, c.rounds + 1, trial.seed)
    noise = session.noises[NOISE_AFTER] if c.rounds >= NOISE_AFTER else None
    return {"gains": list(session.gains), "noise": noise, "seconds": session.seconds}


SWEEP = Sweep("judges", run_trial, VERSION)


def record(trial: Trial, row: Row) -> Row:
    """Return a flat record of a trial, for a table."""
    c = asdict(trial.condition)
    judge = c.pop("judge")
    judge = {"noise": judge.pop("noise"), **judge}
    results = {
        "gain": row["gains"][-1],
        "estimated_noise": row["noise"],
        "seconds": row["seconds"],
        "gains": studies.spaced(row["gains"]),
    }
    return studies.record(trial, {**c, **judge}, results)
