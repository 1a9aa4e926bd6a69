"""Where policies live: any Gymnasium environment, one episode after another.

`batched` has a quicker way for some of MuJoCo's, with the same rewards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from zorank.errors import InvalidInput, MissingExtra
from zorank.problems.policies.moments import Moments
from zorank.types import Vector

Array: TypeAlias = NDArray[np.float64]
Act: TypeAlias = Callable[[Array, NDArray[np.intp]], Array]
"""What policies do: observations (n, inputs) of some episodes, which ones → (n, outputs)."""

LONGEST = 10_000
"""Steps of an episode that its environment would never end."""


@dataclass(frozen=True, eq=False)
class Episodes:
    """What came of some episodes.

    Attributes:
        returns: the sum of each one's rewards; −inf if its simulation left the numbers.
        steps: how long each was.
        seen: the observations of all.
    """

    returns: Vector
    steps: NDArray[np.intp]
    seen: Moments


class World(Protocol):
    """An environment in which several policies have an episode each."""

    @property
    def inputs(self) -> int:
        """Numbers in an observation."""
        ...

    @property
    def outputs(self) -> int:
        """Numbers in an action, or actions to choose from."""
        ...

    @property
    def horizon(self) -> int:
        """Steps after which an episode is over at the latest."""
        ...

    def episodes(self, act: Act, resets: Sequence[int]) -> Episodes:
        """An episode from each reset; the same reset is the same start."""
        ...


class GymnasiumWorld:
    """Any environment, through its own step."""

    def __init__(self, env: str, horizon: int | None = None) -> None:
        self.env = make_env(env)
        self.inputs = _inputs(self.env)
        self.discrete = hasattr(self.env.action_space, "n")
        self.outputs = _outputs(self.env)
        self.horizon = horizon_of(self.env, horizon)

    def episodes(self, act: Act, resets: Sequence[int]) -> Episodes:
        """One after another."""
        returns, steps, seen = [], [], []
        for episode, reset in enumerate(resets):
            total, observations = self._episode(act, episode, int(reset))
            returns.append(total)
            steps.append(len(observations))
            seen += observations
        rows = np.array(seen).reshape(-1, self.inputs)
        rows = rows[np.isfinite(rows).all(axis=1)]
        return Episodes(np.array(returns), np.array(steps, dtype=np.intp), Moments.of(rows))

    def _episode(self, act: Act, episode: int, reset: int) -> tuple[float, list[Vector]]:
        which, total, seen = np.array([episode]), 0.0, []
        observation, _ = self.env.reset(seed=reset)
        for _ in range(self.horizon):
            row = np.asarray(observation, dtype=float).ravel()
            seen.append(row)
            wish = act(row[None], which)[0]
            if not (np.isfinite(row).all() and np.isfinite(wish).all()):
                return -np.inf, seen
            observation, reward, terminated, truncated, _ = self.env.step(self.action(wish))
            total += float(reward)
            if terminated or truncated:
                break
        return (total if np.isfinite(total) else -np.inf), seen

    def action(self, wish: Vector) -> Any:
        """An action of the environment's own kind: the strongest wish, or all of them."""
        space = self.env.action_space
        if self.discrete:
            return int(np.argmax(wish)) + int(getattr(space, "start", 0))
        return wish.reshape(space.shape)


def make_env(env: str, **options: Any) -> Any:
    """The environment of this name; a sentence if there is none."""
    try:
        import gymnasium
    except ModuleNotFoundError as error:
        raise MissingExtra("policies", "gymnasium", "rl") from error
    _quieten(gymnasium, env)
    with _quiet():
        try:
            return gymnasium.make(env, disable_env_checker=True, **options)
        except gymnasium.error.DependencyNotInstalled as error:
            raise InvalidInput(
                f"the environment {env!r} needs more than is installed: {_sentence(error)}; "
                "MuJoCo's come with pip install 'zorank[rl]'"
            ) from error
        except (gymnasium.error.Error, ModuleNotFoundError, ValueError, TypeError) as error:
            raise InvalidInput(
                f"there is no environment {env!r}: {_sentence(error)}. Try Swimmer-v4, "
                "HalfCheetah-v4, Reacher-v4 or CartPole-v1"
            ) from error


def horizon_of(env: Any, wanted: int | None) -> int:
    """How long an episode is: as wished, but no longer than the environment lets it be."""
    limit = getattr(env.spec, "max_episode_steps", None) or LONGEST
    if wanted is None:
        return int(limit)
    if not 1 <= wanted <= limit:
        raise InvalidInput(
            f"an episode of {env.spec.id} has from 1 to {limit} steps, found {wanted}"
        )
    return wanted


def _inputs(env: Any) -> int:
    space = env.observation_space
    if not getattr(space, "shape", None) or hasattr(space, "n"):
        raise InvalidInput(
            f"{env.spec.id} shows {space}; a policy needs a box of numbers to look at"
        )
    return int(np.prod(space.shape))


def _outputs(env: Any) -> int:
    space = env.action_space
    if type(space).__name__ == "Discrete":
        return int(space.n)
    if type(space).__name__ != "Box":
        raise InvalidInput(
            f"{env.spec.id} takes actions of {space}; a policy gives a box of numbers, or one of "
            "several actions"
        )
    return int(np.prod(space.shape))


def is_simulated(gymnasium: Any, env: str) -> bool:
    """Whether an environment is one of MuJoCo's."""
    found = gymnasium.envs.registration.registry.get(env)
    return found is not None and "mujoco" in str(found.entry_point)


def _quieten(gymnasium: Any, env: str) -> None:
    """MuJoCo writes a file wherever it is warned; we notice what matters ourselves."""
    if is_simulated(gymnasium, env):
        try:
            import mujoco
        except ModuleNotFoundError as error:
            raise MissingExtra(env, "mujoco", "rl") from error
        mujoco.set_mju_user_warning(lambda message: None)


@contextmanager
def _quiet() -> Any:
    """Without the advice to use another version: which one is meant was said."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def _sentence(error: Exception) -> str:
    return " ".join(str(error).split()).removesuffix(".")[:200]
