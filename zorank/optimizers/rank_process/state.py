"""The state of rank-process: candidates, their distances, and everything inferred from answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from zorank._recipes import DerivedVector, LoggedVector
from zorank.optimizers.rank_process.comparisons import Comparisons
from zorank.optimizers.rank_process.hyperparameters import Hyperparameters, WeightedHyperparameters
from zorank.slates import Slate
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zorank.optimizers.rank_process.posterior import Posterior
    from zorank.optimizers.rank_process.proposals import Peak

MAX_COMPARISONS = 320
"""The oldest answers beyond this are dropped, so that the cost of a round stays bounded."""

DEFAULT = Hyperparameters()


@dataclass(frozen=True, eq=False)
class ProcessState:
    """All answers so far and the posterior given them.

    Attributes:
        x0: the start.
        candidates: all candidates that the comparisons refer to.
        sq_norms: their |x|², in units of sigma0².
        half_sq_dists: |x_i − x_j|²/2d between them, in units of sigma0², (n, n).
        comparisons: of these candidates.
        raters: the names of the raters.
        answers: the number of answers so far.
        hyperparameters: the current estimate.
        weighted: the alternatives that were evaluated, with their posterior probabilities.
        posterior: of the utility; None before the first comparison.
        best: the index of the candidate with the highest posterior mean.
        runner_up: the index of the second best.
        best_changed: whether the last answer changed the best candidate.
        peak: the maximiser of the posterior mean along its gradient, if it improves on the best.
        asked_pair: whether the last slate was a pair.
        start: how x0 was made from the x0 of the run.
    """

    x0: Vector
    candidates: tuple[Vector, ...] = ()
    sq_norms: Vector = field(default_factory=lambda: np.zeros(0))
    half_sq_dists: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    comparisons: Comparisons = field(default_factory=Comparisons.empty)
    raters: tuple[str, ...] = ()
    answers: int = 0
    hyperparameters: Hyperparameters = DEFAULT
    weighted: WeightedHyperparameters = ((1.0, DEFAULT),)
    posterior: Posterior | None = None
    best: int = 0
    runner_up: int = 0
    best_changed: bool = False
    peak: Peak | None = None
    asked_pair: bool = False
    start: LoggedVector | None = None

    def candidate(self, i: int) -> DerivedVector:
        """Return candidate i as the log refers to it; the start if there are none yet."""
        if self.candidates:
            return DerivedVector(self.candidates[i], LoggedVector(self.candidates[i]))
        return DerivedVector(self.x0, self.start or LoggedVector(self.x0))


def half_sq_dists(
    candidates: Sequence[Vector],
    sq_norms: Vector,
    points: NDArray[np.float64],
    sigma0: float,
) -> NDArray[np.float64]:
    """Return |x − y|²/2d from every point x to every candidate y; exactly 0 only for equal x, y.

    The squared norms |y|² and the result are in units of sigma0².
    """
    scaled = points / sigma0**2
    dists = np.array([scaled @ y for y in candidates]).T * -2.0
    own = np.array([sq_norm(x, sigma0) for x in points])[:, None]
    dists += own + sq_norms
    for i, j in np.argwhere(dists < 1e-6 * own).tolist():  # cancellation: compute it directly
        dists[i, j] = sq_norm(candidates[j] - points[i], sigma0)
    dists /= 2.0 * points.shape[1]
    return dists


def sq_norm(x: Vector, sigma0: float) -> float:
    """Return |x|² in units of sigma0²."""
    x = x / sigma0
    return float(x @ x)


def add_candidates(
    state: ProcessState, slate: Slate, sigma0: float
) -> tuple[ProcessState, list[int]]:
    """Add the candidates of a slate that are new; also return the index of each of the slate's."""
    n, shown = len(state.candidates), np.asarray(slate)
    sq_norms = np.concatenate([state.sq_norms, [sq_norm(x, sigma0) for x in shown]])
    candidates = [*state.candidates, *shown]
    rows = half_sq_dists(candidates, sq_norms, shown, sigma0)
    is_new = ~np.tril(rows[:, n:] == 0.0, -1).any(axis=1) & rows[:, :n].all(axis=1)
    kept = np.concatenate([np.arange(n), n + np.flatnonzero(is_new)])
    dists = np.zeros((len(candidates), len(candidates)))
    dists[:n, :n] = state.half_sq_dists
    dists[n:] = rows
    dists[:, n:] = rows.T
    extended = replace(
        state,
        candidates=(*state.candidates, *(_frozen(shown[i]) for i in np.flatnonzero(is_new))),
        sq_norms=sq_norms[kept],
        half_sq_dists=dists[np.ix_(kept, kept)],
    )
    return extended, [int(row.argmin()) for row in rows[:, kept]]


def _frozen(x: Vector) -> Vector:
    """Return a read-only copy; a view would keep the whole slate in memory."""
    x = x.copy()
    x.setflags(write=False)
    return x


def forget_oldest(state: ProcessState) -> ProcessState:
    """Drop the oldest answers beyond MAX_COMPARISONS, and the candidates only they refer to."""
    comparisons, posterior = state.comparisons, state.posterior
    if len(comparisons) <= MAX_COMPARISONS:
        return state
    newest = int(comparisons.ballot[-1])
    kept = comparisons.ballot > min(int(comparisons.ballot[-MAX_COMPARISONS - 1]), newest - 1)
    comparisons = comparisons.select(kept)
    rows = np.unique(np.concatenate([comparisons.better, comparisons.worse, [state.best]]))
    if posterior is not None:
        posterior = replace(posterior, sites=posterior.sites[:, kept[: posterior.sites.shape[1]]])
    return replace(
        state,
        candidates=tuple(state.candidates[i] for i in rows),
        sq_norms=state.sq_norms[rows],
        half_sq_dists=state.half_sq_dists[np.ix_(rows, rows)],
        comparisons=comparisons.reindex(rows),
        best=int(np.searchsorted(rows, state.best)),
        posterior=posterior,
    )
