"""rank-looks: rank-process that also learns from what candidates look like.

Taste is about what one sees, and the numbers a picture is made from say little of that. Here the
utility is a Gaussian process over both (`mixes`): candidates are near if their numbers are, or if
they look alike, and the evidence of the answers decides which counts. A slate is chosen from a
pool (`pool`): random candidates from everywhere, surroundings and crossings of those just shown,
ascents, and rank-process's own proposals. It is chosen for the expected utility of the best option
(`choice`).

Without looks it asks what rank-process asks, except in a box or in all of R^d, where its pool also
reaches far from the best so far (Astudillo et al., 2023, explore there early on, and it pays).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from zorank._recipes import DerivedPoints, DerivedVector, LoggedVector, StoredVector, round_large
from zorank.errors import InvalidInput
from zorank.optimizers.rank_looks import choice, pool
from zorank.optimizers.rank_looks.mixes import Mixture, weigh
from zorank.optimizers.rank_looks.mixes import Points as Seen
from zorank.optimizers.rank_process import ProcessState, RankProcess
from zorank.optimizers.rank_process.posterior import one_thread
from zorank.optimizers.settings import Bounds, SpaceName, check_count, make_space
from zorank.protocols import Looks
from zorank.slates import Slate
from zorank.types import Answer, Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.float64]

SAMPLES = 96
"""Joint samples of the utility that a slate is chosen by."""

CLIMBERS = 6
"""Ascents after an answer, one of the mean, the others of samples; each half-way and whole."""

FAR, NEAR = 100, 250
"""Draws from everywhere, and around centres, where candidates need no look."""

TOPS = 2
"""How many of the best so far are centres of the next surroundings beside those just shown."""


@dataclass(frozen=True, eq=False)
class LooksState:
    """What rank-process knows, and what the candidates look like.

    Attributes:
        process: rank-process's state: the candidates, the answers, the model of the numbers.
        looks: of every known candidate that was looked at, by its digest.
        mixture: the model over numbers and looks; None before the first comparison.
        order: the known candidates by mean utility, the best first.
        centres: the candidates around which the next pool is drawn.
    """

    process: ProcessState
    looks: Mapping[bytes, Vector] = field(default_factory=dict)
    mixture: Mixture | None = None
    order: tuple[int, ...] = ()
    centres: tuple[Vector, ...] = ()

    @property
    def unlooked(self) -> tuple[Vector, ...]:
        """The known candidates that were not looked at yet, in the order of their showing."""
        return tuple(x for x in self.process.known if digest(x) not in self.looks)


@dataclass(frozen=True, kw_only=True)
class RankLooks:
    """A model of taste over what candidates look like and over their numbers.

    Attributes:
        m: candidates of a slate.
        k: how many of them are to be ranked; None leaves it to the judge.
        pick: whether the first question is a choice among draws of N(0, I) instead of x0 and its
            surroundings; "no difference" then asks for others.
        pool: candidates that are looked at before a slate is chosen, beside a few after it.
        sigma0: the rough scale of the space: how far from x0 things may change.
        space: "euclidean", or "gaussian" to keep candidates on the shell |x| = √d.
        bounds: (lower, upper), numbers or one per coordinate; candidates are clipped to them.
    """

    name: ClassVar[str] = "rank-looks"
    learns_raters: ClassVar[bool] = True
    uses_looks: ClassVar[bool] = True
    revision: ClassVar[int] = 2

    m: int = 6
    k: int | None = None
    pick: bool = False
    pool: int = 36
    sigma0: float = 1.0
    space: SpaceName = "euclidean"
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        check_count(self, "pool", 0, 4096)
        process = self._process()
        for name in ("m", "k", "sigma0", "bounds"):
            object.__setattr__(self, name, getattr(process, name))

    def init(self, x0: Vector) -> LooksState:
        """Nothing is known but a start."""
        return LooksState(self._process().init(x0))

    def unlooked(self, state: LooksState) -> tuple[Vector, ...]:
        """The known candidates that were not looked at yet, in the order of their showing."""
        return state.unlooked

    def prospects(self, state: LooksState, slate: Slate, rng: np.random.Generator) -> Rows:
        """The surroundings that the next pool begins with, whatever the answer to this slate."""
        return self._surroundings(_centres(state, slate), rng, self.pool)

    def ask(
        self, state: LooksState, rng: np.random.Generator, looks: Looks | None = None
    ) -> Slate:
        """The best so far, and what is worth showing beside it."""
        with one_thread():
            seen = state.mixture
            if seen is None or (seen.known.looks is None and self.space == "gaussian"):
                return self._process().ask(state.process, rng)
            if seen.known.looks is None:
                looks = None
            elif looks is None:
                return self._process().ask(state.process, rng)
            return self._choose(state, seen, rng, looks)

    def tell(self, state: LooksState, slate: Slate, answer: Answer) -> LooksState:
        """Hear the answer, and think everything over."""
        process = self._process().tell(state.process, slate, answer)
        if process is state.process:  # "others, please"
            return state
        told = _looked_at(state, slate)
        known = {digest(x): x for x in process.known}
        looks = {key: z for key, z in {**state.looks, **told}.items() if key in known}
        centres = _centres(state, slate)
        state = replace(state, process=process, looks=looks, centres=centres)
        if process.belief is None:
            return state
        with one_thread():
            return self._think(state, [looks.get(key) for key in known])

    def best(self, state: LooksState) -> Vector:
        """Of all candidates shown, the one of the highest mean utility."""
        known = state.process.known
        return known[state.order[0]] if state.order else self._process().best(state.process)

    def report(self, state: LooksState) -> dict[str, float]:
        """What the model knows: rank-process's report, and how far looks matter.

        Looks is the probability that looks matter; sure, that the best so far is better than the
        next; noise and length are those of the leading mix.
        """
        known = self._process().report(state.process)
        mixture = state.mixture
        if mixture is None or mixture.known.looks is None:
            return known
        best, *others = state.order
        return {
            **known,
            "length": mixture.leading.traits.length * self.sigma0,
            "noise": mixture.leading.traits.noise,
            "looks": mixture.by_looks,
            "sure": mixture.chance(best, others[0]) if others else 1.0,
        }

    def _process(self) -> RankProcess:
        settings = {"m": self.m, "k": self.k, "pick": self.pick, "sigma0": self.sigma0}
        return RankProcess(**settings, space=self.space, bounds=self.bounds)  # type: ignore[arg-type]

    def _think(self, state: LooksState, looks: Sequence[Vector | None]) -> LooksState:
        process = state.process
        whole = [z for z in looks if z is not None]
        seen = len(whole) == len(looks) and len({z.shape for z in whole}) == 1
        known = Seen(np.array(process.known) / self.sigma0, np.array(whole) if seen else None)
        if process.belief is None:
            raise InvalidInput("there is no comparison to learn from")
        numbers = (process.traits, process.belief)
        before, factors = state.mixture, process.traits.factors
        mixture = weigh(known, process.said, numbers, before, factors)
        order = np.argsort(-mixture.mean(known), kind="stable")
        return replace(state, mixture=mixture, order=tuple(order.tolist()))

    def _surroundings(
        self, centres: Sequence[Vector], rng: np.random.Generator, count: int
    ) -> Rows:
        if not count or not centres:
            return np.zeros((0, centres[0].size if centres else 0))
        scaled = np.array(centres) / self.sigma0
        return self._short(self.sigma0 * pool.surroundings(scaled, count, rng, self._place))

    def _short(self, candidates: Rows) -> Rows:
        """Candidates as they may be shown: with few digits if they are large."""
        return round_large(candidates) if self.space == "gaussian" else candidates

    def _place(self, x: Vector) -> Vector:
        """Put a candidate, in units of sigma0, where candidates may lie."""
        if self.bounds is None and self.space == "euclidean":
            return x
        space = make_space(self.space, self.bounds, x.size)
        return space.place(x * self.sigma0) / self.sigma0

    def _choose(
        self, state: LooksState, seen: Mixture, rng: np.random.Generator, looks: Looks | None
    ) -> Slate:
        near = self._surroundings(state.centres, rng, self.pool if looks else NEAR)
        proposed = np.asarray(self._process().ask(state.process, rng))
        known = {digest(x) for x in state.process.known}
        proposed = proposed[[digest(x) not in known for x in proposed]]
        far, far_looks = self._far(state, rng, looks)
        fresh = np.vstack([near, self._short(proposed)])
        points = seen.known.join(Seen(far / self.sigma0, far_looks), self._seen(fresh, looks))
        climbed = self._climbed(seen, points, rng)
        points = points.join(self._seen(self._short(climbed * self.sigma0), looks))
        _, samples = seen.sample(points, SAMPLES, rng)
        incumbent = state.order[0]
        chosen, free = [incumbent], np.arange(len(points)) >= len(seen.known)
        free[chosen] = False
        choice.expected_best(samples, chosen, free, self.m)
        shown = points.pick(chosen)
        others = [self._shown(self.sigma0 * x) for x in shown.numbers[1:]]
        best = state.process.known[incumbent]
        design = DerivedPoints.of(
            [
                DerivedVector(best, LoggedVector(best)),
                *(DerivedVector(x, StoredVector(x)) for x in others),
            ]
        )
        promise = choice.promise(samples, incumbent, chosen[1:])
        return Slate(design, k=self.k, looks=shown.looks, promise=promise)

    def _shown(self, x: Vector) -> Vector:
        """A candidate of the pool as it is shown; one that was rounded already stays as it is."""
        short = self._short(x)
        if short is not x and np.array_equal(short, x):
            return x
        return make_space(self.space, self.bounds, x.size).place(x)

    def _far(
        self, state: LooksState, rng: np.random.Generator, looks: Looks | None
    ) -> tuple[Rows, Rows | None]:
        """Candidates from everywhere: those looked at already, or free draws."""
        if looks is not None:
            return looks.reference()
        x0 = state.process.x0
        if self.bounds is None:
            drawn = x0 + self.sigma0 * rng.standard_normal((FAR, x0.size))
        else:
            lower, upper = (np.broadcast_to(edge, x0.shape) for edge in self.bounds)
            drawn = rng.uniform(lower, upper, (FAR, x0.size))
        return drawn, None

    def _seen(self, candidates: Rows, looks: Looks | None) -> Seen:
        shown = None if looks is None else looks(candidates)
        return Seen(candidates / self.sigma0, shown)

    def _climbed(self, seen: Mixture, points: Seen, rng: np.random.Generator) -> Rows:
        """Ascents of the mean and of samples, each half-way from the best mean and to its end."""
        mean, samples = seen.sample(points, CLIMBERS - 1, rng)
        values = np.column_stack([mean, samples])
        on_shell = self.space == "gaussian"
        length = pool.SMOOTH_LENGTH if points.looks is not None else seen.leading.traits.length
        ends = pool.ascents(points.numbers, values, length, self._place, on_shell)
        start = points.numbers[int(np.argmax(mean))]
        middles = [0.5 * (start + end) for end in ends]
        # Half-way between opposite points is the origin, which has no place on the shell.
        halves = [self._place(x) if x.any() or not on_shell else start for x in middles]
        return np.vstack([ends, halves])


def digest(candidate: Vector) -> bytes:
    """What tells one candidate from any other."""
    return blake2b(np.ascontiguousarray(candidate).tobytes(), digest_size=16).digest()


def _centres(state: LooksState, slate: Slate) -> tuple[Vector, ...]:
    """The candidates of this slate, and the best known before it that are not on it."""
    shown = {digest(x): x for x in slate}
    for i in state.order[:TOPS]:
        x = state.process.known[i]
        shown.setdefault(digest(x), x)
    return tuple(shown.values())


def _looked_at(state: LooksState, slate: Slate) -> dict[bytes, Vector]:
    """The looks that a slate brings: of its own candidates, the last rows, and of earlier ones."""
    if slate.looks is None:
        return {}
    candidates = [*state.unlooked, *slate][-len(slate.looks) :]
    if len(candidates) != len(slate.looks):
        raise InvalidInput(
            f"a slate of {len(slate)} brings the looks of its candidates, and of at most "
            f"{len(state.unlooked)} earlier ones; found {len(slate.looks)}"
        )
    return {digest(x): z for x, z in zip(candidates, slate.looks, strict=True)}
