"""The loop of pycma with zorank's search: ask, tell and stop.

    es = EvolutionStrategy(x0, sigma0, {"seed": 1})
    while not es.stop():
        X = es.ask()
        es.tell(X, [f(x) for x in X])
    print(es.result.xbest, es.result.fbest)

Names and termination criteria are those of pycma (Hansen, Akimoto and Baudis, 2019), which is not
needed. The search uses the order of the values alone; termination and `result` use the values.
There is no logger: leave out `es.logger.add()`.
"""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zorank import optimizers
from zorank._arrays import as_numbers, as_vector
from zorank._told import value_ranks
from zorank.errors import InvalidInput, short
from zorank.integrations._pycma_options import Options, read_options
from zorank.run import Run
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["EvolutionStrategy", "StrategyResult"]


class StrategyResult(NamedTuple):
    """The fields of pycma's result."""

    xbest: Vector | None
    """The best candidate so far."""
    fbest: float
    """Its value."""
    evals_best: int | None
    """The number of evaluations when it was found."""
    evaluations: int
    """The number of values told."""
    iterations: int
    """The number of calls of `tell`."""
    xfavorite: Vector
    """The optimizer's estimate of the minimum, the better choice for a noisy function."""
    stds: Vector
    """The radius of the search, the same for every coordinate."""
    stop: dict[str, Any]
    """The termination criteria that are met."""


class EvolutionStrategy:
    """A search with the methods of pycma's CMAEvolutionStrategy.

    Args:
        x0: the start.
        sigma0: the expected distance of a better point from x0, in each coordinate.
        inopts: options of pycma: popsize, seed, bounds, ftarget, maxfevals, maxiter, timeout,
            tolfun, tolfunhist, tolstagnation, tolx, verbose, verb_disp; and `method`, a name in
            `zorank.optimizers.REGISTRY`. Other options of pycma have no effect and give a
            warning.
    """

    def __init__(
        self, x0: ArrayLike, sigma0: float, inopts: Mapping[str, Any] | None = None
    ) -> None:
        start = as_vector(x0, "x0")
        self.opts: Options = read_options(inopts, start.size)
        settings = {"sigma0": sigma0, "m": self.opts.popsize, "bounds": self.opts.bounds}
        given = {name: value for name, value in settings.items() if value is not None}
        self.run = Run(optimizers.make(self.opts.method, given), start, self.opts.seed)
        self.x0, self.sigma0, self.N = start, float(sigma0), start.size
        self._began = time.monotonic()
        self._best: tuple[Vector | None, float, int | None] = (None, math.inf, None)
        self._last = np.empty(0)
        popsize = len(self.run.ask())
        self._history: deque[float] = deque(maxlen=10 + math.ceil(30 * self.N / popsize))
        self._improved = 0
        self._maxiter = 100 + 150 * (self.N + 3) ** 2 // popsize**0.5
        self._tolstagnation = int(100 + 100 * self.N**1.5 / popsize)

    @property
    def popsize(self) -> int:
        """The number of candidates that the next `ask` returns."""
        return len(self.run.ask())

    @property
    def countevals(self) -> int:
        """The number of values told."""
        return self.run.points

    @property
    def countiter(self) -> int:
        """The number of calls of `tell`."""
        return len(self.run.history)

    @property
    def sigma(self) -> float:
        """The radius of the search."""
        rows = self.run.history[-1:]
        return float(rows[0].get("radius", math.nan)) if rows else self.sigma0

    @property
    def mean(self) -> Vector:
        """The optimizer's estimate of the minimum."""
        return self.run.best()

    @property
    def result(self) -> StrategyResult:
        """The result so far."""
        x, f, evals = self._best
        stds = np.full(self.N, self.sigma)
        return StrategyResult(
            None if x is None else x.copy(),
            f,
            evals,
            self.countevals,
            self.countiter,
            self.mean,
            stds,
            self.stop(),
        )

    def ask(self, number: int | None = None) -> list[Vector]:
        """Return the candidates to evaluate; the same ones until `tell`.

        `number` must be None: the search decides how many there are. `auto` shows two candidates
        again every tenth time.
        """
        if number is not None and number != self.popsize:
            raise InvalidInput(
                f"ask returns {self.popsize} candidates, found number={short(number)}; set the "
                'option "popsize" to change it'
            )
        return list(self.run.ask())

    def tell(self, solutions: Sequence[ArrayLike], function_values: ArrayLike) -> None:
        """Tell the values of the candidates that `ask` returned, in the order of `solutions`.

        Lower is better; NaN and infinity are last. Some candidates may be missing: they are not
        compared. Candidates that `ask` did not return are refused.
        """
        slate = np.asarray(self.run.ask())
        values = as_numbers(function_values, "function_values").reshape(-1)
        rows = as_numbers(np.asarray(solutions), "solutions").reshape(-1, self.N)
        if len(values) != len(rows) or not len(rows):
            raise InvalidInput(
                f"tell needs one value for each solution, found {len(values)} values for "
                f"{len(rows)} solutions"
            )
        places = _positions(slate, rows)
        self._tell(len(slate), places, values)
        self._last = values
        evals, here = self.countevals, int(np.argmin(np.where(np.isnan(values), np.inf, values)))
        if self._best[0] is None or values[here] < self._best[1]:
            self._best = (rows[here].copy(), float(values[here]), evals - len(values) + here + 1)
            self._improved = self.countiter
        self._history.append(float(values[here]))

    def _tell(self, m: int, places: list[int], values: Vector) -> None:
        """Answer the waiting slate; candidates without a value are not compared."""
        if len(places) == m:
            told = np.empty(m)
            told[places] = values
            self.run.tell(values=told)
            return
        ranks = np.full(m, np.nan)
        ranks[places] = value_ranks(values)
        self.run.tell(self.run.ask().answer_from(ranks))

    def stop(self) -> dict[str, Any]:
        """Return the termination criteria that are met and their settings; empty to continue."""
        opts, last = self.opts, self._last
        if not last.size:
            return {}
        full = len(self._history) == self._history.maxlen
        spread = np.ptp(self._history) if full and np.isfinite(self._history).all() else math.inf
        inside = np.ptp(last) if np.isfinite(last).all() else math.inf
        seconds = time.monotonic() - self._began
        maxiter = self._maxiter if opts.maxiter is None else opts.maxiter
        patience = self._tolstagnation if opts.tolstagnation is None else opts.tolstagnation
        met = {
            "ftarget": (self._best[1] <= opts.ftarget, opts.ftarget),
            "maxfevals": (self.countevals >= opts.maxfevals, opts.maxfevals),
            "maxiter": (self.countiter >= maxiter, maxiter),
            "timeout": (seconds >= opts.timeout, opts.timeout),
            "tolfun": (max(spread, inside) < opts.tolfun, opts.tolfun),
            "tolfunhist": (spread < opts.tolfunhist, opts.tolfunhist),
            "tolstagnation": (self.countiter - self._improved > patience, patience),
            "tolx": (self.sigma < opts.tolx or self._restarted(), opts.tolx),
        }
        return {name: setting for name, (is_met, setting) in met.items() if is_met}

    def _restarted(self) -> bool:
        """Return whether the search has converged: `auto` then starts again elsewhere."""
        return bool(self.run.history[-1].get("restarts", 0))

    def optimize(
        self,
        objective_fct: Callable[..., Any],
        maxfun: float | None = None,
        iterations: int | None = None,
        args: tuple[Any, ...] = (),
        verb_disp: int | None = None,
        callback: Callable[[EvolutionStrategy], Any] | None = None,
    ) -> EvolutionStrategy:
        """Ask and tell until a termination criterion is met, and return self.

        `maxfun` and `iterations` limit this call; `callback` is called with self after each
        iteration.
        """
        begun, evals = self.countiter, self.countevals
        while not self.stop():
            if iterations is not None and self.countiter - begun >= iterations:
                break
            if maxfun is not None and self.countevals - evals >= maxfun:
                break
            X = self.ask()
            self.tell(X, [float(objective_fct(x, *args)) for x in X])
            if self.opts.verbose > 0:
                self.disp(self.opts.verb_disp if verb_disp is None else verb_disp)
            if callback is not None:
                callback(self)
        return self

    def disp(self, modulo: int | None = None) -> None:
        """Print a line: iterations, evaluations, the best value of the last one, the radius.

        With `modulo`, only in the first three iterations and every `modulo` iterations; 0 prints
        nothing.
        """
        count = self.countiter
        shown = modulo is None or (modulo > 0 and (count <= 3 or count % modulo == 0))
        if not shown or not self._history:
            return
        if count == 1:
            sys.stdout.write("Iterat #Fevals   function value    sigma\n")
        sys.stdout.write(
            f"{count:5d} {self.countevals:7d} {self._history[-1]:.15e} {self.sigma:.2e}\n"
        )


def _positions(slate: Vector, rows: Vector) -> list[int]:
    """Return the position on the slate of each row; raise InvalidInput if one is not there."""
    if len(rows) == len(slate) and np.array_equal(rows, slate):
        return list(range(len(slate)))
    free: dict[bytes, list[int]] = {}
    for i, x in enumerate(slate):
        free.setdefault(x.tobytes(), []).append(i)
    places = []
    for i, row in enumerate(rows):
        same = free.get(row.astype(slate.dtype).tobytes())
        if not same:
            raise InvalidInput(
                f"solution {i} is not a candidate of the last ask; tell values of unchanged "
                "candidates, and repair a candidate inside of the function"
            )
        places.append(same.pop(0))
    return places
