"""Simulated raters: a hidden utility, noisy answers, and a session with one method.

Utility is standardised over random pictures. So gains, noise and just noticeable differences are
comparable between tastes and dimensions. The seed and the round determine all random draws: every
method meets the same first slate and the same noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np

from zorank import rng
from zorank._run_slates import ask_optimizer, with_looks
from zorank.errors import InvalidInput, unknown_name
from zorank.oracles.noisy import tie_within
from zorank.problems import HiddenDirections, SineFeatures
from zorank.protocols import AnyOptimizer, Looks
from zorank.slates import Shell, Slate
from zorank.types import Answer, Ranking, Vector

UTILITIES: dict[str, Callable[[int, int], Callable[[Vector], Any]]] = {
    "hidden": HiddenDirections,
    "sine": SineFeatures,
}
RANDOM_PICTURES = 400
"""The number of random candidates that the mean and standard deviation are estimated from."""


@dataclass(frozen=True, eq=False)
class Taste:
    """A loss, standardised to mean 0 and sd 1 over random pictures."""

    f: Callable[[Vector], Any]
    mean: float
    sd: float

    def __call__(self, x: Vector) -> Any:
        """Return the loss of one candidate, (d,), or of many, (n, d)."""
        return (self.f(x) - self.mean) / self.sd


@lru_cache(maxsize=2)
def make_taste(utility: str, dim: int, seed: int) -> Taste:
    """Return a taste by name, dimension and seed; cached, because trials share it."""
    if utility not in UTILITIES:
        raise unknown_name("utility", utility, UTILITIES)
    f = UTILITIES[utility](dim, seed)
    draws, shell = rng.for_content(seed, b"random pictures"), Shell()
    values = [f(shell.place(draws.standard_normal(dim))) for _ in range(RANDOM_PICTURES)]
    return Taste(f, float(np.mean(values)), float(np.std(values)))


@dataclass(frozen=True)
class SimulatedRater:
    """How a simulated rater answers; by default without any error.

    Attributes:
        noise: the standard deviation of the error with which a picture is seen.
        jnd: just noticeable difference. Pictures that are closer tie; if all tie, the answer is
            "no difference".
        fatigue: relative growth of the noise per answer.
        lapse: the probability of a random answer.
        k: only the best k are ranked; None ranks all.
    """

    noise: float = 0.0
    jnd: float = 0.0
    fatigue: float = 0.0
    lapse: float = 0.0
    k: int | None = None

    def __post_init__(self) -> None:
        for name in ("noise", "jnd", "fatigue", "lapse"):
            value = getattr(self, name)
            if not 0 <= value < np.inf or (name == "lapse" and value > 1):
                top = "from 0 to 1" if name == "lapse" else "a finite number, 0 or more"
                raise InvalidInput(f"a simulated rater's {name} must be {top}, found {value}")

    def answer(self, slate: Slate, values: Vector, draws: np.random.Generator, n: int) -> Answer:
        """Answer question n of a session (from 0) about candidates of these values.

        Every answer uses the same number of draws, so raters that differ in one attribute share
        all other randomness.
        """
        look, chance, random_order = (
            draws.standard_normal(len(slate)),
            draws.random(),
            draws.permutation(len(slate)).astype(np.float64),
        )
        seen = values + self.noise * (1 + self.fatigue * n) * look
        seen = tie_within(seen, self.jnd)
        if chance < self.lapse:
            seen = random_order
        if slate.question != "values" and len(slate) > 1 and np.ptp(seen) == 0:
            return Ranking.no_difference()
        return slate.answer_from(seen, self.k)


@dataclass(frozen=True)
class SessionResult:
    """The results of a session of one rater with one method.

    Attributes:
        gains: utility of the method's best after every answer, in sd above a random picture.
        noises: the method's estimate of the noise after every answer; None without an estimate.
        seconds: the longest time that the method took for ask and tell.
        typical_seconds: the median of these times.
    """

    gains: tuple[float, ...]
    noises: tuple[float | None, ...]
    seconds: float
    typical_seconds: float


def first_candidate(seed: int, dim: int) -> Vector:
    """Return the candidate at which a session with this seed begins."""
    return rng.for_content(seed, b"before the start").standard_normal(dim)


def run_session(
    optimizer: AnyOptimizer,
    taste: Taste,
    dim: int,
    rater: SimulatedRater,
    slates: int,
    seed: int,
    watch: Callable[[Vector], None] | None = None,
    looks: Looks | None = None,
) -> SessionResult:
    """Let a method ask a rater with this taste about a number of slates.

    `watch` is called with the method's best after every answer. `looks` describes what candidates
    look like, for methods that use it.
    """
    state = optimizer.init(first_candidate(seed, dim))
    gains, noises, took = [], [], []
    for n in range(slates):
        began = perf_counter()
        slate = ask_optimizer(optimizer, state, rng.for_round(seed, n), looks)
        slate = with_looks(optimizer, state, slate, n, looks)
        asked = perf_counter()
        eye = rng.for_content(seed, b"eye", n.to_bytes(4, "little"))
        answer = rater.answer(slate, taste(np.asarray(slate)), eye, n)
        answered = perf_counter()
        state = optimizer.tell(state, slate, answer)
        took.append(asked - began + perf_counter() - answered)
        best = optimizer.best(state)
        gains.append(-float(taste(best)))
        if watch is not None:
            watch(best)
        noise = optimizer.report(state).get("noise")
        noises.append(None if noise is None else float(noise))
    return SessionResult(tuple(gains), tuple(noises), max(took), float(np.median(took)))
