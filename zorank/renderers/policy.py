"""Clips of a simulated body that moves by a policy, for people who teach it a gait by ranking.

A candidate is a draw from N(0, I), scaled to the parameters of a linear policy. All clips start
from the same reset, and observations are normalised by the statistics of random policies, so a
clip depends on its candidate alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np

from zorank._arrays import is_real, is_whole
from zorank.errors import InvalidInput, short
from zorank.renderers.options import option
from zorank.renderers.pictures import check_size
from zorank.renderers.threads import on_all_cores
from zorank.rl import LearnedPolicy, PolicyProblem
from zorank.rl.clips import Shot, film_clip, prepare
from zorank.rl.environments import check_allowed
from zorank.rl.observation_statistics import ObservationStatistics
from zorank.types import Exhibit, Vector, as_vector

RANDOM_POLICIES = 16
"""How many random policies the observation statistics come from."""


@dataclass(frozen=True)
class PolicyClips:
    """A clip of an episode.

    Attributes:
        env: the id of a Gymnasium environment, such as "HalfCheetah-v4".
        seconds: the length of a clip.
        vigour: approximate standard deviation of the first candidates' actions.
        reset: the reset seed of all episodes.
        size: the width of a clip in pixels.
    """

    env: str = option("HalfCheetah-v4", "A Gymnasium environment.", more=False)
    seconds: float = option(5.0, "The length of a clip.")
    vigour: float = option(0.5, "The strength of the first candidates' actions.")
    reset: int = option(0, "The reset seed of all episodes.")
    size: int = option(320, "The width of a clip in pixels.")

    # Without annotations these are not fields: a stored configuration has only the options.
    title = "Gait"
    description = "A simulated body learns to move as you like it: rank clips of its gait."
    export_name = "policy.json"
    media_type = "video/mp4"

    def __post_init__(self) -> None:
        for name, (low, high) in {"seconds": (0.2, 60), "vigour": (0.01, 100)}.items():
            found: Any = getattr(self, name)
            if not is_real(found) or not low <= found <= high:
                raise InvalidInput(f"{name} must be from {low} to {high}, found {short(found)}")
        if not isinstance(self.env, str) or not self.env:
            raise InvalidInput(f"env must be the id of an environment, found {short(self.env)}")
        check_allowed(self.env)
        reset: Any = self.reset
        if not is_whole(reset) or not 0 <= reset < 2**31:
            raise InvalidInput(
                f"reset must be a whole number from 0 to 2³¹ − 1, found {short(reset)}"
            )
        object.__setattr__(self, "size", check_size(self.size))

    @property
    def problem(self) -> PolicyProblem:
        """The environment and the kind of policy."""
        return PolicyProblem(self.env)

    @property
    def dim(self) -> int:
        """The number of parameters of a policy."""
        return self.problem.dim

    def check(self) -> None:
        """Raise InvalidInput if the environment cannot be made."""
        _ = self.dim

    def warm_up(self) -> None:
        """Find a graphics backend and compute the observation statistics."""
        prepare(self.env)
        _statistics(self.env)

    def policy(self, candidate: Vector) -> LearnedPolicy:
        """Return a candidate's policy: observation → action."""
        vector = as_vector(candidate, "a policy's candidate")
        if vector.size != self.dim:
            raise InvalidInput(
                f"a policy of {self.env} needs a candidate of {self.dim} numbers, "
                f"found {vector.size}"
            )
        statistics = _statistics(self.env)
        scale = self.vigour / np.sqrt(statistics.mean.size)
        space = self.problem.environment.action_space
        return LearnedPolicy(self.problem, scale * vector, statistics, space)

    def export(self, candidate: Vector) -> bytes:
        """Return the policy as a file for `load_policy` and `zorank rl replay`."""
        return json.dumps(self.policy(candidate).to_json()).encode()

    def render(self, candidates: Iterable[Vector]) -> list[Exhibit]:
        """Return an MP4 clip for each candidate, in their order."""
        height = self.size * 3 // 4
        shot = Shot(self.env, self.reset, self.seconds, height, self.size)

        def film(candidate: Vector) -> Exhibit:
            return Exhibit("video/mp4", film_clip(shot, self.policy(candidate)))

        return on_all_cores(film, candidates)


_lock = Lock()


def _statistics(env: str) -> ObservationStatistics:
    """Return the observation statistics of random policies; one thread computes them."""
    with _lock:
        return _random_statistics(env)


@lru_cache(maxsize=8)
def _random_statistics(env: str) -> ObservationStatistics:
    """Run random policies twice: small ones unnormalised, then normalised by the first."""
    problem = PolicyProblem(env)
    rng = np.random.default_rng(0)
    statistics = problem.initial_statistics()
    resets = list(range(RANDOM_POLICIES))
    for scale in (0.1, 1.0):
        draws = scale * rng.standard_normal((RANDOM_POLICIES, problem.dim))
        rows = draws / np.sqrt(problem.environment.inputs)
        statistics = statistics + problem.episodes(list(rows), resets, statistics).statistics
    return statistics


__all__ = ["PolicyClips"]
