"""Noisy oracles: Gaussian noise, Plackett–Luce choice, random swaps, a just noticeable difference.

The noise is a function of the seed and of the slate. Asked the same question again, as after a
crash, a noisy oracle gives the same answer. Different slates get independent noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from zorank import rng
from zorank._arrays import is_real
from zorank.errors import InvalidInput, short
from zorank.executors import Objective, evaluate
from zorank.protocols import Oracle
from zorank.slates import Slate
from zorank.types import Answer, Ranking, Vector


@dataclass(frozen=True)
class GaussianNoise:
    """Adds N(0, sd²) noise to every value before ranking (the paper, appendix C.3)."""

    f: Objective
    sd: float
    seed: int = 0
    k: int | None = None
    vectorized: bool = False

    def __post_init__(self) -> None:
        _check(self.sd, "sd must be 0 or more", lambda sd: sd >= 0)

    def answer(self, slate: Slate) -> Answer:
        """Return the answer from noisy values."""
        values = evaluate(self.f, slate, vectorized=self.vectorized)
        noise = self.sd * _noise(self.seed, slate).standard_normal(len(slate))
        return slate.answer_from(values + noise, self.k)


@dataclass(frozen=True)
class PlackettLuce:
    """Chooses the best with probability ∝ exp(−f/temperature), then the next best, and so on."""

    f: Objective
    temperature: float
    seed: int = 0
    k: int | None = None
    vectorized: bool = False

    def __post_init__(self) -> None:
        _check(self.temperature, "temperature must be above 0", lambda t: t > 0)

    def answer(self, slate: Slate) -> Answer:
        """Return the answer; sorting by values with Gumbel noise is Plackett–Luce choice."""
        values = evaluate(self.f, slate, vectorized=self.vectorized)
        gumbel = _noise(self.seed, slate).gumbel(size=len(slate))
        return slate.answer_from(values - self.temperature * gumbel, self.k)


@dataclass(frozen=True)
class RandomSwaps:
    """Swaps neighbouring ranks of another oracle's answers, each pair with this probability.

    Neighbouring pairs are swapped one after another, from the best pair to the worst.
    The last ranked candidate may change places with an unranked one.
    """

    judge: Oracle
    probability: float
    seed: int = 0

    def __post_init__(self) -> None:
        _check(self.probability, "probability must be from 0 to 1", lambda p: 0 <= p <= 1)

    def answer(self, slate: Slate) -> Answer:
        """Return the oracle's answer after the swaps."""
        answer = self.judge.answer(slate)
        if not isinstance(answer, Ranking) or answer.worst or answer.among is not None:
            raise InvalidInput(f"RandomSwaps needs a ranking, best first, found {short(answer)}")
        draws = _noise(self.seed, slate)
        order = list(answer.best)
        unnamed = sorted(set(range(len(slate))) - set(answer.named))
        if unnamed:
            order.append((int(draws.choice(unnamed)),))
        for i in range(len(order) - 1):
            if draws.random() < self.probability:
                order[i], order[i + 1] = order[i + 1], order[i]
        return Ranking(tuple(order[: len(answer.best)]))


@dataclass(frozen=True)
class JustNoticeable:
    """Ties values that differ by less than a threshold (`tie_within`).

    If all of them tie, the answer is "no difference".
    """

    f: Objective
    threshold: float
    k: int | None = None
    vectorized: bool = False

    def __post_init__(self) -> None:
        _check(self.threshold, "threshold must be 0 or more", lambda t: t >= 0)

    def answer(self, slate: Slate) -> Answer:
        """Return the answer, with ties of close values."""
        values = evaluate(self.f, slate, vectorized=self.vectorized)
        seen = tie_within(values, self.threshold)
        if np.ptp(seen) == 0 and slate.question != "values":
            return Ranking.no_difference()
        return slate.answer_from(seen, self.k)


def tie_within(values: Vector, threshold: float) -> Vector:
    """Group values that differ by at most the threshold, so that each group ties.

    In ascending order, a group starts at its best value and contains all values within the
    threshold of it. All of them become the best value.
    """
    seen = values.copy()
    anchor = values.min()
    for i in np.argsort(values, kind="stable"):
        if values[i] - anchor > threshold:
            anchor = values[i]
        seen[i] = anchor
    return seen


def _noise(seed: int, slate: Slate) -> np.random.Generator:
    # A repeated search from x* has the same first candidate, but hardly the same last one.
    return rng.for_content(seed, slate.question.encode(), slate[0].tobytes(), slate[-1].tobytes())


def _check(value: object, wanted: str, fits: Callable[[Any], bool]) -> None:
    if not is_real(value) or not fits(value):
        raise InvalidInput(f"{wanted}, found {short(value)}")
