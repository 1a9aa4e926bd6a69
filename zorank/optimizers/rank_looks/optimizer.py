"""rank-looks: rank-process that also learns from what candidates look like.

Taste concerns appearance, which the coordinates of a picture describe badly. Here the utility is a
mixture of Gaussian processes (`mixture.py`): candidates are close if their coordinates are, or if
they look alike, and the evidence of the answers weighs the two. A slate is chosen from a pool
(`pool.py`): random candidates from the whole space, neighbours and crossovers of those just shown,
ascents, and rank-process's own proposals. The choice maximises the expected utility of the best
option (`acquisition.py`).

Without looks it asks the same as rank-process, except in a box or in R^d, where its pool also
reaches far from the best candidate (Astudillo et al., 2023, find early exploration useful there).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from zorank._recipes import DerivedPoints, DerivedVector, LoggedVector, StoredVector, round_large
from zorank.errors import InvalidInput
from zorank.optimizers.blas import one_thread
from zorank.optimizers.rank_looks import acquisition, pool
from zorank.optimizers.rank_looks.mixture import Component, Inputs, Mixture, fit_mixture
from zorank.optimizers.rank_process import ProcessState, RankProcess
from zorank.optimizers.rank_process.settings import ProcessSettings
from zorank.optimizers.settings import check_count, space_of
from zorank.protocols import Looks
from zorank.slates import Slate
from zorank.types import Answer, Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.float64]

SAMPLES = 96
"""Joint samples of the utility that a slate is chosen by."""

ASCENTS = 6
"""Ascents per slate: one of the mean, the others of samples; midpoint and end of each."""

FAR_DRAWS, NEAR_DRAWS = 100, 250
"""Pool without looks: draws from the whole space, and around centres."""

EXTRA_CENTRES = 2
"""How many of the best candidates are centres of the next pool, beside those just shown."""


@dataclass(frozen=True, eq=False)
class LooksState:
    """The state of rank-process, the looks of candidates, and the mixture.

    Attributes:
        process: the state of rank-process: candidates, comparisons, the model by coordinates.
        looks: of the candidates that have one, by digest.
        mixture: the model over coordinates and looks; None before the first comparison.
        order: indices of the candidates by posterior mean, best first.
        centres: the candidates around which the next pool is drawn.
        passed: digests of the starts that were answered by "no difference", in order of showing.
    """

    process: ProcessState
    looks: Mapping[bytes, Vector] = field(default_factory=dict)
    mixture: Mixture | None = None
    order: tuple[int, ...] = ()
    centres: tuple[Vector, ...] = ()
    passed: tuple[bytes, ...] = ()

    @property
    def unlooked(self) -> tuple[Vector, ...]:
        """The candidates without looks, in the order in which they were shown."""
        return tuple(x for x in self.process.candidates if digest(x) not in self.looks)


@dataclass(frozen=True, kw_only=True)
class RankLooks(ProcessSettings):
    """Preferential Bayesian optimization over the looks and the coordinates of candidates.

    Attributes:
        pool: number of candidates whose looks are computed before a slate is chosen, beside a few
            after the answer.
    """

    name: ClassVar[str] = "rank-looks"
    learns_raters: ClassVar[bool] = True
    uses_looks: ClassVar[bool] = True
    revision: ClassVar[int] = 2

    pool: int = 36

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self, "pool", 0, 4096)

    def init(self, x0: Vector) -> LooksState:
        """Return the state before the first answer."""
        return LooksState(self._process().init(x0))

    def unlooked(self, state: LooksState) -> tuple[Vector, ...]:
        """Return the candidates without looks, in the order in which they were shown."""
        return state.unlooked

    def prospects(self, state: LooksState, slate: Slate, rng: np.random.Generator) -> Rows:
        """Return the neighbours that the next pool begins with, whatever the answer."""
        return self._neighbours(_centres(state, slate), rng, self.pool)

    def ask(
        self, state: LooksState, rng: np.random.Generator, looks: Looks | None = None
    ) -> Slate:
        """Show the best candidate and the most informative candidates of the pool."""
        with one_thread():
            mixture = state.mixture
            if mixture is None or (mixture.known.looks is None and self.space == "gaussian"):
                return self._process().ask(state.process, rng)
            if mixture.known.looks is None:
                looks = None
            elif looks is None:
                return self._process().ask(state.process, rng)
            return self._choose(state, mixture, rng, looks)

    def tell(self, state: LooksState, slate: Slate, answer: Answer) -> LooksState:
        """Add the answer and the looks on the slate, and fit the mixture."""
        process = self._process().tell(state.process, slate, answer)
        if process is state.process:  # no difference: the next slate shows other starts
            return replace(state, passed=(*state.passed, *map(digest, slate)))
        added = _looks_on(state, slate)
        known = {digest(x): x for x in process.candidates}
        looks = {key: z for key, z in {**state.looks, **added}.items() if key in known}
        centres = _centres(state, slate)
        state = replace(state, process=process, looks=looks, centres=centres)
        if process.posterior is None:
            return state
        by_coordinates = Component(1.0, process.hyperparameters, process.posterior)
        with one_thread():
            return self._fit(state, by_coordinates, [looks.get(key) for key in known])

    def best(self, state: LooksState) -> Vector:
        """Return the candidate with the highest posterior mean."""
        known = state.process.candidates
        return known[state.order[0]] if state.order else self._process().best(state.process)

    def report(self, state: LooksState) -> dict[str, float]:
        """Return the report of rank-process and what was learned about looks.

        looks: the probability that the utility depends on looks; sure: the probability that the
        best candidate is better than the second; noise and length: those of the leading component.
        """
        report = self._process().report(state.process)
        mixture = state.mixture
        if mixture is None or mixture.known.looks is None:
            return report
        best, *others = state.order
        return {
            **report,
            "length": mixture.leading.hyperparameters.lengthscale * self.sigma0,
            "noise": mixture.leading.hyperparameters.noise,
            "looks": mixture.looks_probability,
            "sure": mixture.probability_better(best, others[0]) if others else 1.0,
        }

    def _process(self) -> RankProcess:
        shared = (setting.name for setting in fields(ProcessSettings))
        return RankProcess(**{name: getattr(self, name) for name in shared})

    def _fit(
        self, state: LooksState, by_coordinates: Component, looks: Sequence[Vector | None]
    ) -> LooksState:
        process = state.process
        found = [z for z in looks if z is not None]
        complete = len(found) == len(looks) and len({z.shape for z in found}) == 1
        coordinates = np.array(process.candidates) / self.sigma0
        known = Inputs(coordinates, np.array(found) if complete else None)
        mixture = fit_mixture(known, process.comparisons, by_coordinates, state.mixture)
        order = np.argsort(-mixture.mean(known), kind="stable")
        return replace(state, mixture=mixture, order=tuple(order.tolist()))

    def _neighbours(self, centres: Sequence[Vector], rng: np.random.Generator, count: int) -> Rows:
        if not count or not centres:
            return np.zeros((0, centres[0].size if centres else 0))
        scaled = np.array(centres) / self.sigma0
        return self._round(self.sigma0 * pool.neighbours(scaled, count, rng, self._place))

    def _round(self, candidates: Rows) -> Rows:
        """Round large candidates on the shell, so that their numbers take less room in the log."""
        return round_large(candidates) if self.space == "gaussian" else candidates

    def _place(self, x: Vector) -> Vector:
        """Place a candidate, in units of sigma0, in the space."""
        if self.bounds is None and self.space == "euclidean":
            return x
        return space_of(self, x).place(x * self.sigma0) / self.sigma0

    def _choose(
        self, state: LooksState, mixture: Mixture, rng: np.random.Generator, looks: Looks | None
    ) -> Slate:
        points = self._candidate_pool(state, mixture, rng, looks)
        _, samples = mixture.sample(points, SAMPLES, rng)
        incumbent = state.order[0]
        chosen, free = [incumbent], np.arange(len(points)) >= len(mixture.known)
        free[chosen] = False
        acquisition.extend_by_qeubo(samples, chosen, free, self.m)
        shown = points.select(chosen)
        others = [self._as_shown(self.sigma0 * x) for x in shown.coordinates[1:]]
        best = state.process.candidates[incumbent]
        design = DerivedPoints.of(
            [
                DerivedVector(best, LoggedVector(best)),
                *(DerivedVector(x, StoredVector(x)) for x in others),
            ]
        )
        promise = acquisition.promise(samples, incumbent, chosen[1:])
        return Slate(design, k=self.k, looks=shown.looks, promise=promise)

    def _candidate_pool(
        self, state: LooksState, mixture: Mixture, rng: np.random.Generator, looks: Looks | None
    ) -> Inputs:
        """Return the known candidates, then the pool."""
        near = self._neighbours(state.centres, rng, self.pool if looks else NEAR_DRAWS)
        proposed = np.asarray(self._process().ask(state.process, rng))
        known = {digest(x) for x in state.process.candidates}
        proposed = proposed[[digest(x) not in known for x in proposed]]
        far, far_looks = self._far(state, rng, looks)
        fresh = np.vstack([near, self._round(proposed)])
        far_inputs = Inputs(far / self.sigma0, far_looks)
        points = mixture.known.join(far_inputs, self._inputs(fresh, looks))
        climbed = self._ascents(mixture, points, rng)
        return points.join(self._inputs(self._round(climbed * self.sigma0), looks))

    def _as_shown(self, x: Vector) -> Vector:
        """Place a candidate of the pool in the space, unless it was rounded."""
        short = self._round(x)
        if short is not x and np.array_equal(short, x):
            return x
        return space_of(self, x).place(x)

    def _far(
        self, state: LooksState, rng: np.random.Generator, looks: Looks | None
    ) -> tuple[Rows, Rows | None]:
        """Return candidates from the whole space: the reference sample, or new draws."""
        if looks is not None:
            return looks.reference()
        x0 = state.process.x0
        if self.bounds is None:
            drawn = x0 + self.sigma0 * rng.standard_normal((FAR_DRAWS, x0.size))
        else:
            lower, upper = (np.broadcast_to(edge, x0.shape) for edge in self.bounds)
            drawn = rng.uniform(lower, upper, (FAR_DRAWS, x0.size))
        return drawn, None

    def _inputs(self, candidates: Rows, looks: Looks | None) -> Inputs:
        return Inputs(candidates / self.sigma0, None if looks is None else looks(candidates))

    def _ascents(self, mixture: Mixture, points: Inputs, rng: np.random.Generator) -> Rows:
        """Return ends of ascents of the mean and of samples, then midpoints from the best mean."""
        mean, samples = mixture.sample(points, ASCENTS - 1, rng)
        values = np.column_stack([mean, samples])
        on_shell = self.space == "gaussian"
        lengthscale = mixture.leading.hyperparameters.lengthscale
        if points.looks is not None:
            lengthscale = pool.SMOOTH_LENGTHSCALE
        ends = pool.ascents(points.coordinates, values, lengthscale, self._place, on_shell)
        start = points.coordinates[int(np.argmax(mean))]
        middles = [0.5 * (start + end) for end in ends]
        # The midpoint of opposite points is the origin, which cannot be placed on the shell.
        halves = [self._place(x) if x.any() or not on_shell else start for x in middles]
        return np.vstack([ends, halves])


def digest(candidate: Vector) -> bytes:
    """Return a key that identifies a candidate."""
    return blake2b(np.ascontiguousarray(candidate).tobytes(), digest_size=16).digest()


def _centres(state: LooksState, slate: Slate) -> tuple[Vector, ...]:
    """Return the candidates of this slate and the best known before it that are not on it."""
    shown = {digest(x): x for x in slate}
    for i in state.order[:EXTRA_CENTRES]:
        x = state.process.candidates[i]
        shown.setdefault(digest(x), x)
    return tuple(shown.values())


def _looks_on(state: LooksState, slate: Slate) -> dict[bytes, Vector]:
    """Return the looks on a slate by digest; its first rows may belong to earlier candidates."""
    if slate.looks is None:
        return {}
    shown = [digest(x) for x in slate]
    earlier = [digest(x) for x in state.unlooked]
    if len(slate.looks) > len(earlier) + len(shown):
        earlier = _with_passed_starts(state, earlier)
    candidates = [*earlier, *shown]
    if len(slate.looks) > len(candidates):
        raise InvalidInput(
            f"a slate of {len(slate)} must have the looks of its candidates and of at most "
            f"{len(earlier)} earlier ones; found {len(slate.looks)}"
        )
    return dict(zip(candidates[-len(slate.looks) :], slate.looks, strict=True))


def _with_passed_starts(state: LooksState, unlooked: Sequence[bytes]) -> list[bytes]:
    """Return the candidates without looks as they were before the answer to starts was removed.

    Databases have such slates: `forget_rater` did not remove the rows of the starts in 2026, and
    it cannot remove those that another process is about to write.
    """
    return list(dict.fromkeys([*state.passed, *unlooked]))
