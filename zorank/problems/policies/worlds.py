"""Where policies live: any Gymnasium environment, one episode after another.

`batched` has a quicker way for some of MuJoCo's, with the same rewards.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from zorank.errors import InvalidInput, MissingExtra
from zorank.problems.policies.moments import Moments
from zorank.problems.policies.policy import Action, Array, Limits
from zorank.types import Vector

Act: TypeAlias = Callable[[Array, NDArray[np.intp]], Array]
"""What policies do: observations (n, inputs) of some episodes, which ones → (n, outputs)."""

LARGEST = 1e100
"""Observations and returns beyond are no numbers to reckon with: their squares would overflow."""
LONGEST = 10_000
"""Steps of an episode that its environment would never end."""


@dataclass(frozen=True, eq=False)
class Episodes:
    """What came of some episodes.

    Attributes:
        returns: the sum of each one's rewards; −inf if its simulation left the numbers.
        observed: what each saw, (steps, inputs).
    """

    returns: Vector
    observed: Sequence[Array]

    @property
    def steps(self) -> NDArray[np.intp]:
        """How long each was."""
        return np.array([len(rows) for rows in self.observed], dtype=np.intp)

    @cached_property
    def seen(self) -> Moments:
        """The observations of all whose simulation held; what a lost one saw is no use."""
        sane = [
            rows for rows, sum in zip(self.observed, self.returns, strict=True) if sum > -np.inf
        ]
        if not sane:
            return Moments.nothing(self.observed[0].shape[1])
        rows = np.concatenate(sane)
        return Moments.of(rows[(np.abs(rows) < LARGEST).all(axis=1)])

    def __getitem__(self, some: slice) -> Episodes:
        """Some of them."""
        return Episodes(self.returns[some], self.observed[some])


class World(Protocol):
    """An environment in which several policies have an episode each."""

    @property
    def inputs(self) -> int:
        """Numbers in an observation."""
        ...

    @property
    def action(self) -> Action:
        """What it takes."""
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

    def __init__(self, env: str, horizon: int | None = None, clip: bool = True) -> None:
        self.env = make_env(env)
        self.inputs = _inputs(self.env)
        self.action = action_of(self.env, clip)
        self.horizon = horizon_of(self.env, horizon)

    def episodes(self, act: Act, resets: Sequence[int]) -> Episodes:
        """One after another."""
        returns, observed = [], []
        for episode, reset in enumerate(resets):
            try:
                total, observations = self._episode(act, episode, int(reset))
            except (Exception, SystemExit) as error:  # of somebody's environment
                raise InvalidInput(
                    f"{self.env.spec.id} failed in an episode ({type(error).__name__}: "
                    f"{_sentence(error)}); what was learned so far is kept"
                ) from error
            returns.append(total)
            observed.append(np.array(observations).reshape(-1, self.inputs))
        return Episodes(np.array(returns), observed)

    def _episode(self, act: Act, episode: int, reset: int) -> tuple[float, list[Vector]]:
        which, total, seen = np.array([episode]), 0.0, []
        observation, _ = self.env.reset(seed=reset)
        for _ in range(self.horizon):
            row = np.asarray(observation, dtype=float).ravel()
            seen.append(row)
            wish = act(row[None], which)[0]
            if not (np.isfinite(row).all() and np.isfinite(wish).all()):
                return -np.inf, seen
            observation, reward, terminated, truncated, _ = self.env.step(self.action.of(wish))
            total += float(reward)
            if terminated or truncated:
                break
        return (total if abs(total) < LARGEST else -np.inf), seen


def make_env(env: str, **options: Any) -> Any:
    """The environment of this name; a sentence if there is none."""
    gymnasium = load_gymnasium()
    _quieten(env)
    with _quiet():
        try:
            made = gymnasium.make(env, disable_env_checker=True, **options)
        except (gymnasium.error.DependencyNotInstalled, ImportError) as error:
            # A module of ours to bring; anything else says itself what to do.
            ours = isinstance(error, ModuleNotFoundError) and is_simulated(env)
            hint = "; install it with: pip install 'zorank[rl]'" if ours else ""
            raise InvalidInput(
                f"the environment {env!r} needs more than is installed: {_sentence(error)}{hint}"
            ) from error
        except gymnasium.error.UnregisteredEnv as error:
            raise InvalidInput(
                f"there is no environment {env!r}: {_sentence(error).rstrip('?')}. Try "
                "Swimmer-v4, HalfCheetah-v4, Reacher-v4 or CartPole-v1"
            ) from error
        except Exception as error:  # of somebody's environment
            raise InvalidInput(
                f"the environment {env!r} cannot be made: {_sentence(error)}"
            ) from error
    if made.spec.id != env.rpartition(":")[2]:
        raise InvalidInput(f"{env!r} does not say which version; use {made.spec.id}")
    return made


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


def action_of(env: Any, clip: bool) -> Action:
    """What an environment takes; if not clipped, wishes beyond its box too."""
    space = env.action_space
    if type(space).__name__ == "Discrete":
        return Action((int(space.n),), first=int(space.start))
    if type(space).__name__ != "Box":
        raise InvalidInput(
            f"{env.spec.id} takes actions of {space}; a policy gives a box of numbers, or one of "
            "several actions"
        )
    shape = tuple(int(side) for side in space.shape)
    if not clip and np.dtype(space.dtype).kind == "f":
        return Action(shape)
    # What is unlimited has the largest numbers for its limits: infinity is not JSON.
    low, high = (np.nan_to_num(end.astype(float)).ravel() for end in (space.low, space.high))
    # MuJoCo reckons with nothing shorter.
    kind = "float64" if is_simulated(env.spec.id) else str(space.dtype)
    return Action(shape, limits=Limits(tuple(low.tolist()), tuple(high.tolist()), kind))


def load_gymnasium() -> Any:
    """Gymnasium; an error that says what to install if it is not there."""
    try:
        import gymnasium
    except ModuleNotFoundError as error:
        raise MissingExtra("a policy", "gymnasium", "rl") from error
    return gymnasium


def is_simulated(env: str) -> bool:
    """Whether an environment is one of MuJoCo's."""
    found = load_gymnasium().envs.registration.registry.get(env)
    return found is not None and "mujoco" in str(found.entry_point)


def _quieten(env: str) -> None:
    """MuJoCo writes a file wherever it is warned; we notice what matters ourselves."""
    if is_simulated(env):
        try:
            import mujoco
        except ModuleNotFoundError as error:
            raise MissingExtra(env, "mujoco", "rl") from error
        except Exception as error:  # a way to draw that was asked for and is not there
            way = os.environ.get("MUJOCO_GL")
            raise InvalidInput(
                f"MuJoCo cannot be loaded with MUJOCO_GL={way}: {_sentence(error)}; unset it, and "
                "a way that works is found by trying"
            ) from error
        mujoco.set_mju_user_warning(lambda message: None)


@contextmanager
def _quiet() -> Any:
    """Without advice on versions: which one is meant was said, or will be asked."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _sentence(error: BaseException) -> str:
    return " ".join(str(error).split()).removesuffix(".")[:200]
