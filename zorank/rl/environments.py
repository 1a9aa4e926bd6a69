"""Gymnasium environments, and episodes of policies in them, one after another.

`batched` simulates some of MuJoCo's environments faster, with the same rewards.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from zorank.errors import (
    InvalidInput,
    MissingExtra,
    install_command,
    message_of,
    required_by,
    short,
)
from zorank.rl.observation_statistics import ObservationStatistics
from zorank.rl.policy import ActionBounds, ActionSpace, Array
from zorank.types import Vector

Act: TypeAlias = Callable[[Array, NDArray[np.intp]], Array]
"""Policies: observations (n, inputs) and the indices (n,) of their episodes → (n, outputs)."""

OVERFLOW = 1e100
"""Larger observations and returns count as diverged, because their squares would overflow."""
MAX_STEPS = 10_000
"""The step limit of environments that have none."""

_allowed_modules: set[str] = set()


@dataclass(frozen=True, eq=False)
class Episodes:
    """The results of several episodes.

    Attributes:
        returns: the sum of rewards of each episode, (n,); −inf if its simulation diverged.
        observations: the observations of each episode, n arrays of shape (steps, inputs).
    """

    returns: Vector
    observations: Sequence[Array]

    @property
    def steps(self) -> NDArray[np.intp]:
        """The number of steps of each episode."""
        return np.array([len(rows) for rows in self.observations], dtype=np.intp)

    @cached_property
    def statistics(self) -> ObservationStatistics:
        """The observation statistics of all episodes that did not diverge."""
        kept = [
            rows
            for rows, total in zip(self.observations, self.returns, strict=True)
            if total > -np.inf
        ]
        if not kept:
            return ObservationStatistics.empty(self.observations[0].shape[1])
        rows = np.concatenate(kept)
        return ObservationStatistics.of(rows[(np.abs(rows) < OVERFLOW).all(axis=1)])

    def __getitem__(self, some: slice) -> Episodes:
        """Return a slice of the episodes."""
        return Episodes(self.returns[some], self.observations[some])


class Environment(Protocol):
    """An environment in which several policies run an episode each."""

    @property
    def inputs(self) -> int:
        """The number of coordinates of an observation."""
        ...

    @property
    def action_space(self) -> ActionSpace:
        """The actions that it takes."""
        ...

    @property
    def horizon(self) -> int:
        """The largest number of steps of an episode."""
        ...

    def episodes(self, act: Act, resets: Sequence[int]) -> Episodes:
        """Run an episode from each reset seed; equal seeds give equal initial states."""
        ...


class GymnasiumEnvironment:
    """Any Gymnasium environment, stepped by its own `step`."""

    def __init__(self, env: str, horizon: int | None = None, clip: bool = True) -> None:
        self.env = make_env(env)
        self.inputs = _observation_size(self.env)
        self.action_space = action_space_of(self.env, clip)
        self.horizon = horizon_of(self.env, horizon)

    def episodes(self, act: Act, resets: Sequence[int]) -> Episodes:
        """Run the episodes one after another."""
        returns, observations = [], []
        for episode, reset in enumerate(resets):
            try:
                total, rows = self._episode(act, episode, int(reset))
            except (Exception, SystemExit) as error:  # raised by a third-party environment
                raise InvalidInput(
                    f"{self.env.spec.id} failed in an episode ({type(error).__name__}: "
                    f"{message_of(error)}); all answered rounds are kept"
                ) from error
            returns.append(total)
            observations.append(np.array(rows).reshape(-1, self.inputs))
        return Episodes(np.array(returns), observations)

    def _episode(self, act: Act, episode: int, reset: int) -> tuple[float, list[Vector]]:
        """Return the sum of rewards, −inf if the episode diverged, and the observations."""
        index, total, rows = np.array([episode]), 0.0, []
        observation, _ = self.env.reset(seed=reset)
        for _ in range(self.horizon):
            row = np.asarray(observation, dtype=float).ravel()
            rows.append(row)
            output = act(row[None], index)[0]
            if not (np.isfinite(row).all() and np.isfinite(output).all()):
                return -np.inf, rows
            action = self.action_space.action(output)
            observation, reward, terminated, truncated, _ = self.env.step(action)
            total += float(reward)
            if terminated or truncated:
                break
        return (total if abs(total) < OVERFLOW else -np.inf), rows


def allow_environment(env: str) -> None:
    """Allow an environment module:Name, whose module Gymnasium imports when it is made.

    Only the command line and a user's own code call this. A request, a policy.json or a stored run
    can name such an environment, but does not get its module imported.
    """
    module = _module_of(env)
    if module:
        _allowed_modules.add(module)


def _module_of(env: object) -> str:
    return env.partition(":")[0] if isinstance(env, str) and ":" in env else ""


def check_allowed(env: str) -> None:
    """Raise InvalidInput if making this environment would import a module that is not allowed."""
    module = _module_of(env)
    if module and module not in _allowed_modules and module not in sys.modules:
        raise InvalidInput(
            f"the environment {short(env)} is in the module {short(module)}, which a file or "
            "a request must not import; allow it on the command line, with --env "
            f"{env:.60} of zorank studio or zorank rl replay, or in Python with "
            f"zorank.rl.allow_environment({short(env)})"
        )


def make_env(env: str, **options: Any) -> Any:
    """Make the Gymnasium environment of this id; raise InvalidInput if that fails.

    The module of an environment module:Name is imported only after `allow_environment`.
    """
    gymnasium = load_gymnasium()
    check_allowed(env)
    _silence_mujoco(env)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # advice to use a newer version of the environment
        try:
            made = gymnasium.make(env, disable_env_checker=True, **options)
        except (gymnasium.error.DependencyNotInstalled, ImportError) as error:
            # Only MuJoCo's environments are in our extra.
            ours = isinstance(error, ModuleNotFoundError) and is_mujoco(env)
            hint = f"; install it with: {install_command('rl')}" if ours else ""
            raise InvalidInput(
                f"the environment {env!r} needs a package that is not installed: "
                f"{message_of(error)}{hint}"
            ) from error
        except gymnasium.error.UnregisteredEnv as error:
            raise InvalidInput(
                f"there is no environment {env!r}: {message_of(error).rstrip('?')}. Try "
                "Swimmer-v4, HalfCheetah-v4, Reacher-v4 or CartPole-v1"
            ) from error
        except Exception as error:  # raised by a third-party environment
            raise InvalidInput(
                f"the environment {env!r} cannot be made: {message_of(error)}"
            ) from error
    if made.spec.id != env.rpartition(":")[2]:
        raise InvalidInput(f"the environment {env!r} has no version; use {made.spec.id}")
    return made


def horizon_of(env: Any, requested: int | None) -> int:
    """Return the number of steps of an episode, at most the environment's own limit."""
    limit = getattr(env.spec, "max_episode_steps", None) or MAX_STEPS
    if requested is None:
        return int(limit)
    if not 1 <= requested <= limit:
        raise InvalidInput(
            f"an episode of {env.spec.id} has from 1 to {limit} steps, found {short(requested)}"
        )
    return requested


def _observation_size(env: Any) -> int:
    space = env.observation_space
    if not getattr(space, "shape", None) or hasattr(space, "n"):
        raise InvalidInput(
            f"{env.spec.id} has observations in {space}; a policy needs a Box observation space"
        )
    return int(np.prod(space.shape))


def action_space_of(env: Any, clip: bool) -> ActionSpace:
    """Return an environment's action space, without bounds if actions are not clipped."""
    space = env.action_space
    if type(space).__name__ == "Discrete":
        return ActionSpace((int(space.n),), first=int(space.start))
    if type(space).__name__ != "Box":
        raise InvalidInput(
            f"{env.spec.id} has actions in {space}; a policy needs a Box or Discrete action space"
        )
    shape = tuple(int(side) for side in space.shape)
    if not clip and np.dtype(space.dtype).kind == "f":
        return ActionSpace(shape)
    # JSON has no infinity: infinite bounds become the largest finite numbers.
    low, high = (np.nan_to_num(end.astype(float)).ravel() for end in (space.low, space.high))
    # MuJoCo computes in float64, whatever its environments declare.
    dtype = "float64" if is_mujoco(env.spec.id) else str(space.dtype)
    return ActionSpace(
        shape, bounds=ActionBounds(tuple(low.tolist()), tuple(high.tolist()), dtype)
    )


def load_gymnasium() -> Any:
    """Import Gymnasium; the error says which extra to install."""
    with required_by("a policy", "gymnasium", "rl"):
        import gymnasium
    return gymnasium


def is_mujoco(env: str) -> bool:
    """Return whether MuJoCo simulates an environment."""
    spec = load_gymnasium().envs.registration.registry.get(env)
    return spec is not None and "mujoco" in str(spec.entry_point)


def _silence_mujoco(env: str) -> None:
    """Stop MuJoCo from writing its warnings to a file; divergence is detected here instead."""
    if is_mujoco(env):
        try:
            import mujoco
        except ModuleNotFoundError as error:
            raise MissingExtra(env, "mujoco", "rl") from error
        except Exception as error:  # MUJOCO_GL names a backend that is not installed
            backend = os.environ.get("MUJOCO_GL")
            raise InvalidInput(
                f"MuJoCo cannot be imported with MUJOCO_GL={backend}: {message_of(error)}; unset "
                "the variable, and zorank chooses a backend that works"
            ) from error
        mujoco.set_mju_user_warning(lambda message: None)
