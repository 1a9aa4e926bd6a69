"""The algorithm of `auto` where some coordinates are whole or categorical.

Directions in discrete coordinates say little: most candidates would differ in them at random, and
their ranks would tell nothing about the others. So a slate has three parts. The incumbent is the
best candidate so far. Around it, the evolution strategy of `auto_search.py` varies the real
coordinates, and whole ones while its radius is wider than their steps. Mutants differ from the
incumbent in one or a few discrete coordinates only, so that their rank is a clean comparison.
Their number follows their success. The first slate is a Latin hypercube.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank.errors import InvalidInput
from zorank.estimators import own_design, rank_weights
from zorank.optimizers.covariance import Diagonal, Full
from zorank.optimizers.mixed_genes import (
    Gene,
    Move,
    draw_move,
    freshness,
    genes_of,
    snap,
    spread,
)
from zorank.optimizers.mixed_state import DEFAULT_TUNING, MixedSlate, MixedState, MixedTuning
from zorank.slates import Slate
from zorank.types import Answer, Ranking, Vector

if TYPE_CHECKING:
    from zorank.optimizers.auto import Auto
    from zorank.optimizers.auto_search import AutoSearch
from zorank.optimizers.auto_state import AutoState


@dataclass(frozen=True, eq=False)
class MixedSearch:
    """An elitist search: a strategy for real coordinates and mutants for discrete ones.

    Attributes:
        settings: those of `auto`.
        inner: the strategy, without levels and choices.
        tuning: the constants.
    """

    settings: Auto
    inner: AutoSearch
    tuning: MixedTuning = DEFAULT_TUNING

    def init(self, x0: Vector) -> MixedState:
        """Start at x0, with discrete coordinates rounded."""
        genes = self._genes(x0.size)
        x = snap(np.clip(x0, 0.0, 1.0), genes)
        few = {g.first for g in genes if g.ordered and g.size <= self.tuning.few_levels}
        options = {g.first + i for g in genes if not g.ordered for i in range(g.size)}
        active = tuple(j for j in range(x.size) if j not in few | options)
        return MixedState(x, active, effort=max(self._most_mutants(len(active)) / 2, 1.0))

    def ask(self, state: MixedState, rng: np.random.Generator) -> Slate:
        """Show the incumbent, the strategy's candidates and mutants; at first, random points."""
        genes = self._genes(state.x.size)
        if state.rounds == 0:
            return Slate(MixedSlate(self._first_rows(state, genes, rng)), k=self._k)
        rows = [state.x] if state.champion is None else [state.x, state.champion]
        heads = len(rows)
        strategy = None
        if state.strategy is not None:
            strategy = self._strategy(state).ask(state.strategy, rng)
            for row in strategy:
                x = state.x.copy()
                x[list(state.active)] = row
                rows.append(snap(x, genes))
        moves = self._moves(state, genes, rng)
        for move in moves:
            x = state.x.copy()
            for gene, value in move:
                genes[gene].put(x, value)
            rows.append(x)
        return Slate(MixedSlate(np.array(rows), strategy, moves, heads), k=self._k)

    def tell(self, state: MixedState, slate: Slate, answer: Answer) -> MixedState:
        """Move to the winner, and adapt the strategy and the weights of moves."""
        design = own_design(slate, MixedSlate, "auto")
        scores = rank_weights(answer, len(slate))
        if state.rounds == 0:
            return self._begin(state, design, scores)
        state = replace(state, rounds=state.rounds + 1)
        if design.strategy is not None:
            state = self._tell_strategy(state, design, scores)
        if design.moves:
            state = self._tell_mutants(state, design, scores)
        return self._restart(self._freeze(self._win(state, design, scores)))

    def best(self, state: MixedState) -> Vector:
        """Return the incumbent; with a noisy judge, the strategy's centre in its coordinates."""
        if state.champion is not None:
            return state.champion.copy()
        x = state.x.copy()
        if state.strategy is not None and state.strategy.reversals:
            x[list(state.active)] = self.inner.best(state.strategy)
            snap(x, self._genes(x.size))
        return x

    def report(self, state: MixedState) -> dict[str, float]:
        """Return the strategy's report and the number of mutants."""
        found = {"radius": 0.0, "width": 0.0, "restarts": 0}
        if state.strategy is not None:
            found |= self.inner.report(state.strategy)
        return {**found, "mutants": float(round(state.effort)), "restarts": state.restarts}

    @property
    def _k(self) -> int | None:
        return self.settings.k

    def _genes(self, dim: int) -> tuple[Gene, ...]:
        levels, choices = self.settings.levels or (), self.settings.choices or ()
        if (levels and len(levels) != dim) or any(sum(block) > dim for block in choices):
            raise InvalidInput(
                f"levels and choices are for other coordinates than the {dim} of a candidate"
            )
        return genes_of(levels, choices)

    def _strategy_size(self, p: int) -> int:
        """Return the number of the strategy's candidates in p coordinates."""
        if not p:
            return 0
        m = self.inner.settings.m
        return m if m is not None else 4 + int(self.tuning.strategy_growth * math.log(p))

    def _strategy(self, state: MixedState) -> AutoSearch:
        """Return the strategy in the coordinates that it varies."""
        m = self._strategy_size(len(state.active))
        return replace(self.inner, settings=replace(self.inner.settings, m=m))

    def _first(self, state: MixedState) -> int:
        if self.settings.m is not None:
            return self.settings.m
        return int(self.tuning.first_share * max(self._strategy_size(state.x.size), 6))

    def _most_mutants(self, p: int) -> float:
        if self.settings.m is not None:
            return max(self.settings.m - 1 - self._strategy_size(p), 1)
        return max(self.tuning.most_mutants * self._strategy_size(p), 6.0)

    def _movable(self, state: MixedState, genes: tuple[Gene, ...]) -> list[int]:
        """Return the genes that mutants may change: those that the strategy does not vary."""
        return [i for i, gene in enumerate(genes) if gene.first not in state.active]

    def _moves(
        self, state: MixedState, genes: tuple[Gene, ...], rng: np.random.Generator
    ) -> tuple[Move, ...]:
        movable = self._movable(state, genes)
        if not movable:
            return ()
        left = freshness(state.x, genes, movable, state.memory)
        again = self.tuning.double + (1 - self.tuning.double) * 0.5 * (1 - left)
        moves: dict[Move, None] = {}
        number = max(round(state.effort), 1)
        for _ in range(4 * number):
            count = min(int(rng.geometric(1 - again)), len(movable))
            moves[draw_move(state.x, genes, movable, state.memory, count, rng)] = None
            if len(moves) == number:
                break
        return tuple(moves)

    def _begin(self, state: MixedState, design: MixedSlate, scores: Vector) -> MixedState:
        """Begin at the best of the first slate; a restart skips the first row, the champion."""
        first = 0 if state.champion is None else 1
        best = first + int(np.argmin(scores[first:]))
        x, champion = design.row(best), state.champion
        if champion is not None and scores[best] < scores[0]:
            champion = None
        strategy = None
        if state.active:
            strategy = self._strategy(state).init(x[list(state.active)])
            strategy = replace(strategy, step=strategy.step * self.tuning.start_scale)
        return self._freeze(replace(state, x=x, strategy=strategy, rounds=1, champion=champion))

    def _tell_strategy(self, state: MixedState, design: MixedSlate, scores: Vector) -> MixedState:
        """Tell the strategy the order of its own candidates."""
        slate: Any = design.strategy
        inner: Any = state.strategy
        own = scores[design.heads : design.heads + len(slate)]
        ranking = Ranking.from_values(own) if np.ptp(own) > 0 else Ranking.no_difference()
        strategy = self._strategy(state).tell(inner, slate, ranking)
        return replace(state, strategy=strategy)

    def _tell_mutants(self, state: MixedState, design: MixedSlate, scores: Vector) -> MixedState:
        """Adapt the number of mutants and the weights of their moves."""
        tuning, own = self.tuning, scores[len(scores) - len(design.moves) :]
        won = bool(own.min() < scores[0])
        power = tuning.forget if won else tuning.recover
        memory = {key: weight**power for key, weight in state.memory.items()}
        for move, score in zip(design.moves, own, strict=True):
            factor = tuning.lost ** (1 / len(move) ** 2) if score > scores[0] else 1.0
            for key in move:
                memory[key] = memory.get(key, 1.0) * factor
        most = self._most_mutants(len(state.active))
        effort = state.effort * (tuning.grow if won else tuning.shrink)
        return replace(state, memory=memory, effort=min(max(effort, 1.0), most))

    def _win(self, state: MixedState, design: MixedSlate, scores: Vector) -> MixedState:
        """Make the best candidate the incumbent; of equal ones, the last, which is a mutant."""
        if not scores.any():
            return state
        champion = state.champion
        others = np.delete(np.arange(len(scores)), range(1, design.heads))
        best = int(others[np.flatnonzero(scores[others] == scores[others].min())[-1]])
        if champion is not None and scores[best] < scores[1]:
            champion = None
        x = design.row(best)
        genes = self._genes(x.size)
        memory = dict(state.memory)
        for i, gene in enumerate(genes):
            if gene.value(x) != gene.value(state.x):
                memory[i, gene.value(state.x)] = self.tuning.lost
        return replace(state, x=x, memory=memory, champion=champion)

    def _restart(self, state: MixedState) -> MixedState:
        """Begin again near the best point if the search has converged and moves are exhausted."""
        strategy, genes = state.strategy, self._genes(state.x.size)
        if strategy is not None:
            radius = strategy.step * strategy.width * strategy.covariance.extent()
            if strategy.reversals or radius > self.tuning.converged:
                return state
        movable = self._movable(state, genes)
        left = freshness(state.x, genes, movable, state.memory)
        if left > self.tuning.exhausted:
            return state
        best = state.x if state.champion is None else state.champion
        return replace(self.init(best), champion=best, restarts=state.restarts + 1)

    def _first_rows(
        self, state: MixedState, genes: tuple[Gene, ...], rng: np.random.Generator
    ) -> Any:
        """Return a Latin hypercube; in a restart, points near the champion."""
        rows = spread(self._first(state), state.x, genes, rng)
        if state.champion is None:
            return rows
        real = sorted(set(range(state.x.size)) - {c for g in genes for c in g.coordinates})
        for row in rows[1:]:
            drawn = row.copy()
            row[:] = state.champion
            row[real] += self.tuning.redraw_scale * rng.standard_normal(len(real))
            row[real] = np.abs(1 - np.abs(1 - row[real]))
            for gene in genes:
                if rng.uniform() < self.tuning.redraw:
                    gene.put(row, gene.value(drawn))
        return rows

    def _freeze(self, state: MixedState) -> MixedState:
        """Take whole coordinates out of the strategy when its radius is below their steps."""
        strategy = state.strategy
        if strategy is None:
            return state
        radii = strategy.step * strategy.width * _row_norms(strategy.covariance)
        sizes = {g.first: g.size for g in self._genes(state.x.size) if g.ordered}
        kept = [
            i
            for i, j in enumerate(state.active)
            if j not in sizes or radii[i] * sizes[j] >= self.tuning.frozen
        ]
        if len(kept) == len(state.active):
            return state
        active = tuple(state.active[i] for i in kept)
        return replace(state, active=active, strategy=_project(strategy, kept) if kept else None)


def _row_norms(covariance: Any) -> Vector:
    """Return the standard deviation of every coordinate."""
    if isinstance(covariance, Diagonal):
        return covariance.scales
    return np.asarray(np.linalg.norm(covariance.matrix, axis=1))


def _project(state: AutoState, kept: list[int]) -> AutoState:
    """Return the strategy in some of its coordinates: the marginal of its distribution."""
    factor: Any = state.covariance
    matrix = np.diag(factor.scales) if isinstance(factor, Diagonal) else factor.matrix
    rows = matrix[kept]
    factor = np.linalg.cholesky(rows @ rows.T)
    size = math.exp(float(np.log(np.diagonal(factor)).mean()))
    factor = factor / size
    paths = [np.linalg.solve(factor * size, rows @ path) for path in (state.path, state.long_path)]
    return replace(
        state,
        x=state.x[kept],
        step=state.step * size,
        covariance=Full(factor),
        path=paths[0],
        long_path=paths[1],
        x0=state.x0[kept],
        old=(),
        proven=True,
        before=None,
        champion=None if state.champion is None else state.champion[kept],
        seen=(),
        model=None,
        guess=None,
    )
