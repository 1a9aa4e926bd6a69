"""auto: the default. It needs a start and a rough scale, and nothing else.

An evolution strategy from ranks alone, built on one idea: the directions of a round all have the
same length and are orthogonal (with mirror images where there are more than dimensions).

- What is left in the ranks is direction, not length, so that candidates can be drawn wider (by ρ)
  than the step that follows from them, which makes each round tell more.
- The step is Σ w_i z_i with *signed* weights: the worst say as much as the best. Its length is
  always η√d, so the path of steps measures only whether they agree; they do: longer steps.
- The shape of the cloud is learned exactly, with good and bad directions (`shape`).

Every tenth round the slate also shows two candidates of ten rounds ago. If the judge changes
their order, it is noisy, and ρ grows: wider clouds are told apart more surely. The very first step
is shown beside where it came from: if it lost, sigma0 was too large, and the step is taken back
and made shorter.

When the cloud of a judge who never changed its mind has shrunk to nothing, a new search begins
around x0 with twice as many candidates, drawn wider. Checks then also show the best so far.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from zorank.errors import InvalidInput
from zorank.estimators import rank_weights
from zorank.optimizers.covariance import Rates, Shape, frame, rates, round_shape
from zorank.optimizers.settings import (
    Bounds,
    SpaceName,
    check_count,
    check_number,
    check_space,
    make_space,
)
from zorank.slates import Box, Mirror, Shell, Slate, Space
from zorank.types import Answer, Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDTH, WIDTH_OF_MANY = 1.8, 1.5
"""ρ: how much wider than the step candidates are drawn, if the judge is not noisy. The second is
for more candidates than dimensions, which say more about the step already."""
WIDEST = 30.0
PATH_RATE = 0.3
DAMPING = 0.5
MOST_GROWTH = 0.15
"""The logarithm of the most by which a step grows in a round."""
CHECK_EVERY = 10
WIDEN, NARROW = 1.5, 0.85
FIRST_SHRINK = 0.4
WIDEST_ON_SHELL = 1.5
SMALLEST_STEP = 1e-150
FARTHEST = 1e12
"""No candidate is drawn farther than so many sigma0 from the centre."""
WIDER_FOR_MORE = 0.75
"""The power of m by which ρ grows with restarts."""
NEGLIGIBLE, SMALL = 1e-11, 1e-6
"""A cloud of so many sigma0 has converged; a small one if it is stuck, as in rounding errors."""
MOST_DOUBLINGS = 7
HOLDS_TO_RESTART = 8
"""How often a judge must have kept an order, and never changed one, before it starts anew."""


@dataclass(frozen=True, eq=False)
class Frame:
    """x + r·M z_i for the directions of a round, then old candidates to compare them with."""

    centre: Vector
    radius: float
    z: NDArray[np.float64]
    y: NDArray[np.float64]
    old: tuple[Vector, ...]
    space: Space

    @property
    def dim(self) -> int:
        """The number of coordinates of a candidate."""
        return self.centre.size

    def __len__(self) -> int:
        return len(self.z) + len(self.old)

    def row(self, i: int) -> Vector:
        """A new candidate, or one of the old."""
        if i >= len(self.z):
            return self.space.place(self.old[i - len(self.z)].copy())
        x = np.multiply(self.y[i], self.radius)
        x += self.centre
        return self.space.place(x)


@dataclass(frozen=True, eq=False)
class AutoState:
    """Where the search is.

    Attributes:
        x: the centre, held to be best; beyond a bound, its mirror image is meant.
        step: η, the length of a step per √d.
        width: ρ, how much wider than that candidates are drawn.
        shape: of the cloud.
        path: of recent steps, which the step size is adapted by.
        long_path: of steps over a longer time, which the shape is adapted by.
        home: where the first search began.
        rounds: answered so far.
        old: a good and a bad candidate of some rounds ago.
        proven: whether a step has been seen to win anything yet.
        before: the centre before the last step, until that is proven.
        restarts: how many searches have converged, counted as far as m doubles for them.
        champion: the best centre that checks have seen since the first restart.
        holds: how often the judge kept the order of two old candidates.
        flips: how often it changed it.
        stuck: whether at the last check the old were as good as the new.
    """

    x: Vector
    step: float
    width: float
    shape: Shape
    path: Vector
    long_path: Vector
    home: Vector
    rounds: int = 0
    old: tuple[Vector, ...] = ()
    proven: bool = False
    before: Vector | None = None
    restarts: int = 0
    champion: Vector | None = None
    holds: int = 0
    flips: int = 0
    stuck: bool = False


@dataclass(frozen=True, kw_only=True)
class Auto:
    """The default: parameter-free search from ranks.

    Attributes:
        m: candidates of a slate; None takes 4 + 3 ln d. Every tenth slate has two more.
        k: how many of them are to be ranked; None leaves it to the judge.
        sigma0: the rough scale: how far from x0, per coordinate, something better may be.
        space: "euclidean", or "gaussian" to keep candidates on the shell |x| = √d.
        bounds: (lower, upper), numbers or one per coordinate; candidates are mirrored at them.
    """

    name: ClassVar[str] = "auto"
    revision: ClassVar[int] = 2

    m: int | None = None
    k: int | None = None
    sigma0: float = 1.0
    space: SpaceName = "euclidean"
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        if self.m is not None:
            check_count(self, "m", 2)
        if self.k is not None:
            check_count(self, "k", 1, self.m)
        check_number(self, "sigma0", above=0)
        check_space(self)

    def init(self, x0: Vector) -> AutoState:
        """A round cloud around x0."""
        x = self._space(x0.size).place(x0.copy())
        return self._begin(x, x)

    def ask(self, state: AutoState, rng: np.random.Generator) -> Slate:
        """A frame of directions, and at times two old candidates."""
        d = state.x.size
        space = self._space(d)
        if self._converged(state):
            state = self._anew(
                state, space.place(state.home + self.sigma0 * rng.standard_normal(d))
            )
        z = frame(self._size(d, state.restarts), d, rng)
        y = state.shape.stretch(z)
        radius = _within(space, state.step * state.width)
        return Slate(Frame(state.x, radius, z, y, _shown_again(state), space), k=self.k)

    def tell(self, state: AutoState, slate: Slate, answer: Answer) -> AutoState:
        """Step, adapt the step size, learn the shape."""
        design = slate.design
        if not isinstance(design, Frame):
            raise InvalidInput(f"auto is told of its own slates, found {design!r:.60}")
        scores = rank_weights(answer, len(slate))
        if self._converged(state):
            state = self._anew(state, design.centre)
        state = replace(state, rounds=state.rounds + 1)
        if not scores.any():
            return self._see_more(state)
        m = len(design.z)
        if state.before is not None:
            if scores[m] < scores[m + 1]:
                return _take_back(state, state.before)
            state = replace(state, proven=True, before=None)
        else:
            state = _check(state, scores, m)
        state = _keep_old(state, slate, scores[:m])
        known = rates(state.x.size, m)
        if np.ptp(scores[:m]) == 0:  # the new ones were not told apart
            return state
        w = shared(known.mean, scores[:m])
        moved = self._step(state, design, w / np.linalg.norm(w), known)
        v = shared(known.shape, scores[:m])
        shape = state.shape.learn(design.z, design.y, v, moved.long_path, known)
        return replace(moved, shape=shape)

    def best(self, state: AutoState) -> Vector:
        """The centre; after a restart, the best centre that checks have seen."""
        x = state.x if state.champion is None else state.champion
        return self._space(x.size).place(x.copy())

    def report(self, state: AutoState) -> dict[str, float]:
        """How far candidates are drawn, by how much wider than the step, and new searches."""
        radius = state.step * state.width
        return {"radius": radius, "width": state.width, "restarts": state.restarts}

    def _space(self, d: int) -> Space:
        space = make_space(self.space, self.bounds, d)
        return Mirror(space.lower, space.upper) if isinstance(space, Box) else space

    def _size(self, d: int, restarts: int) -> int:
        return (self.m if self.m is not None else 4 + int(3 * math.log(d))) << restarts

    def _begin(self, x: Vector, home: Vector, restarts: int = 0) -> AutoState:
        """A round cloud around x, for m doubled with every restart (Auger & Hansen, 2005)."""
        d = x.size
        width = _least_width(self._size(d, restarts), d, restarts)
        start = self.sigma0 / width, width, round_shape(d), np.zeros(d), np.zeros(d)
        return AutoState(x, *start, home, restarts=restarts)

    def _converged(self, state: AutoState) -> bool:
        """Whether nothing is left to find here; said after checks only, and never of noise."""
        if state.flips or state.holds < HOLDS_TO_RESTART or state.rounds % CHECK_EVERY:
            return False
        extent = state.step * state.width * state.shape.extent()
        return extent < (SMALL if state.stuck else NEGLIGIBLE) * self.sigma0

    def _anew(self, state: AutoState, x: Vector) -> AutoState:
        """A new search around x, which has yet to beat what the others found."""
        champion = state.x if state.champion is None else state.champion
        return replace(
            self._begin(x, state.home, min(state.restarts + 1, MOST_DOUBLINGS)),
            champion=champion,
            rounds=state.rounds,
            holds=state.holds,
        )

    def _see_more(self, state: AutoState) -> AutoState:
        """The judge sees no difference: draw wider; when that is wide enough, step further."""
        if state.width * WIDEN <= WIDEST:
            return replace(state, width=state.width * WIDEN)
        return replace(state, step=self._bounded(state.step * WIDEN, state))

    def _bounded(self, step: float, state: AutoState) -> float:
        """A step that leaves numbers to calculate with; where nothing matters it runs away."""
        most = FARTHEST * self.sigma0 / (state.width * state.shape.extent())
        return max(min(step, most), SMALLEST_STEP)

    def _step(self, state: AutoState, design: Frame, w: Vector, known: Rates) -> AutoState:
        d = state.x.size
        direction = w @ design.z
        length = math.sqrt(d) / max(float(np.linalg.norm(direction)), SMALLEST_STEP)
        direction *= length  # as it is anyway while the directions are orthogonal
        x = w @ design.y
        x *= length * design.radius / state.width
        x += state.x
        path = (1 - PATH_RATE) * state.path
        path += math.sqrt(PATH_RATE * (2 - PATH_RATE)) * direction
        agreement = float(np.linalg.norm(path)) / math.sqrt(d)
        damping = DAMPING * state.width / _least_width(len(w), d, state.restarts)
        growth = PATH_RATE / damping * (agreement - 1)
        long_path = (1 - known.memory) * state.long_path
        if agreement**2 < 2 + 4 / (d + 1):  # in a hurry, shape can wait
            long_path += math.sqrt(known.memory * (2 - known.memory)) * direction
        return replace(
            state,
            # Beyond a bound x goes on in the mirror; brought back, its steps would seem to agree.
            x=design.space.place(x) if isinstance(design.space, Shell) else x,
            step=self._bounded(state.step * math.exp(min(growth, MOST_GROWTH)), state),
            path=path,
            long_path=long_path,
            before=None if state.proven else state.x,
        )


def shared(weights: Vector, scores: Vector) -> Vector:
    """The weights by rank, given to candidates by their scores, lowest first; equals share."""
    order = np.argsort(scores, kind="stable")
    rises = scores[order[1:]] > scores[order[:-1]]
    if not rises.all():
        first = np.flatnonzero(np.append(True, rises))
        counts = np.diff(np.append(first, len(order)))
        weights = np.repeat(np.add.reduceat(weights, first) / counts, counts)
    result = np.empty_like(weights)
    result[order] = weights
    return result


def _least_width(m: int, d: int, restarts: int) -> float:
    """More candidates average out more of a rugged landscape if they see more of it."""
    return (WIDTH if m <= d else WIDTH_OF_MANY) * math.pow(2**restarts, WIDER_FOR_MORE)


def _shown_again(state: AutoState) -> tuple[Vector, ...]:
    """What is shown beside the new: the last two centres until a step is proven, then the old."""
    if state.before is not None:
        return state.before, state.x
    if state.rounds % CHECK_EVERY < CHECK_EVERY - 1:
        return ()
    return state.old if state.champion is None else (*state.old, state.champion, state.x)


def _take_back(state: AutoState, before: Vector) -> AutoState:
    """The first step led nowhere: it was too long. Back to where it came from, and shorter."""
    d = state.x.size
    return replace(
        state,
        x=before,
        step=state.step * FIRST_SHRINK,
        shape=round_shape(d),
        path=np.zeros(d),
        long_path=np.zeros(d),
        old=(),
        before=None,
    )


def _check(state: AutoState, scores: Vector, m: int) -> AutoState:
    """Whether old candidates are in the order they were in, and the centre beats the champion."""
    if len(scores) == m:
        return state
    if state.champion is not None and scores[-1] < scores[-2]:
        state = replace(state, champion=state.x)
    if not state.old:
        return state
    good, bad = scores[m : m + 2]
    if good != bad:
        flipped = bool(good > bad)
        least = _least_width(m, state.x.size, state.restarts)
        width = state.width * (WIDEN if flipped else NARROW)
        state = replace(
            state,
            width=min(max(width, least), max(WIDEST, least)),
            holds=state.holds + (not flipped),
            flips=state.flips + flipped,
        )
    return replace(state, old=(), stuck=bool(good <= np.median(scores[:m])))


def _keep_old(state: AutoState, slate: Slate, scores: Vector) -> AutoState:
    """Keep a good and a bad candidate to show again later."""
    if state.old:
        return state
    order = np.argsort(scores, kind="stable")
    m = len(order)
    good, bad = (order[2], order[-3]) if m > 4 else (order[0], order[-1])
    if scores[good] == scores[bad]:
        good, bad = order[0], order[-1]
    return replace(state, old=(slate[int(good)], slate[int(bad)]))


def _within(space: Space, radius: float) -> float:
    """A radius that makes sense in this space."""
    if isinstance(space, Shell):
        return min(radius, WIDEST_ON_SHELL) * (1 - 1e-9)  # never to 0, which is nowhere on it
    if isinstance(space, Box):
        with np.errstate(over="ignore"):
            return min(radius, float(np.max(space.upper - space.lower)))
    return radius
