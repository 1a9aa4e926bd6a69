"""rank-process: a model of all answers so far, for judges who give tens of answers, not thousands.

The paper names a model-based approach as future work (its conclusion). Here every answer, the
first choice included, conditions one Gaussian process over candidates (`posterior.py`). The
evidence of the answers gives its lengthscale and the judge's noise, and these give the search
radius: there is nothing to tune. A slate shows

- the peak: where the mean utility is highest along its gradient at the best candidate so far;
- fresh directions around the peak, as far from it as this judge needs to see a difference;
- the best so far again, while the model is young, or unsure that the peak beats it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from zorank._recipes import (
    DerivedPoints,
    DerivedVector,
    GradientStep,
    LoggedVector,
    place_repeatably,
    random_points,
)
from zorank.errors import InvalidInput
from zorank.optimizers.rank_process.posterior import (
    Belief,
    Comparisons,
    Traits,
    Weighed,
    believe,
    infer,
    one_thread,
)
from zorank.optimizers.settings import (
    Bounds,
    SpaceName,
    check_number,
    check_slate_size,
    check_space,
    make_space,
)
from zorank.slates import Slate, Space
from zorank.types import Answer, Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

YOUNG = 5
"""For so many answers the best so far is always shown again. A slate without it cannot tell a
rough utility from a noisy judge."""

SURE = 0.5
"""By how many standard deviations the peak must lead the best so far to be shown without it."""

WIDEST = 1.5
"""The largest radius on the shell: beyond it candidates are as good as drawn anew."""

FARTHEST = 1e140
"""Beyond so many sigma0 a squared distance is no number any more."""

MOST_COMPARISONS = 320
"""Older answers are forgotten beyond this, so that a round's cost stays bounded."""


USUAL = Traits()


@dataclass(frozen=True, eq=False)
class Peak:
    """Where the model would go next.

    Attributes:
        x: the candidate.
        lead: its mean utility above that of the best so far.
        doubt: the standard deviation of that lead.
        climb: how the candidate was made.
    """

    x: Vector
    lead: float
    doubt: float
    climb: GradientStep

    @property
    def chance(self) -> float:
        """The probability that it beats the best so far."""
        return 0.5 * math.erfc(-self.lead / self.doubt / math.sqrt(2.0))

    @property
    def gain(self) -> float:
        """What it is expected to be better by, counting nothing where it is not."""
        z = self.lead / self.doubt
        density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
        return self.lead * self.chance + self.doubt * density


@dataclass(frozen=True, eq=False)
class ProcessState:
    """Everything heard, and what it is taken to mean.

    Attributes:
        x0: the start.
        known: the candidates that answers speak of.
        squares: their |x|², in units of sigma0².
        gaps: half their mean squared distances, |x_i − x_j|²/2d, in units of sigma0².
        said: the comparisons.
        raters: the names of those who made them.
        answers: how many answers there were.
        traits: what utility and judges are taken to be like.
        weighed: which traits are possible, and how probable.
        belief: the utility given all this; None before the first comparison.
        best: the known candidate of the highest mean utility.
        runner_up: the next.
        moved: whether the last answer gave a new best.
        peak: where to go next, if that is anywhere better.
        pair: whether the last question was a pair.
        start: how x0 was made of what the run was given.
    """

    x0: Vector
    known: tuple[Vector, ...] = ()
    squares: Vector = field(default_factory=lambda: np.zeros(0))
    gaps: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    said: Comparisons = field(default_factory=Comparisons.none)
    raters: tuple[str, ...] = ()
    answers: int = 0
    traits: Traits = USUAL
    weighed: Weighed = ((1.0, USUAL),)
    belief: Belief | None = None
    best: int = 0
    runner_up: int = 0
    moved: bool = False
    peak: Peak | None = None
    pair: bool = False
    start: LoggedVector | None = None


@dataclass(frozen=True, kw_only=True)
class RankProcess:
    """A Gaussian process that learns from all answers at once, for few of them.

    Attributes:
        m: candidates of a slate.
        k: how many of them are to be ranked; None leaves it to the judge.
        pick: whether the first question is a choice among draws of N(0, I) instead of x0 and its
            surroundings; "no difference" then asks for others.
        pairs: whether to ask for the better of two when the two best are too close to call.
        sigma0: the rough scale of the space: how far from x0 things may change.
        space: "euclidean", or "gaussian" to keep candidates on the shell |x| = √d.
        bounds: (lower, upper), numbers or one per coordinate; candidates are clipped to them.
    """

    name: ClassVar[str] = "rank-process"
    learns_raters: ClassVar[bool] = True
    revision: ClassVar[int] = 2

    m: int = 6
    k: int | None = None
    pick: bool = False
    pairs: bool = False
    sigma0: float = 1.0
    space: SpaceName = "euclidean"
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        check_slate_size(self)
        check_number(self, "sigma0", above=0, at_least=1 / FARTHEST, at_most=FARTHEST)
        for flag in ("pick", "pairs"):
            if not isinstance(getattr(self, flag), bool):
                raise InvalidInput(f"{flag} is true or false, found {getattr(self, flag)!r:.60}")
        object.__setattr__(self, "bounds", check_space(self.space, self.bounds))

    def init(self, x0: Vector) -> ProcessState:
        """Nothing is known but a start."""
        if np.abs(x0).max() / self.sigma0 > FARTHEST:
            raise InvalidInput(
                f"x0 reaches {np.abs(x0).max():g}, too far to square in units of sigma0 = "
                f"{self.sigma0:g}; give sigma0 the rough scale of the space, or a nearer x0"
            )
        x, space = place_repeatably(self._space(x0.size), x0.copy())
        return ProcessState(x, start=LoggedVector(x0, space))

    def ask(self, state: ProcessState, rng: np.random.Generator) -> Slate:
        """The peak, fresh directions around it, and the best so far where it is needed."""
        space, d = self._space(state.x0.size), state.x0.size
        if self.pick and not state.known:
            starts = random_points(rng, self.m, d, self.sigma0, space)
            return Slate(DerivedPoints.of(starts), question="start", k=self.k)
        best = self._made(state, state.best)
        if self.pairs and self._too_close(state):
            return Slate(DerivedPoints.of([best, self._made(state, state.runner_up)]))
        peak = None if state.peak is None else DerivedVector(state.peak.x, state.peak.climb)
        shown = [] if peak is None else [peak]
        if self._needs_best(state):
            shown.insert(0, best)
        shown = shown[: self.m - 1]  # one direction at least is fresh
        radius = self._radius(state) * self.sigma0
        fresh = random_points(rng, self.m - len(shown), d, radius, space, peak or best)
        return Slate(DerivedPoints.of([*shown, *fresh]), k=self.k)

    def tell(self, state: ProcessState, slate: Slate, answer: Answer) -> ProcessState:
        """Hear the answer, and think everything over."""
        with one_thread():
            return self._hear(state, slate, answer)

    def best(self, state: ProcessState) -> Vector:
        """Of all candidates shown, the one of the highest mean utility."""
        return state.known[state.best] if state.known else state.x0

    def report(self, state: ProcessState) -> dict[str, float]:
        """What the model knows, utility in standard deviations among random candidates.

        Radius and length of the search; noise, the judge's; visible, the typical difference on
        the next slate; consistency, the share of pairs on it the judge will order rightly;
        chance, that the next peak beats the best so far; gain, what it should be better by.
        """
        if state.belief is None:
            return {}
        traits, radius = state.traits, self._radius(state)
        differs = -math.expm1(-((radius / traits.length) ** 2)) / traits.spread**2
        visible = math.sqrt(differs)
        peak = state.peak
        return {
            "radius": radius * self.sigma0,
            "length": traits.length * self.sigma0,
            "noise": traits.noise,
            "visible": visible,
            "consistency": 0.5 + math.atan2(visible, math.sqrt(_blur(state))) / math.pi,
            "chance": 0.0 if peak is None else peak.chance,
            "gain": 0.0 if peak is None else peak.gain / traits.spread,
        }

    def _hear(self, state: ProcessState, slate: Slate, answer: Answer) -> ProcessState:
        met, places = self._meet(state, slate)
        said, raters = state.said.hear(answer, places, state.raters)
        if slate.question == "start" and said.tied.all():
            return state  # others, please
        factors = (*state.traits.factors, *(1.0,) * (len(raters) - len(state.traits.factors)))
        state = replace(
            met,
            said=said,
            raters=raters,
            answers=state.answers + 1,
            traits=replace(state.traits, factors=factors),
            pair=len(slate) == 2 < self.m,
        )
        return self._think(_forget(state)) if len(said) else state

    def _made(self, state: ProcessState, i: int) -> DerivedVector:
        """A known candidate as the log has it; the start before there are any."""
        if state.known:
            return DerivedVector(state.known[i], LoggedVector(state.known[i]))
        return DerivedVector(state.x0, state.start or LoggedVector(state.x0))

    def _space(self, d: int) -> Space:
        return make_space(self.space, self.bounds, d)

    def _needs_best(self, state: ProcessState) -> bool:
        peak = state.peak
        unsure = peak is None or peak.lead < SURE * peak.doubt
        return unsure or state.answers < YOUNG or not state.moved

    def _too_close(self, state: ProcessState) -> bool:
        """Whether nobody could say which of the two best is better, though they do differ."""
        if state.belief is None or state.pair or state.best == state.runner_up:
            return False
        a, b = state.gaps[state.best], state.gaps[state.runner_up]
        lead, doubt = state.belief.difference(a, b, float(a[state.runner_up]))
        return lead < 0.5 * doubt and doubt > 0.5 * state.traits.noise * state.traits.spread

    def _radius(self, state: ProcessState) -> float:
        """Where fresh directions tell most, over all traits that are possible.

        At distance s utility differs by x = s/ℓ in prior deviations along the gradient and, from
        curvature, by x²/√2 that has nothing to do with it. The share that a comparison tells of
        the gradient, x²/(x² + σ² + x⁴/2), is largest at x = (2σ²)^¼: the noisier, the wider.
        """
        reach = WIDEST if self.space == "gaussian" else 2.0 * state.traits.length
        s = np.geomspace(0.01 * reach, reach, 60)
        told = np.zeros_like(s)
        for weight, traits in state.weighed:
            x2 = (s / traits.length) ** 2
            blur = max(_blur(state, traits) * traits.spread**2, LEAST_BLUR)
            told += weight * x2 / (x2 + blur + 0.5 * x2 * x2)
        return float(s[np.argmax(told)])

    def _meet(self, state: ProcessState, slate: Slate) -> tuple[ProcessState, list[int]]:
        """The state that knows the slate's candidates too, and where among the known they are."""
        n, shown = len(state.known), np.asarray(slate)
        squares = np.concatenate([state.squares, [self._square(x) for x in shown]])
        known = [*state.known, *shown]
        near = self._gaps(known, squares, shown)
        is_new = ~np.tril(near[:, n:] == 0.0, -1).any(axis=1) & near[:, :n].all(axis=1)
        kept = np.concatenate([np.arange(n), n + np.flatnonzero(is_new)])
        gaps = np.zeros((len(known), len(known)))
        gaps[:n, :n] = state.gaps
        gaps[n:] = near
        gaps[:, n:] = near.T
        met = replace(
            state,
            known=(*state.known, *(_frozen(shown[i]) for i in np.flatnonzero(is_new))),
            squares=squares[kept],
            gaps=gaps[np.ix_(kept, kept)],
        )
        return met, [int(row.argmin()) for row in near[:, kept]]

    def _square(self, x: Vector) -> float:
        """|x|² in units of sigma0²."""
        x = x / self.sigma0
        return float(x @ x)

    def _gaps(
        self, known: Sequence[Vector], squares: Vector, points: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """|x − y|²/2d from every point x to every known y; exactly 0 only for x itself."""
        scaled = points / self.sigma0**2
        gaps = np.array([scaled @ y for y in known]).T * -2.0
        own = np.array([self._square(x) for x in points])[:, None]
        gaps += own + squares
        for i, j in np.argwhere(gaps < 1e-6 * own).tolist():  # here the sum has lost its digits
            gaps[i, j] = self._square(known[j] - points[i])
        gaps /= 2.0 * points.shape[1]
        return gaps

    def _think(self, state: ProcessState) -> ProcessState:
        """Infer the traits, and the utility given them."""
        sites = None if state.belief is None else state.belief.sites
        width = LENGTH_WIDTH[self.space]
        traits, weighed = infer(state.gaps, state.said, state.traits, sites, width)
        belief = believe(state.gaps, state.said, [traits], sites)[0]
        order = np.argsort(-belief.mean(state.gaps), kind="stable")
        best = int(order[0])
        return replace(
            state,
            traits=traits,
            weighed=weighed,
            belief=belief,
            best=best,
            runner_up=int(order[1]) if len(order) > 1 else best,
            moved=best != state.best,
            peak=self._peak(state, belief, best),
        )

    def _peak(self, state: ProcessState, belief: Belief, best: int) -> Peak | None:
        """Where the mean utility is highest along its gradient at the best candidate."""
        x, near = state.known[best], state.gaps[best]
        climb, along = self._uphill(state, belief, best)
        gradient = climb.gradient()
        slope = float(np.linalg.norm(gradient)) / (math.sqrt(x.size) * self.sigma0)
        if slope == 0.0 or not math.isfinite(slope):
            return None
        along /= slope
        steps = np.linspace(0.02, WIDEST, 40)[:, None]
        on_shell = self.space == "gaussian"
        if on_shell:
            gaps = 1.0 - np.cos(steps) * (1.0 - near) - np.sin(steps) * along
        else:
            steps = steps * 2.0 * belief.traits.length
            gaps = near - steps * along + 0.5 * steps * steps
        step = float(steps[np.argmax(belief.mean(gaps)), 0])
        keep, go = (math.cos(step), math.sin(step)) if on_shell else (1.0, step)
        climb = replace(climb, slope=slope, keep=keep, go=go)
        peak, space = place_repeatably(self._space(x.size), climb.end(gradient))
        gap = self._gaps(state.known, state.squares, peak[None])[0]
        lead, doubt = belief.difference(gap, near, float(gap[best]))
        if not (lead > 0 and gap.all()):
            return None
        return Peak(peak, lead, doubt, replace(climb, space=space))

    def _uphill(
        self, state: ProcessState, belief: Belief, best: int
    ) -> tuple[GradientStep, Vector]:
        """The way up the gradient g at x, and (y − x)·g/d sigma0² for every known y.

        The latter follows from the gaps: (y − x)·(z − x)/d is gap(x, y) + gap(x, z) − gap(y, z).
        """
        d, near = state.x0.size, state.gaps[best]
        pulls = belief.weights * belief.kernel(near)
        total = float(pulls.sum())
        along = total * near + pulls @ near - state.gaps @ pulls
        climb = GradientStep(state.known, best, pulls, total)
        if self.space == "gaussian":  # what leads off the shell is no way up
            outward = (state.squares - state.squares[best]) / (2.0 * d) - near
            share = float((pulls @ outward) * d / state.squares[best])
            along -= share * outward
            climb = replace(climb, share=share)
        return climb, along


def _frozen(x: Vector) -> Vector:
    """A copy that nobody changes, and that keeps no other candidate in memory."""
    x = x.copy()
    x.setflags(write=False)
    return x


LENGTH_WIDTH = {"gaussian": 0.75, "euclidean": 2.0}
"""The prior's standard deviation of log ℓ: on the shell the scale is known, elsewhere not."""

LEAST_BLUR = 4e-4
"""A judge without noise is still shown differences of this variance: the model is not exact."""


def _blur(state: ProcessState, traits: Traits | None = None) -> float:
    """The variance below which judges see nothing: noise, and if they tie, their threshold."""
    traits = traits or state.traits
    alike = traits.threshold**2 / 3.0 if state.said.tied.any() else 0.0
    return traits.noise**2 + alike


def _forget(state: ProcessState) -> ProcessState:
    """Drop the oldest answers beyond what is kept, and the candidates only they speak of."""
    said, belief = state.said, state.belief
    if len(said) <= MOST_COMPARISONS:
        return state
    newest = int(said.ballot[-1])
    kept = said.ballot > min(int(said.ballot[-MOST_COMPARISONS - 1]), newest - 1)
    said = said.where(kept)
    rows = np.unique(np.concatenate([said.better, said.worse, [state.best]]))
    if belief is not None:
        belief = replace(belief, sites=belief.sites[:, kept[: belief.sites.shape[1]]])
    return replace(
        state,
        known=tuple(state.known[i] for i in rows),
        squares=state.squares[rows],
        gaps=state.gaps[np.ix_(rows, rows)],
        said=said.renumber(rows),
        best=int(np.searchsorted(rows, state.best)),
        belief=belief,
    )
