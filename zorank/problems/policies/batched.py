"""MuJoCo's bodies, all episodes in step: what Gymnasium computes, on many simulations at once.

An episode starts where Gymnasium's own reset starts it. Rewards, observations and endings are
those of its environments (versions 4 and 5), read from their settings; tests compare them step by
step. `mujoco.batch` steps the simulations on all cores, each bit for bit as if it were alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from zorank import _machine
from zorank.problems.policies.policy import Array
from zorank.problems.policies.worlds import LARGEST, Act, Episodes, action_of, horizon_of, make_env

Alive: TypeAlias = NDArray[np.bool_]


class Runner:
    """Bodies that are paid for moving forward: HalfCheetah, Swimmer, Hopper, Walker2d."""

    def __init__(self, env: Any, batch: Any) -> None:
        self.body = env.unwrapped
        self.qpos, self.qvel = batch.bind("qpos"), batch.bind("qvel")
        self.hidden = 2 if "Swimmer" in env.spec.id else 1
        self.falls = env.spec.id.startswith(("Hopper", "Walker2d"))
        self.paid_upright = env.spec.id.endswith("v5")  # version 4 also pays the step it falls in
        self.before = self.qpos[:, 0].copy()

    def observe(self) -> Array:
        """Positions without how far it came, and velocities."""
        velocity = np.clip(self.qvel, -10, 10) if self.falls else self.qvel
        return np.concatenate((self.qpos[:, self.hidden :], velocity), axis=1)

    def begin(self) -> None:
        """Remember where it is, before a step."""
        self.before = self.qpos[:, 0].copy()

    def reward(self, actions: Array) -> Array:
        """For the step since."""
        body = self.body
        velocity = (self.qpos[:, 0] - self.before) / body.dt
        found: Array = body._forward_reward_weight * velocity
        if self.falls:
            upright = self.healthy() if self.paid_upright else np.ones(len(found), dtype=bool)
            found = found + upright * body._healthy_reward
        found = found - body._ctrl_cost_weight * np.square(actions).sum(axis=1)
        return found

    def healthy(self) -> Alive:
        """Which have not fallen."""
        if not self.falls:
            return np.ones(len(self.qpos), dtype=bool)
        body = self.body
        fine = _within(self.qpos[:, 1], body._healthy_z_range)
        fine &= _within(self.qpos[:, 2], body._healthy_angle_range)
        if hasattr(body, "_healthy_state_range"):
            state = np.concatenate((self.qpos[:, 2:], self.qvel), axis=1)
            fine &= _within(state, body._healthy_state_range).all(axis=1)
        return fine


class Arm:
    """Reacher: paid for a fingertip near its target."""

    def __init__(self, env: Any, batch: Any) -> None:
        self.qpos, self.qvel, self.places = (batch.bind(n) for n in ("qpos", "qvel", "xpos"))
        model = env.unwrapped.model
        self.tip, self.target = (model.body(n).id for n in ("fingertip", "target"))
        self.paid_late = env.spec.id.endswith("v5")  # for where a step ends, not where it began
        weights = [getattr(env.unwrapped, f"_reward_{n}_weight", 1) for n in ("dist", "control")]
        self.near, self.effort = weights
        self.before = self.away()

    def away(self) -> Array:
        """From the target to the fingertip."""
        found: Array = self.places[:, self.tip] - self.places[:, self.target]
        return found

    def observe(self) -> Array:
        """Angles, target, speeds and the way to the target."""
        angles = self.qpos[:, :2]
        away = self.away()[:, :2] if self.paid_late else self.away()
        parts = (np.cos(angles), np.sin(angles), self.qpos[:, 2:], self.qvel[:, :2], away)
        return np.concatenate(parts, axis=1)

    def begin(self) -> None:
        """Remember where the tip is, before a step."""
        self.before = self.away()

    def reward(self, actions: Array) -> Array:
        """For the step since."""
        away = self.away() if self.paid_late else self.before
        found: Array = -self.near * np.linalg.norm(away, axis=1)
        found -= self.effort * np.square(actions).sum(axis=1)
        return found

    def healthy(self) -> Alive:
        """An arm does not fall."""
        return np.ones(len(self.qpos), dtype=bool)


BODIES: dict[str, Callable[[Any, Any], Runner | Arm]] = {
    f"{body}-v{version}": rules
    for body, rules in (
        ("HalfCheetah", Runner),
        ("Swimmer", Runner),
        ("Hopper", Runner),
        ("Walker2d", Runner),
        ("Reacher", Arm),
    )
    for version in (4, 5)
}
"""The environments that are simulated in step."""


class BatchedWorld:
    """One of `BODIES`, every episode in its own simulation."""

    def __init__(
        self,
        env: str,
        horizon: int | None = None,
        clip: bool = True,
        threads: int | None = None,
    ) -> None:
        self.env = make_env(env)
        self.inputs = int(self.env.observation_space.shape[0])
        self.action = action_of(self.env, clip)
        self.horizon = horizon_of(self.env, horizon)
        self.threads = threads or _machine.threads()
        self._batches: dict[int, Any] = {}

    def episodes(self, act: Act, resets: Sequence[int]) -> Episodes:
        """All in step, until the last one is over."""
        batch, body = self._begun(resets)
        ctrl, clock = batch.bind("ctrl"), batch.bind("time")
        many = len(resets)
        returns, steps = np.zeros(many), np.zeros(many, dtype=np.intp)
        seen = np.empty((self.horizon, many, self.inputs))
        alive, sane = np.ones(many, dtype=bool), np.ones(many, dtype=bool)
        everyone = np.arange(many)
        skip = self.env.unwrapped.frame_skip
        ends = getattr(self.env.unwrapped, "_terminate_when_unhealthy", False)
        for step in range(self.horizon):
            seen[step] = observations = body.observe()
            wishes = act(observations, everyone)
            actions = self.action.within(wishes)
            fine = _finite(observations) & _finite(wishes)
            if not fine.all():
                sane &= fine | ~alive
                alive &= fine
                actions = np.where(fine[:, None], actions, 0.0)
            body.begin()
            ctrl[:] = actions
            then = clock.copy()
            if alive.all():
                batch.step(nstep=skip)
            elif alive.any():
                batch.step(ids=np.flatnonzero(alive), nstep=skip)
            else:
                break
            # Numbers out of bounds make MuJoCo start that simulation again, clock and all.
            in_time = np.abs(clock.ravel() - then.ravel() - self.env.unwrapped.dt) < 1e-6
            sane &= in_time | ~alive
            alive &= in_time
            returns[alive] += body.reward(actions)[alive]
            steps[alive] += 1
            if ends:
                alive &= body.healthy()
        returns[~sane | ~(np.abs(returns) < LARGEST)] = -np.inf
        return Episodes(returns, [seen[: steps[i], i] for i in range(many)])

    def _begun(self, resets: Sequence[int]) -> tuple[Any, Runner | Arm]:
        """Simulations at the start of their episodes, where Gymnasium puts them."""
        import mujoco
        from mujoco.batch import Batch

        many = len(resets)
        if many not in self._batches:
            self._batches[many] = Batch(self.env.unwrapped.model, many, min(self.threads, many))
        batch = self._batches[many]
        batch.reset(stage=int(mujoco.mjtStage.mjSTAGE_NONE))
        qpos, qvel = batch.bind("qpos"), batch.bind("qvel")
        starts = {}
        for reset in {int(reset) for reset in resets}:
            self.env.reset(seed=reset)
            data = self.env.unwrapped.data
            starts[reset] = (data.qpos.copy(), data.qvel.copy())
        for episode, reset in enumerate(resets):
            qpos[episode], qvel[episode] = starts[int(reset)]
        body = BODIES[self.env.spec.id](self.env, batch)
        batch.forward()
        return batch, body


def _finite(rows: Array) -> Alive:
    return np.asarray(np.isfinite(rows).all(axis=1))


def _within(values: Array, bounds: tuple[float, float]) -> Alive:
    low, high = bounds
    return (low < values) & (values < high)
