"""Films an episode: simulate, look, encode. The only place that needs a way to draw.

MuJoCo's own drawing is slow by its beauty: without shadows, reflections and smoothed edges a frame
takes a tenth of the time, and a gait can be told as well.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from zorank.errors import MissingExtra, RenderError, ZorankError
from zorank.problems.policies.worlds import LONGEST, is_simulated, make_env

Frame: TypeAlias = NDArray[np.uint8]
_finding = Lock()
WAYS_TO_DRAW = ("egl", "osmesa", "glfw")
_PROBE = """
import mujoco
model = mujoco.MjModel.from_xml_string('<mujoco><worldbody><geom size=".1"/></worldbody></mujoco>')
with mujoco.Renderer(model, 16, 16) as renderer:
    renderer.update_scene(mujoco.MjData(model))
    assert renderer.render().shape == (16, 16, 3)
"""
_FOR_BROWSERS = ["-crf", "24", "-preset", "veryfast", "-threads", "1", "-movflags", "+faststart"]
# Distance, elevation and azimuth of the camera by the name of a body, and what it follows.
_VIEWS: dict[str, tuple[float, float, float, str]] = {
    "HalfCheetah": (2.6, -12, 90, "torso"),
    "Swimmer": (4.4, -60, 90, "torso"),
    "Hopper": (2.8, -12, 90, "torso"),
    "Walker2d": (3.2, -12, 90, "torso"),
    "Reacher": (0.62, -90, 90, ""),
    "Ant": (4.0, -25, 90, "torso"),
    "Humanoid": (4.0, -12, 120, "torso"),
}


def frames(
    env_name: str,
    act: Callable[[Any], Any],
    reset: int,
    seconds: float,
    height: int,
    width: int,
    most: int | None = None,
) -> tuple[list[Frame], float]:
    """The frames of an episode, of so many steps at most, and how many make a second."""
    simulated = way_to_film(env_name)
    env = make_env(env_name, **({} if simulated else {"render_mode": "rgb_array"}))
    rate = float(env.metadata.get("render_fps") or 30)
    every = max(1, round(rate / 25))
    steps = max(2, min(round(seconds * rate), most or LONGEST))
    camera = _mujoco_camera(env, height, width) if simulated else _own_camera(env)
    with closing(env), _failing_plainly(env_name), camera as look:
        return list(_looks(env, act, reset, steps, every, look)), rate / every


@contextmanager
def _failing_plainly(env_name: str) -> Iterator[None]:
    """Whatever somebody's environment raises, or what draws it, becomes one sentence."""
    try:
        yield
    except ZorankError:
        raise
    except Exception as error:
        said = " ".join(str(error).split())
        raise RenderError(
            f"{env_name} cannot be filmed ({type(error).__name__}: {said:.200})"
        ) from error


def way_to_film(env_name: str) -> str:
    """How MuJoCo draws here, tried if it has to; nothing for environments that draw themselves."""
    return draw_with() if is_simulated(env_name) else ""


def encoded(shown: list[Frame], rate: float) -> bytes:
    """The frames as an MP4 that browsers play from its first bytes on."""
    try:
        import imageio_ffmpeg
    except ModuleNotFoundError as error:
        raise MissingExtra("clips", "imageio-ffmpeg", "rl") from error
    height, width = (side - side % 2 for side in shown[0].shape[:2])  # the encoder's wish
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "clip.mp4"
        writer = imageio_ffmpeg.write_frames(
            str(file),
            (width, height),
            fps=rate,
            codec="libx264",
            macro_block_size=2,
            ffmpeg_log_level="error",
            output_params=_FOR_BROWSERS,
        )
        writer.send(None)
        for frame in shown:
            writer.send(np.ascontiguousarray(frame[:height, :width]))
        writer.close()
        return file.read_bytes()


def draw_with() -> str:
    """A way to draw that works on this machine, found by trying, set for MuJoCo to use."""
    with _finding:
        return _way_found()


@cache
def _way_found() -> str:
    wanted = os.environ.get("MUJOCO_GL")
    tried = {}
    for way in [wanted] if wanted else WAYS_TO_DRAW:
        probe = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", _PROBE],
            env={**os.environ, "MUJOCO_GL": way},
            capture_output=True,
            text=True,
            timeout=120,
        )
        if probe.returncode == 0:
            os.environ["MUJOCO_GL"] = way
            _read_again("mujoco.rendering.classic.gl_context")
            return way
        tried[way] = (probe.stderr.strip().splitlines() or ["no reason given"])[-1]
    reasons = "; ".join(f"{way}: {reason:.90}" for way, reason in tried.items())
    raise RenderError(
        "MuJoCo has no way to draw here. Install one (Debian: apt-get install libegl1 "
        "libgl1-mesa-dri for MUJOCO_GL=egl, or libosmesa6 for MUJOCO_GL=osmesa) and try again; "
        f"nothing of the run is lost. Tried {reasons}"
    )


def _read_again(module: str) -> None:
    """MuJoCo reads how to draw once, when it is imported, which may have been long ago."""
    if module in sys.modules:
        importlib.reload(sys.modules[module])


def _looks(
    env: Any,
    act: Callable[[Any], Any],
    reset: int,
    steps: int,
    every: int,
    look: Callable[[], Frame],
) -> Iterator[Frame]:
    observation, _ = env.reset(seed=reset)
    yield look()
    for step in range(1, steps):
        action = act(observation)
        if not np.isfinite(action).all():
            return  # it left the numbers: the clip ends there
        observation, _, terminated, truncated, _ = env.step(action)
        if step % every == 0:
            yield look()
        if terminated or truncated:
            return


@contextmanager
def _own_camera(env: Any) -> Iterator[Callable[[], Frame]]:
    yield lambda: np.asarray(env.render(), dtype=np.uint8)


@contextmanager
def _mujoco_camera(env: Any, height: int, width: int) -> Iterator[Callable[[], Frame]]:
    import mujoco

    body = env.unwrapped
    model, data = body.model, body.data
    model.vis.quality.offsamples = 0
    model.vis.global_.offwidth, model.vis.global_.offheight = width, height
    renderer = mujoco.Renderer(model, height, width)
    for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION):
        renderer.scene.flags[flag] = False
    camera = mujoco.MjvCamera()
    name = env.spec.id.partition("-v")[0]
    distance, elevation, azimuth, followed = _VIEWS.get(
        name, (2.2 * model.stat.extent, -20, 90, "torso")
    )
    camera.distance, camera.elevation, camera.azimuth = distance, elevation, azimuth
    tracked = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, followed) if followed else -1

    def look() -> Frame:
        if tracked >= 0:
            camera.lookat[:] = data.xpos[tracked]
        renderer.update_scene(data, camera)
        return np.asarray(renderer.render(), dtype=np.uint8).copy()

    try:
        yield look
    finally:
        renderer.close()  # in the thread that made it, as its library wishes
