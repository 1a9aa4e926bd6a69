"""A simulated person: a hidden taste, an eye that errs, and one session of answers.

Utility is measured in standard deviations among random pictures, so that a gain, a judge's noise
and a difference that can just be noticed mean the same for every taste and dimension. All that is
random comes from the seed and the number of the round: whatever method asks, it meets the same
first slate and the same eye.
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
"""How many random candidates tell the mean and the standard deviation of a utility."""


@dataclass(frozen=True, eq=False)
class Taste:
    """A utility on the scale of random pictures: mean 0, sd 1, smaller is better."""

    f: Callable[[Vector], Any]
    mean: float
    sd: float

    def __call__(self, x: Vector) -> Any:
        """How many standard deviations worse than a random picture; of one or of many."""
        return (self.f(x) - self.mean) / self.sd


@lru_cache(maxsize=2)
def taste(utility: str, dim: int, seed: int) -> Taste:
    """The taste that a name, a dimension and a seed stand for; kept, as cells come in groups."""
    if utility not in UTILITIES:
        raise unknown_name("utility", utility, UTILITIES)
    f = UTILITIES[utility](dim, seed)
    draws, shell = rng.for_content(seed, b"random pictures"), Shell()
    values = [f(shell.place(draws.standard_normal(dim))) for _ in range(RANDOM_PICTURES)]
    return Taste(f, float(np.mean(values)), float(np.std(values)))


@dataclass(frozen=True)
class Judge:
    """How a simulated person sees and answers; the defaults see everything and never tire.

    Attributes:
        noise: the standard deviation of each look at a picture.
        jnd: pictures that look closer than this tie; if all do, the answer is "no difference".
        fatigue: by what share of itself the noise grows with every answer.
        lapse: the share of answers that are a random order.
        k: names only the best k; None names all.
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
                raise InvalidInput(f"a judge's {name} must be {top}, found {value}")

    def answer(self, slate: Slate, values: Vector, draws: np.random.Generator, n: int) -> Answer:
        """The answer to the n-th question of a session (from 0) about pictures of these values.

        Every answer takes the same draws, so that judges who differ in one habit share the rest.
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
class Session:
    """What one person and one method did together.

    Attributes:
        gains: utility of the method's best after every answer, in sd above a random picture.
        noises: the judge's noise as the method estimates it then; None where it does not.
        seconds: the longest time the method took to ask and to learn from the answer.
        typical_seconds: the median of these times.
    """

    gains: tuple[float, ...]
    noises: tuple[float | None, ...]
    seconds: float
    typical_seconds: float


def hold_session(
    optimizer: AnyOptimizer,
    liking: Taste,
    dim: int,
    judge: Judge,
    slates: int,
    seed: int,
    watch: Callable[[Vector], None] | None = None,
    looks: Looks | None = None,
) -> Session:
    """Let a method ask this many questions of a judge with this taste.

    `watch` is told the method's best after every answer. `looks` is what candidates look like, for
    methods that use it.
    """
    state = optimizer.init(rng.for_content(seed, b"before the start").standard_normal(dim))
    gains, noises, took = [], [], []
    for n in range(slates):
        began = perf_counter()
        slate = ask_optimizer(optimizer, state, rng.for_round(seed, n), looks)
        slate = with_looks(optimizer, state, slate, n, looks)
        asked = perf_counter()
        eye = rng.for_content(seed, b"eye", n.to_bytes(4, "little"))
        answer = judge.answer(slate, liking(np.asarray(slate)), eye, n)
        answered = perf_counter()
        state = optimizer.tell(state, slate, answer)
        took.append(asked - began + perf_counter() - answered)
        best = optimizer.best(state)
        gains.append(-float(liking(best)))
        if watch is not None:
            watch(best)
        noise = optimizer.report(state).get("noise")
        noises.append(None if noise is None else float(noise))
    return Session(tuple(gains), tuple(noises), max(took), float(np.median(took)))
