"""A policy to be found from the order of its episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from zorank import rng
from zorank.errors import InvalidInput
from zorank.problems.policies.batched import BODIES, BatchedWorld
from zorank.problems.policies.moments import Moments
from zorank.problems.policies.policy import Array, Policy
from zorank.problems.policies.worlds import Episodes, GymnasiumWorld, World
from zorank.types import Vector

Round: TypeAlias = tuple[Sequence[Vector], Sequence[int], Moments]
"""Candidates, where their episodes start, and what was seen before."""

HELD_OUT = 2**31
"""Resets from here on are never learned from."""


@dataclass(frozen=True)
class PolicyProblem:
    """Policies of one kind in one environment.

    Attributes:
        env: a Gymnasium environment, such as "Swimmer-v4".
        hidden: widths of hidden layers; none is a linear policy.
        bias: whether layers have a constant, as in the paper.
        normalise: whether observations are divided by what was seen so far, as in ARS.
        shared: whether the episodes of a question start alike; then the better policy wins,
            not the luckier start.
        horizon: steps of an episode; None is the environment's own.
        clip: whether actions are cut to the environment's box. MuJoCo's bodies can do no more, but
            pay for all that is asked of them.
        ranked_steps: how many first steps of an episode are simulated to rank it; None is all of
            them. The reward is that of whole episodes.
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
            raise InvalidInput(f"env is the name of an environment, found {env!r}")
        hidden: Any = self.hidden
        if not isinstance(hidden, list | tuple) or not all(_is_count(width) for width in hidden):
            raise InvalidInput(f"hidden layers have widths of 1 or more, found {hidden!r}")
        object.__setattr__(self, "hidden", tuple(hidden))
        for name in ("bias", "normalise", "shared", "clip"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidInput(f"{name} is true or false, found {getattr(self, name)!r:.60}")
        for name in ("horizon", "ranked_steps"):
            steps = getattr(self, name)
            if steps is not None and not _is_count(steps):
                raise InvalidInput(f"{name} is 1 step or more, found {steps!r:.60}")

    @classmethod
    def from_note(cls, note: Mapping[str, Any]) -> PolicyProblem:
        """What `as_note` wrote; notes from before actions were clipped do not speak of it."""
        return cls(**{"clip": False, **note})

    def as_note(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {**asdict(self), "hidden": list(self.hidden)}

    @property
    def world(self) -> World:
        """Where its episodes are."""
        return _world(self.env, self.horizon, self.clip)

    @property
    def _ranked_world(self) -> World:
        """The same, of which only the beginning is seen."""
        whole = self.world.horizon
        return _world(self.env, min(self.ranked_steps or whole, whole), self.clip)

    @property
    def ranked_share(self) -> float:
        """How much of an episode is simulated to rank it."""
        return self._ranked_world.horizon / self.world.horizon

    @cached_property
    def policy(self) -> Policy:
        """What a vector of parameters stands for."""
        return Policy(self.world.inputs, self.world.action.outputs, self.hidden, self.bias)

    @property
    def dim(self) -> int:
        """The number of parameters."""
        return self.policy.dim

    def start(self) -> Vector:
        """Where a search begins."""
        return self.policy.start()

    def nothing_seen(self) -> Moments:
        """The statistics before the first episode."""
        return Moments.nothing(self.world.inputs)

    def resets(self, seed: int, index: int, many: int) -> list[int]:
        """The resets of round `index`: one for all, or one for each."""
        draw = rng.for_content(seed, b"resets", index.to_bytes(8, "little"))
        found = draw.integers(HELD_OUT, size=many).tolist()
        return [found[0]] * many if self.shared else found

    def held_out(self, many: int) -> list[int]:
        """Resets to judge a result by, the same for everyone."""
        return [HELD_OUT + number for number in range(many)]

    def episodes(
        self, candidates: Sequence[Vector], resets: Sequence[int], seen: Moments
    ) -> Episodes:
        """An episode of each candidate, who sees the world as `seen` so far: what is ranked."""
        return self.episodes_in_step([(candidates, resets, seen)])[0]

    def episodes_in_step(self, rounds: Sequence[Round], *, whole: bool = False) -> list[Episodes]:
        """Those of several rounds, which know nothing of each other: the same, in less time.

        `whole` episodes are not cut short where ranked ones are.
        """
        layers = self.policy.layers([one for candidates, _, _ in rounds for one in candidates])
        many = [len(candidates) for candidates, _, _ in rounds]
        means = np.repeat([seen.mean for _, _, seen in rounds], many, axis=0)
        spreads = np.repeat([seen.spread for _, _, seen in rounds], many, axis=0)
        all_of_it = [*layers, means, spreads]

        def act(observations: Array, which: Any) -> Array:
            everyone = len(which) == len(means)
            mine = all_of_it if everyone else [part[which] for part in all_of_it]
            *weights, mean, spread = mine
            if self.normalise:
                observations = (observations - mean) / spread
            return self.policy.act(weights, observations)

        world = self.world if whole else self._ranked_world
        found = world.episodes(act, [reset for _, resets, _ in rounds for reset in resets])
        return [found[start:end] for start, end in pairwise(np.cumsum([0, *many]))]

    def reward(self, candidate: Vector, seen: Moments, episodes: int = 10) -> float:
        """The mean return on held-out resets: to look at, never to learn from."""
        return self.rewards([(candidate, seen)], episodes)[0]

    def rewards(
        self, learned: Sequence[tuple[Vector, Moments]], episodes: int = 10
    ) -> list[float]:
        """The reward of several results."""
        if episodes < 1:
            raise InvalidInput(f"a reward is the mean of 1 episode or more, found {episodes}")
        resets = self.held_out(episodes)
        each = [([x] * episodes, resets, seen) for x, seen in learned]
        found = self.episodes_in_step(each, whole=True)
        return [float(np.mean(one.returns)) for one in found]


def _is_count(found: Any) -> bool:
    return isinstance(found, int) and not isinstance(found, bool) and found >= 1


def losses(returns: Vector) -> Vector:
    """What is minimised; an episode that left the numbers is worse than all others."""
    sane = np.isfinite(returns)
    if not sane.any():
        return np.zeros(len(returns))
    worst = -returns[sane].min()
    return np.where(sane, -returns, worst + 1.0 + abs(worst))


@lru_cache(maxsize=16)
def _world(env: str, horizon: int | None, clip: bool) -> World:
    return (BatchedWorld if env in BODIES else GymnasiumWorld)(env, horizon, clip)
