"""The search problem: policies of one kind in one environment, judged by ranked episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from zorank import rng
from zorank.errors import InvalidInput, short
from zorank.rl.batched import TASKS, BatchedEnvironment
from zorank.rl.environments import Environment, Episodes, GymnasiumEnvironment
from zorank.rl.observation_statistics import ObservationStatistics
from zorank.rl.policy import Array, Policy
from zorank.types import Vector

FIRST_HELD_OUT = 2**31
"""Reset seeds from here on are for evaluation only."""

MAX_PARAMETERS = 10**8
"""The largest policy: a slate of more parameters does not fit into memory."""


class EpisodeBatch(NamedTuple):
    """Candidates, the reset seed of each one's episode, and the statistics that they share."""

    candidates: Sequence[Vector]
    resets: Sequence[int]
    statistics: ObservationStatistics


@dataclass(frozen=True)
class PolicyProblem:
    """Policies of one kind in one environment.

    Attributes:
        env: the id of a Gymnasium environment, such as "Swimmer-v4".
        hidden: the widths of hidden layers; () is a linear policy.
        bias: whether each layer adds a constant, as in the paper.
        normalise: whether observations are normalised by their running statistics, as in ARS.
        shared: whether all episodes of a round start from the same reset, so that the order
            depends on the policies and not on luck.
        horizon: the number of steps of an episode; None is the environment's own limit.
        clip: whether actions are clipped to the environment's bounds. MuJoCo clips the forces
            anyway, but charges the control cost of unclipped actions.
        ranked_steps: how many steps of an episode are simulated to rank it; None is all of them.
            The reward is always that of whole episodes.
    """

    env: str
    hidden: tuple[int, ...] = ()
    bias: bool = False
    normalise: bool = True
    shared: bool = True
    horizon: int | None = None
    clip: bool = True
    ranked_steps: int | None = None

    def __post_init__(self) -> None:
        env: Any = self.env
        if not isinstance(env, str) or not env:
            raise InvalidInput(f"env must be the id of an environment, found {short(env)}")
        hidden: Any = self.hidden
        if not isinstance(hidden, list | tuple) or not all(_is_count(width) for width in hidden):
            raise InvalidInput(
                f"hidden must be a list of widths of 1 or more, found {short(hidden)}"
            )
        object.__setattr__(self, "hidden", tuple(hidden))
        for name in ("bias", "normalise", "shared", "clip"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidInput(
                    f"{name} must be true or false, found {short(getattr(self, name))}"
                )
        for name in ("horizon", "ranked_steps"):
            steps = getattr(self, name)
            if steps is not None and not _is_count(steps):
                raise InvalidInput(f"{name} must be 1 step or more, found {short(steps)}")

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PolicyProblem:
        """Restore what `to_json` wrote; old data without "clip" means unclipped actions."""
        try:
            return cls(**{"clip": False, **data})
        except TypeError as error:
            raise InvalidInput(
                f"{short(data)} is not a policy problem that zorank wrote: {error}"
            ) from error

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "hidden": list(self.hidden)}

    @property
    def environment(self) -> Environment:
        """The environment, with whole episodes."""
        return _environment(self.env, self.horizon, self.clip)

    @property
    def _ranking_environment(self) -> Environment:
        """The environment, with episodes of `ranked_steps`."""
        whole = self.environment.horizon
        return _environment(self.env, min(self.ranked_steps or whole, whole), self.clip)

    @property
    def ranked_share(self) -> float:
        """The share of an episode that is simulated to rank it."""
        return self._ranking_environment.horizon / self.environment.horizon

    @cached_property
    def policy(self) -> Policy:
        """The function that a parameter vector defines."""
        environment = self.environment
        outputs = environment.action_space.outputs
        policy = Policy(environment.inputs, outputs, self.hidden, self.bias)
        if policy.dim > MAX_PARAMETERS:
            raise InvalidInput(
                f"a policy with these hidden layers has more than {MAX_PARAMETERS:,} parameters; "
                "make them narrower"
            )
        return policy

    @property
    def dim(self) -> int:
        """The number of parameters."""
        return self.policy.dim

    def start(self) -> Vector:
        """Return the initial parameters of a search."""
        return self.policy.start()

    def initial_statistics(self) -> ObservationStatistics:
        """Return the observation statistics before the first episode."""
        return ObservationStatistics.empty(self.environment.inputs)

    def resets(self, seed: int, index: int, many: int) -> list[int]:
        """Return the reset seeds of round `index`: all the same if `shared`."""
        draw = rng.for_content(seed, b"resets", index.to_bytes(8, "little"))
        found = draw.integers(FIRST_HELD_OUT, size=many).tolist()
        return [found[0]] * many if self.shared else found

    def held_out(self, many: int) -> list[int]:
        """Return the reset seeds for evaluation, the same for every run."""
        return [FIRST_HELD_OUT + number for number in range(many)]

    def episodes(
        self,
        candidates: Sequence[Vector],
        resets: Sequence[int],
        statistics: ObservationStatistics,
    ) -> Episodes:
        """Run the episodes to rank, one for each candidate."""
        return self.batched_episodes([EpisodeBatch(candidates, resets, statistics)])[0]

    def batched_episodes(
        self, batches: Sequence[EpisodeBatch], *, whole: bool = False
    ) -> list[Episodes]:
        """Run the episodes of several independent batches in one simulation.

        The results are those of one batch at a time, bit for bit, in less time. `whole` episodes
        ignore `ranked_steps`.
        """
        layers = self.policy.layers([x for batch in batches for x in batch.candidates])
        sizes = [len(batch.candidates) for batch in batches]
        means = np.repeat([batch.statistics.mean for batch in batches], sizes, axis=0)
        stds = np.repeat([batch.statistics.std for batch in batches], sizes, axis=0)
        arrays = [*layers, means, stds]

        def act(observations: Array, which: Any) -> Array:
            selected = arrays if len(which) == len(means) else [array[which] for array in arrays]
            *weights, mean, std = selected
            if self.normalise:
                observations = (observations - mean) / std
            return self.policy.act(weights, observations)

        environment = self.environment if whole else self._ranking_environment
        episodes = environment.episodes(act, [n for batch in batches for n in batch.resets])
        return [episodes[start:end] for start, end in pairwise(np.cumsum([0, *sizes]))]

    def reward(
        self, candidate: Vector, statistics: ObservationStatistics, episodes: int = 10
    ) -> float:
        """Return the mean return on held-out resets; the search never uses it."""
        return self.rewards([(candidate, statistics)], episodes)[0]

    def rewards(
        self, policies: Sequence[tuple[Vector, ObservationStatistics]], episodes: int = 10
    ) -> list[float]:
        """Return the mean return of each policy on the same held-out resets."""
        if not _is_count(episodes):
            raise InvalidInput(f"episodes must be 1 or more, found {short(episodes)}")
        resets = self.held_out(episodes)
        batches = [EpisodeBatch([x] * episodes, resets, stats) for x, stats in policies]
        found = self.batched_episodes(batches, whole=True)
        return [float(np.mean(one.returns)) for one in found]


def _is_count(found: Any) -> bool:
    return isinstance(found, int) and not isinstance(found, bool) and found >= 1


def losses(returns: Vector) -> Vector:
    """Return the negative returns; a diverged episode is worse than all others."""
    finite = np.isfinite(returns)
    if not finite.any():
        return np.zeros(len(returns))
    worst = -returns[finite].min()
    return np.where(finite, -returns, worst + 1.0 + abs(worst))


@lru_cache(maxsize=16)
def _environment(env: str, horizon: int | None, clip: bool) -> Environment:
    return (BatchedEnvironment if env in TASKS else GymnasiumEnvironment)(env, horizon, clip)
