"""Clips of a body that moves by a policy: what people rank when they teach a gait.

A candidate is a draw of N(0, I), scaled to the parameters of a linear policy. Every clip starts
from the same reset, and observations are divided by what random policies saw, so that a candidate
alone decides its clip.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from numbers import Integral, Real
from threading import Lock
from typing import Any

import numpy as np

from zorank.errors import InvalidInput
from zorank.problems.policies import LearnedPolicy, PolicyProblem
from zorank.problems.policies.moments import Moments
from zorank.renderers.options import option
from zorank.renderers.pictures import check_size
from zorank.renderers.policy import film
from zorank.renderers.threads import on_all_cores
from zorank.types import Exhibit, Vector, as_vector

TRIED = 16
"""Random policies whose observations say what is usual."""


@dataclass(frozen=True)
class PolicyClips:
    """An episode of a policy, filmed.

    Attributes:
        env: a Gymnasium environment, such as "HalfCheetah-v4".
        seconds: how much of an episode is shown.
        vigour: how strongly the first candidates act; 1 is a standard deviation of an action.
        reset: where every episode starts.
        size: pixels of a clip's width.
    """

    env: str = option("HalfCheetah-v4", "A Gymnasium environment.", more=False)
    seconds: float = option(5.0, "How much of an episode is shown.")
    vigour: float = option(0.5, "How strongly the first candidates act.")
    reset: int = option(0, "Where every episode starts.")
    size: int = option(320, "Pixels of a clip's width.")

    # Without annotations these are no fields, so a stored configuration holds only what varies.
    space = "gaussian"
    media_type = "video/mp4"
    title = "Gait"
    export_name = "policy.json"
    description = "A simulated body learns to move as you like it: rank clips of how it goes."

    def __post_init__(self) -> None:
        for name, (low, high) in {"seconds": (0.2, 60), "vigour": (0.01, 100)}.items():
            found: Any = getattr(self, name)
            if not isinstance(found, Real) or not low <= float(found) <= high:
                raise InvalidInput(f"{name} must be from {low} to {high}, found {found!r}")
        if not isinstance(self.env, str) or not self.env:
            raise InvalidInput(f"env is the name of an environment, found {self.env!r}")
        reset: Any = self.reset
        if not isinstance(reset, Integral) or not 0 <= int(reset) < 2**31:
            raise InvalidInput(f"reset is a whole number from 0 on, found {reset!r}")
        object.__setattr__(self, "size", check_size(self.size))

    @property
    def problem(self) -> PolicyProblem:
        """The policies that candidates stand for."""
        return PolicyProblem(self.env)

    @property
    def dim(self) -> int:
        """The number of parameters of a policy."""
        return self.problem.dim

    def check(self) -> None:
        """Say early if the environment is not there."""
        _ = self.dim

    def warm_up(self) -> None:
        """Find a way to draw, and what random policies see."""
        film.way_to_film(self.env)
        _usual(self.env)

    def policy(self, candidate: Vector) -> LearnedPolicy:
        """What a candidate does: observation → action."""
        vector = as_vector(candidate, "a policy's candidate")
        if vector.size != self.dim:
            raise InvalidInput(
                f"a policy of {self.env} needs a candidate of {self.dim} numbers, "
                f"found {vector.size}"
            )
        seen = _usual(self.env)
        scale = self.vigour / np.sqrt(seen.mean.size)
        return LearnedPolicy(self.problem, scale * vector, seen, self.problem.world.action)

    def export(self, candidate: Vector) -> bytes:
        """The policy as a file that `load_policy` and `zorank rl replay` read."""
        return json.dumps(self.policy(candidate).as_note()).encode()

    def render(self, candidates: Iterable[Vector]) -> list[Exhibit]:
        """One MP4 clip for each candidate, in their order."""
        height = self.size * 3 // 4

        def filmed(candidate: Vector) -> Exhibit:
            act = self.policy(candidate)
            shown = film.clip(self.env, act, self.reset, self.seconds, height, self.size)
            return Exhibit("video/mp4", shown)

        return on_all_cores(filmed, candidates)


_once = Lock()


def _usual(env: str) -> Moments:
    """What random policies see."""
    with _once:
        return _seen_by_random(env)


@lru_cache(maxsize=8)
def _seen_by_random(env: str) -> Moments:
    """First blindly, then by what the others saw."""
    problem = PolicyProblem(env)
    draw = np.random.default_rng(0)
    seen = problem.nothing_seen()
    for scale in (0.1, 1.0):
        rows = scale * draw.standard_normal((TRIED, problem.dim)) / np.sqrt(problem.world.inputs)
        seen = seen + problem.episodes(list(rows), list(range(TRIED)), seen).seen
    return seen


__all__ = ["PolicyClips"]
