"""Speed of policies: environment steps per second and clips, beside their bounds.

    python benchmarks/policies.py speed         # environment steps per second
    python benchmarks/policies.py clips [ENV]   # a round of the studio: five clips of five seconds

`speed` compares batched episodes with bare `mj_step` on all cores (the bound: no policy, no
reward) and with Gymnasium's own loop. `clips` compares a round of the studio (simulated, filmed
and encoded) with only drawing as many frames, in wall-clock time and in CPU time. CPU time
includes the encoders and depends less on the load of the machine.

Rewards are measured by `zorank bench policies`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from time import perf_counter
from typing import Any

import numpy as np

from zorank.renderers import PolicyClips
from zorank.renderers.threads import on_all_cores
from zorank.rl import mujoco_camera
from zorank.rl.batched import BatchedEnvironment
from zorank.rl.clips import Shot, film_frames
from zorank.rl.environments import Environment, GymnasiumEnvironment, make_env
from zorank.rl.policy import Policy
from zorank.types import Exhibit, Vector

CORES = os.cpu_count() or 1
EPISODES = 64
"""Simulated together."""


def speed() -> None:
    """Print steps per second: batched, bare mj_step on all cores, Gymnasium's loop."""
    print(f"{'':16}{'batched':>10}{'mj_step':>10}{'ratio':>7}{'loop':>9}{'ratio':>7}")
    for env in ("HalfCheetah-v4", "Swimmer-v4", "Reacher-v4"):
        horizon = 50 if "Reacher" in env else 400
        rates: dict[str, list[float]] = {"batched": [], "bare": [], "loop": []}
        for _ in range(3):  # alternating, so that a busy moment affects all alike
            rates["batched"].append(_rate(BatchedEnvironment(env, horizon), EPISODES))
            rates["bare"].append(_bare(env, 4000))
            rates["loop"].append(_rate(GymnasiumEnvironment(env, horizon), 4))
        batched, bare, loop = (float(np.median(found)) for found in rates.values())
        print(
            f"{env:16}{batched:10,.0f}{bare:10,.0f}{batched / bare:7.2f}"
            f"{loop:9,.0f}{batched / loop:7.2f}"
        )


def _rate(environment: Environment, episodes: int) -> float:
    policy = Policy(environment.inputs, environment.action_space.outputs)
    rows = 0.3 * np.random.default_rng(0).standard_normal((episodes, policy.dim))
    layers = policy.layers(list(rows))

    def act(observations: Any, which: Any) -> Any:
        selected = layers if len(which) == episodes else [weights[which] for weights in layers]
        return policy.act(selected, observations)

    start = perf_counter()
    found = environment.episodes(act, [1] * episodes)
    return float(found.steps.sum()) / (perf_counter() - start)


def _bare(env: str, steps: int) -> float:
    """Return the environment steps per second of simulation alone, with a thread on each core."""
    import mujoco

    made = make_env(env).unwrapped
    datas = [mujoco.MjData(made.model) for _ in range(CORES)]

    def simulate(data: Any) -> None:
        data.ctrl[:] = 0.3
        mujoco.mj_step(made.model, data, nstep=steps * made.frame_skip)

    start = perf_counter()
    with ThreadPoolExecutor(CORES) as threads:
        list(threads.map(simulate, datas))
    return CORES * steps / (perf_counter() - start)


def clips() -> None:
    """Time five clips, at first and with cameras in the pool, and the drawing of their frames."""
    import mujoco

    renderer = PolicyClips(env=sys.argv[2] if len(sys.argv) > 2 else "HalfCheetah-v4")
    points = np.random.default_rng(0).standard_normal((5, renderer.dim))
    height = renderer.size * 3 // 4
    renderer.warm_up()
    shot = Shot(renderer.env, 0, renderer.seconds, height, renderer.size)
    shown, rate = film_frames(shot, renderer.policy(points[0]))
    frames = len(shown)

    def draw(_: Vector) -> Exhibit:
        with mujoco_camera.pooled_stage(renderer.env, height, renderer.size) as (env, frame):
            env.reset(seed=0)
            for _frame in range(frames):
                frame()
        return Exhibit("text/plain", b"")

    print(
        f"{renderer.env}: {len(points)} clips of {frames} frames, {frames / rate:g} s, "
        f"{renderer.size} × {height}, {CORES} cores, MuJoCo {mujoco.__version__}"
    )
    mujoco_camera.close_cameras()
    cold = _seconds(lambda: renderer.render(points))
    warm, bare = [], []
    for _ in range(3):  # alternating, so that a busy moment affects both alike
        warm.append(_seconds(lambda: renderer.render(points)))
        bare.append(_seconds(lambda: on_all_cores(draw, points)))
    bound = np.median(bare, axis=0)
    print(f"{'':10}{'seconds':>9}{'ratio':>7}{'CPU seconds':>13}{'ratio':>7}")
    for name, found in (("first", cold), ("then", np.median(warm, axis=0)), ("drawing", bound)):
        (clock, cpu), (ratio, cpu_ratio) = found, found / bound
        print(f"{name:10}{clock:9.2f}{ratio:7.2f}{cpu:13.2f}{cpu_ratio:7.2f}")


def _seconds(work: Callable[[], object]) -> Any:
    """Return wall-clock seconds, and CPU seconds of our threads and of the encoders."""

    def cpu() -> float:
        both = (getrusage(RUSAGE_SELF), getrusage(RUSAGE_CHILDREN))
        return sum(used.ru_utime + used.ru_stime for used in both)

    clock, before = perf_counter(), cpu()
    work()
    return np.array([perf_counter() - clock, cpu() - before])


if __name__ == "__main__":
    {"speed": speed, "clips": clips}[sys.argv[1] if len(sys.argv) > 1 else "speed"]()
