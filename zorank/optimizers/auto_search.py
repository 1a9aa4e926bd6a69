"""The algorithm of `auto`; `auto.py` explains its idea, `auto_tuning.py` holds its constants.

A state is a search distribution: centre x, step size η, width ρ and a covariance
factor M. Candidates are x + ηρ·M z_i for orthogonal directions z_i of length √d.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank.errors import InvalidInput, short
from zorank.estimators import rank_weights
from zorank.optimizers.auto_state import AutoState, Frame
from zorank.optimizers.auto_tuning import Tuning
from zorank.optimizers.covariance import Full, learning_rates
from zorank.optimizers.covariance_choice import identity
from zorank.optimizers.rank_model import RankedPoints, fit, ranked_points, recent
from zorank.optimizers.settings import check_scale_size, space_of
from zorank.optimizers.successive import Directions, next_directions, past_directions
from zorank.slates import Box, Mirror, Shell, Slate, Space
from zorank.types import Answer, Vector

if TYPE_CHECKING:
    from zorank.optimizers.auto import Auto

MIN_STEP = 1e-150
MAX_REACH = 1e12
"""No candidate is drawn farther than this many sigma0 from the centre."""
MAX_RADIUS_ON_SHELL = 1.5


@dataclass(frozen=True, eq=False)
class AutoSearch:
    """Evolution strategy with orthogonal directions and signed rank weights.

    Attributes:
        settings: m, k, sigma0, space and bounds.
        tuning: the constants of the algorithm.
    """

    settings: Auto
    tuning: Tuning

    def init(self, x0: Vector) -> AutoState:
        """Start at x0 with the identity as covariance."""
        check_scale_size(self.settings.sigma0, x0.size)
        x = self._space(x0).place(x0.copy())
        return self._begin(x, x)

    def ask(self, state: AutoState, rng: np.random.Generator) -> Slate:
        """Show new directions and, at checks, old candidates."""
        d = state.x.size
        space = self._space(state.x)
        if self._has_converged(state):
            start = state.x0 + np.asarray(self.settings.sigma0) * rng.standard_normal(d)
            state = self.restart(state, space.place(start))
        m = self._slate_size(d, state.restarts) - (state.guess is not None)
        if state.past is None:
            z = self.tuning.directions(m, d, rng)
        else:
            z = next_directions(m, state.past, rng)
        y = state.covariance.transform(z)
        radius = _limit_radius(space, state.step * state.width, self._scale)
        old = self._shown_again(state)
        frame = Frame(state.x, radius, z, y, old, space, self._scale, state.guess)
        return Slate(frame, k=self.settings.k)

    def tell(self, state: AutoState, slate: Slate, answer: Answer) -> AutoState:
        """Step, then adapt the step size and the covariance."""
        design = slate.design
        if not isinstance(design, Frame):
            raise InvalidInput(
                f"auto needs a slate that it asked itself, found a design {short(design)}"
            )
        scores = rank_weights(answer, len(slate))
        if self._has_converged(state):
            state = self.restart(state, design.centre)
        rounds = state.rounds + 1
        if not scores.any():
            return replace(self._widen(state), rounds=rounds)
        m = len(design.z)
        if state.before is not None:
            if scores[m] < scores[m + 1]:
                return replace(self._undo_first_step(state, state.before), rounds=rounds)
            state = replace(state, proven=True, before=None)
        else:
            state = self._check(state, design, scores)
        drawn = scores[:m]
        state = _keep_old(state, slate, drawn)
        if drawn.min() == drawn.max():  # the judge ordered only old candidates or the guess
            return replace(state, model=None, guess=None, rounds=rounds)
        moved = self._step(state, design, drawn)
        return self._model(moved, design, scores[: design.new], state.step)

    def best(self, state: AutoState) -> Vector:
        """Return the centre or, after a restart, the best centre of all searches."""
        x = state.x if state.champion is None else state.champion
        return self._space(x).place(x.copy())

    def report(self, state: AutoState) -> dict[str, float]:
        """Return the radius, the width ρ and the number of restarts."""
        radius = state.step * state.width
        return {"radius": radius, "width": state.width, "restarts": state.restarts}

    def restart(self, state: AutoState, x: Vector) -> AutoState:
        """Begin a new search at x; the champion remains the best until a check prefers x."""
        champion = state.x if state.champion is None else state.champion
        return replace(
            self._begin(x, state.x0, state.restarts + 1),
            champion=champion,
            rounds=state.rounds,
            agreements=state.agreements,
        )

    @property
    def _scale(self) -> Vector | None:
        """The scale of every coordinate, if they differ."""
        sigma0 = self.settings.sigma0
        return None if isinstance(sigma0, float) else np.array(sigma0)

    @property
    def _sigma0(self) -> float:
        """The initial radius in units of the scale."""
        sigma0 = self.settings.sigma0
        return sigma0 if isinstance(sigma0, float) else 1.0

    def _space(self, x: Vector) -> Space:
        space = space_of(self.settings, x)
        return Mirror(space.lower, space.upper) if isinstance(space, Box) else space

    def _slate_size(self, d: int, restarts: int) -> int:
        m = self.settings.m or self.tuning.slate_size(d)
        return m << self.tuning.doublings(restarts)

    def _begin(self, x: Vector, x0: Vector, restarts: int = 0) -> AutoState:
        """Start at x."""
        d = x.size
        width = self.tuning.min_width(self._slate_size(d, restarts), d, restarts)
        start = self._sigma0 / width, width, identity(d), np.zeros(d), np.zeros(d)
        return AutoState(x, *start, x0, restarts=restarts)

    def _has_converged(self, state: AutoState) -> bool:
        """Return whether to restart: only after a check, and never with a noisy judge."""
        tuning = self.tuning
        if state.reversals or state.agreements < tuning.agreements_to_restart:
            return False
        if state.rounds % tuning.check_every:
            return False
        extent = state.step * state.width * state.covariance.extent()
        limit = tuning.converged_if_stuck if state.stuck else tuning.converged
        return extent < limit * self._sigma0

    def _shown_again(self, state: AutoState) -> tuple[Vector, ...]:
        """Return old candidates to show: the last two centres until a step is proven."""
        if state.before is not None:
            return state.before, state.x
        every = self.tuning.check_every
        if state.rounds % every < every - 1:
            return ()
        return state.old if state.champion is None else (*state.old, state.champion, state.x)

    def _widen(self, state: AutoState) -> AutoState:
        """After "no difference", widen ρ; once it is at its maximum, lengthen the step."""
        widen = self.tuning.widen
        if state.width * widen <= self.tuning.max_width:
            return replace(state, width=state.width * widen)
        return replace(state, step=self._limit_step(state.step * widen, state))

    def _limit_step(self, step: float, state: AutoState) -> float:
        """Limit a step to representable numbers; on an unbounded objective it keeps growing."""
        largest = MAX_REACH * self._sigma0 / (state.width * state.covariance.extent())
        return max(min(step, largest), MIN_STEP)

    def _undo_first_step(self, state: AutoState, before: Vector) -> AutoState:
        """Return to the previous centre with a shorter step, because the first made it worse."""
        d = state.x.size
        return replace(
            state,
            x=before,
            step=state.step * self.tuning.first_shrink,
            covariance=identity(d),
            path=np.zeros(d),
            long_path=np.zeros(d),
            old=(),
            before=None,
            seen=(),
            past=None,
        )

    def _check(self, state: AutoState, design: Frame, scores: Vector) -> AutoState:
        """Compare the order of old candidates with the earlier one, and x with the champion."""
        m, new = len(design.z), design.new
        if len(scores) == new:
            return state
        if state.champion is not None and scores[-1] < scores[-2]:
            state = replace(state, champion=state.x)
        if not state.old:
            return state
        tuning = self.tuning
        good, bad = scores[new : new + 2]
        if good != bad:
            is_reversed = bool(good > bad)
            smallest = tuning.min_width(m, state.x.size, state.restarts)
            width = state.width * (tuning.widen if is_reversed else tuning.narrow)
            state = replace(
                state,
                width=min(max(width, smallest), max(tuning.max_width, smallest)),
                agreements=state.agreements + (not is_reversed),
                reversals=state.reversals + is_reversed,
            )
        return replace(state, old=(), stuck=bool(good <= np.median(scores[:m])))

    def _step(self, state: AutoState, design: Frame, scores: Vector) -> AutoState:
        d, tuning = state.x.size, self.tuning
        rates = learning_rates(d, len(scores))
        w = tuning.assign(rates.step_weights, scores)
        w = w / _length(w)
        v = tuning.assign(rates.covariance_weights, scores)
        direction = w @ design.z
        length = math.sqrt(d) / max(_length(direction), MIN_STEP)
        direction *= length  # a factor of 1 while the directions are orthogonal
        x = w @ design.y
        x *= length * design.radius / state.width
        if design.scale is not None:
            x *= design.scale
        x += state.x
        path = (1 - tuning.path_rate) * state.path
        path += math.sqrt(tuning.path_rate * (2 - tuning.path_rate)) * direction
        agreement = _length(path) / math.sqrt(d)
        damping = tuning.damping * state.width / tuning.min_width(len(w), d, state.restarts)
        growth = tuning.path_rate / damping * (agreement - 1)
        long_path = (1 - rates.path_decay) * state.long_path
        if agreement**2 < 2 + 4 / (d + 1):  # as in CMA-ES: stall while the step size grows fast
            long_path += math.sqrt(rates.path_decay * (2 - rates.path_decay)) * direction
        step = state.step * math.exp(min(growth, tuning.max_growth))
        return replace(
            state,
            # Not reflected at bounds: reflected steps would seem to agree with earlier ones.
            x=design.space.place(x) if isinstance(design.space, Shell) else x,
            step=self._limit_step(step, state),
            covariance=state.covariance.update(design.z, design.y, v, long_path, rates),
            path=path,
            long_path=long_path,
            past=self._past(state, design, w),
            rounds=state.rounds + 1,
            before=None if state.proven else state.x,
        )

    def _past(self, state: AutoState, design: Frame, w: Vector) -> Directions | None:
        """Return the directions that those of the next round continue, if any."""
        d = state.x.size
        connected = self.tuning.min_past_dim <= d <= self.tuning.max_past_dim
        if not connected or len(w) > d or state.reversals:
            return None
        return past_directions(design.z, w, state.past)

    def _model(self, state: AutoState, design: Frame, scores: Vector, step: float) -> AutoState:
        """In few dimensions, learn from the last slates at once, with a quadratic model.

        Its minimum is a candidate of the next slate. Answers that name only a few, or a noisy
        judge, say too little for a model.
        """
        few = 2 * len(set(scores.tolist())) <= len(scores)
        if state.x.size > self.tuning.max_model_dim or isinstance(design.space, Shell):
            return state
        if few or design.new < self.tuning.min_model_slate:
            return replace(state, model=None, guess=None)
        scale = 1.0 if design.scale is None else design.scale
        points = design.centre + design.radius * scale * design.y
        if design.guess is not None:
            points = np.concatenate([points, design.guess[None]])
            if state.proven and scores[-1] == scores.min():
                state = self._follow(state, design.guess, step)
        credit, agreements = state.credit, state.agreements
        if state.model is not None:
            right = state.model.credit(points, scores)
            agreements += right > self.tuning.agreeing_credit
            credit += self.tuning.credit_rate * (right - credit)
        seen = recent((*state.seen, ranked_points(points, scores, design.radius)))
        learned = self._refit(state, seen, credit) if state.proven and not state.reversals else {}
        return replace(
            state,
            **{"model": None, "guess": None, **learned},
            seen=seen,
            credit=credit,
            agreements=agreements,
        )

    def _follow(self, state: AutoState, guess: Vector, step: float) -> AutoState:
        """Move to the model's minimum, which won; the step size follows its distance."""
        change = min(max(state.stride, self.tuning.shortest), self.tuning.longest)
        return replace(state, x=guess, step=self._limit_step(step * change, state))

    def _refit(
        self, state: AutoState, seen: tuple[RankedPoints, ...], credit: float
    ) -> dict[str, Any]:
        """Fit the model, find its minimum, and adapt the covariance to its curvature.

        Returns:
            The fields of the state that change; none if there is no model.
        """
        covariance, radius, d = state.covariance, state.step * state.width, state.x.size
        if not isinstance(covariance, Full):
            return {}
        factor = covariance.matrix
        if self._scale is not None:
            factor = self._scale[:, None] * factor
        model = fit(seen, state.x, factor, radius)
        if model is None:
            return {}
        u = model.minimum(self.tuning.reach * math.sqrt(d))
        rate = self.tuning.model_rate * max(credit, 0.0)
        return {
            "model": model,
            "guess": state.x + radius * (factor @ u),
            "stride": _length(u) / math.sqrt(d),
            "covariance": covariance.shaped(model.curvatures, model.axes, rate),
        }


def _length(x: Vector) -> float:
    return math.sqrt(x @ x)


def _keep_old(state: AutoState, slate: Slate, scores: Vector) -> AutoState:
    """Keep a good and a bad candidate, to show them again at the next check."""
    if state.old:
        return state
    order = np.argsort(scores, kind="stable")
    m = len(order)
    good, bad = (order[2], order[-3]) if m > 4 else (order[0], order[-1])
    if scores[good] == scores[bad]:
        good, bad = order[0], order[-1]
    return replace(state, old=(slate[int(good)], slate[int(bad)]))


def _limit_radius(space: Space, radius: float, scale: Vector | None) -> float:
    """Limit a radius to the extent of the space."""
    if isinstance(space, Shell):
        return min(radius, MAX_RADIUS_ON_SHELL) * (1 - 1e-9)  # never the origin
    if isinstance(space, Box):
        with np.errstate(over="ignore"):
            extent = space.upper - space.lower
            return min(radius, float(np.max(extent if scale is None else extent / scale)))
    return radius
