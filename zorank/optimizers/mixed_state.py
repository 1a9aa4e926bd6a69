"""The constants, slates and states of `mixed_search.py`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zorank.optimizers.mixed_genes import Memory, Move
from zorank.slates import Points, Slate
from zorank.types import Vector

if TYPE_CHECKING:
    from zorank.optimizers.auto_state import AutoState


@dataclass(frozen=True)
class MixedTuning:
    """The constants of the mixed search.

    Attributes:
        strategy_growth: the strategy has 4 + this · ln p candidates in p coordinates.
        few_levels: whole numbers with at most this many values are never part of the strategy.
        frozen: a whole coordinate leaves the strategy when its radius is below this many steps.
        first_share: candidates of the first slate, as a multiple of the strategy's.
        start_scale: the strategy's first radius after the first slate, in sigma0.
        most_mutants: the largest number of mutants, as a multiple of the strategy's candidates.
        grow: factor of the number of mutants when one of them wins.
        shrink: the same when none does.
        lost: factor of the weight of a single move that lost.
        recover: power of all weights each round.
        forget: power of all weights when a mutant wins.
        double: the probability that a mutant makes another move, if no single one was tried.
        converged: a search with a smaller radius has converged.
        exhausted: moves are exhausted when their `freshness` is below this.
        redraw: the probability that a restart draws a discrete coordinate again.
        redraw_scale: how far a restart moves real coordinates.
    """

    strategy_growth: float = 1.3
    few_levels: int = 4
    frozen: float = 0.25
    first_share: float = 1.5
    start_scale: float = 0.7
    most_mutants: float = 1.0
    grow: float = 1.6
    shrink: float = 0.9
    lost: float = 0.1
    recover: float = 0.98
    forget: float = 0.8
    double: float = 0.15
    converged: float = 3e-7
    exhausted: float = 0.3
    redraw: float = 0.4
    redraw_scale: float = 0.2


DEFAULT_TUNING = MixedTuning()


@dataclass(frozen=True, eq=False)
class MixedSlate(Points):
    """The incumbent, the champion if there is one, the strategy's candidates, then the mutants.

    Attributes:
        heads: the number of rows before the strategy's.
        strategy: the slate of the strategy in its own coordinates; None without one.
        moves: what each mutant changes.
    """

    strategy: Slate | None = None
    moves: tuple[Move, ...] = ()
    heads: int = 1


@dataclass(frozen=True, eq=False)
class MixedState:
    """The state of the search.

    Attributes:
        x: the incumbent.
        active: the coordinates that the strategy varies.
        strategy: the state of the strategy in these coordinates; None if there are none, and
            before the first answer.
        effort: the number of mutants on a slate, before rounding.
        memory: weights of single moves.
        rounds: number of answered rounds since the search began or restarted.
        champion: the best point of earlier searches while the present one has not beaten it.
        restarts: number of restarts.
    """

    x: Vector
    active: tuple[int, ...]
    strategy: AutoState | None = None
    effort: float = 4.0
    memory: Memory = field(default_factory=dict)
    rounds: int = 0
    champion: Vector | None = None
    restarts: int = 0
