"""Batched simulation of MuJoCo environments: many episodes at once, as Gymnasium computes them.

Episodes start from Gymnasium's own resets. Rewards, observations and terminations are those of its
environments (versions 4 and 5) and use their settings; tests compare them step by step.
`mujoco.batch` steps the simulations on all cores; each equals, bit for bit, a simulation alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from zorank import _machine
from zorank.rl.environments import (
    OVERFLOW,
    Act,
    Episodes,
    action_space_of,
    horizon_of,
    make_env,
)
from zorank.rl.policy import Array

Mask: TypeAlias = NDArray[np.bool_]
"""Which episodes, (n,)."""


class Locomotion:
    """Tasks that reward forward motion: HalfCheetah, Swimmer, Hopper, Walker2d."""

    def __init__(self, env: Any, batch: Any) -> None:
        self.settings = env.unwrapped
        self.qpos, self.qvel = batch.bind("qpos"), batch.bind("qvel")
        self.skipped = 2 if "Swimmer" in env.spec.id else 1
        self.can_fall = env.spec.id.startswith(("Hopper", "Walker2d"))
        # Version 4 also gives the healthy reward for the step in which the body falls.
        self.healthy_reward_if_healthy = env.spec.id.endswith("v5")
        self.x_before = self.qpos[:, 0].copy()

    def observe(self) -> Array:
        """Return positions without the distance travelled, and velocities."""
        velocity = np.clip(self.qvel, -10, 10) if self.can_fall else self.qvel
        return np.concatenate((self.qpos[:, self.skipped :], velocity), axis=1)

    def begin_step(self) -> None:
        """Record the positions before a step."""
        self.x_before = self.qpos[:, 0].copy()

    def reward(self, actions: Array) -> Array:
        """Return the reward of the step since `begin_step`."""
        settings = self.settings
        velocity = (self.qpos[:, 0] - self.x_before) / settings.dt
        reward: Array = settings._forward_reward_weight * velocity
        if self.can_fall:
            always = np.ones(len(reward), dtype=bool)
            rewarded = self.healthy() if self.healthy_reward_if_healthy else always
            reward = reward + rewarded * settings._healthy_reward
        reward = reward - settings._ctrl_cost_weight * np.square(actions).sum(axis=1)
        return reward

    def healthy(self) -> Mask:
        """Return which bodies have not fallen."""
        if not self.can_fall:
            return np.ones(len(self.qpos), dtype=bool)
        settings = self.settings
        healthy = _within(self.qpos[:, 1], settings._healthy_z_range)
        healthy &= _within(self.qpos[:, 2], settings._healthy_angle_range)
        if hasattr(settings, "_healthy_state_range"):
            state = np.concatenate((self.qpos[:, 2:], self.qvel), axis=1)
            healthy &= _within(state, settings._healthy_state_range).all(axis=1)
        return healthy


class Reaching:
    """Reacher: an arm whose fingertip should reach a target."""

    def __init__(self, env: Any, batch: Any) -> None:
        self.qpos, self.qvel, self.xpos = (batch.bind(n) for n in ("qpos", "qvel", "xpos"))
        model = env.unwrapped.model
        self.tip, self.target = (model.body(n).id for n in ("fingertip", "target"))
        # Version 5 rewards the distance after a step, version 4 the distance before it.
        self.is_v5 = env.spec.id.endswith("v5")
        weights = [getattr(env.unwrapped, f"_reward_{n}_weight", 1) for n in ("dist", "control")]
        self.distance_weight, self.control_weight = weights
        self.offset_before = self.offset()

    def offset(self) -> Array:
        """Return the vectors from the target to the fingertip, (n, 3)."""
        offset: Array = self.xpos[:, self.tip] - self.xpos[:, self.target]
        return offset

    def observe(self) -> Array:
        """Return the cosine and sine of the angles, the target, the velocities, the offset."""
        angles = self.qpos[:, :2]
        offset = self.offset()[:, :2] if self.is_v5 else self.offset()
        parts = (np.cos(angles), np.sin(angles), self.qpos[:, 2:], self.qvel[:, :2], offset)
        return np.concatenate(parts, axis=1)

    def begin_step(self) -> None:
        """Record the offsets before a step."""
        self.offset_before = self.offset()

    def reward(self, actions: Array) -> Array:
        """Return the reward of the step since `begin_step`."""
        offset = self.offset() if self.is_v5 else self.offset_before
        reward: Array = -self.distance_weight * np.linalg.norm(offset, axis=1)
        reward -= self.control_weight * np.square(actions).sum(axis=1)
        return reward

    def healthy(self) -> Mask:
        """Return all: an arm cannot fall."""
        return np.ones(len(self.qpos), dtype=bool)


TASKS: dict[str, Callable[[Any, Any], Locomotion | Reaching]] = {
    f"{name}-v{version}": task
    for name, task in (
        ("HalfCheetah", Locomotion),
        ("Swimmer", Locomotion),
        ("Hopper", Locomotion),
        ("Walker2d", Locomotion),
        ("Reacher", Reaching),
    )
    for version in (4, 5)
}
"""The environments that are simulated in batches."""


class BatchedEnvironment:
    """One of `TASKS`, with a simulation for each episode."""

    def __init__(
        self,
        env: str,
        horizon: int | None = None,
        clip: bool = True,
        threads: int | None = None,
    ) -> None:
        self.env = make_env(env)
        self.inputs = int(self.env.observation_space.shape[0])
        self.action_space = action_space_of(self.env, clip)
        self.horizon = horizon_of(self.env, horizon)
        self.threads = threads or _machine.threads()
        self._batches: dict[int, Any] = {}

    def episodes(self, act: Act, resets: Sequence[int]) -> Episodes:
        """Step all episodes together until the last one ends."""
        batch, task = self._reset(resets)
        ctrl, clock = batch.bind("ctrl"), batch.bind("time")
        n = len(resets)
        returns, steps = np.zeros(n), np.zeros(n, dtype=np.intp)
        history = np.empty((self.horizon, n, self.inputs))
        running, diverged = np.ones(n, dtype=bool), np.zeros(n, dtype=bool)
        everyone = np.arange(n)
        ends = getattr(self.env.unwrapped, "_terminate_when_unhealthy", False)
        for step in range(self.horizon):
            history[step] = observations = task.observe()
            outputs = act(observations, everyone)
            actions = self.action_space.clip(outputs)
            finite = _finite(observations) & _finite(outputs)
            if not finite.all():
                diverged |= running & ~finite
                running &= finite
                actions = np.where(finite[:, None], actions, 0.0)
            task.begin_step()
            if not running.any():
                break
            ctrl[:] = actions
            valid = self._step(batch, clock, running)
            diverged |= running & ~valid
            running &= valid
            returns[running] += task.reward(actions)[running]
            steps[running] += 1
            if ends:
                running &= task.healthy()
        returns[diverged | ~(np.abs(returns) < OVERFLOW)] = -np.inf
        return Episodes(returns, [history[: steps[i], i] for i in range(n)])

    def _step(self, batch: Any, clock: Array, running: Mask) -> Mask:
        """Step the running simulations; return which of all advanced by one time step.

        MuJoCo resets a simulation, its clock included, when its numbers are out of bounds.
        """
        before = clock.copy()
        skip = self.env.unwrapped.frame_skip
        if running.all():
            batch.step(nstep=skip)
        else:
            batch.step(ids=np.flatnonzero(running), nstep=skip)
        elapsed = clock.ravel() - before.ravel()
        return np.asarray(np.abs(elapsed - self.env.unwrapped.dt) < 1e-6)

    def _reset(self, resets: Sequence[int]) -> tuple[Any, Locomotion | Reaching]:
        """Return simulations in the initial states that Gymnasium's resets give."""
        import mujoco
        from mujoco.batch import Batch

        n = len(resets)
        if n not in self._batches:
            self._batches[n] = Batch(self.env.unwrapped.model, n, min(self.threads, n))
        batch = self._batches[n]
        batch.reset(stage=int(mujoco.mjtStage.mjSTAGE_NONE))
        qpos, qvel = batch.bind("qpos"), batch.bind("qvel")
        states = {}
        for reset in {int(reset) for reset in resets}:
            self.env.reset(seed=reset)
            data = self.env.unwrapped.data
            states[reset] = (data.qpos.copy(), data.qvel.copy())
        for episode, reset in enumerate(resets):
            qpos[episode], qvel[episode] = states[int(reset)]
        task = TASKS[self.env.spec.id](self.env, batch)
        batch.forward()
        return batch, task


def _finite(rows: Array) -> Mask:
    return np.asarray(np.isfinite(rows).all(axis=1))


def _within(values: Array, bounds: tuple[float, float]) -> Mask:
    low, high = bounds
    return (low < values) & (values < high)
