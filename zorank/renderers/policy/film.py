"""Films an episode: simulate, look, encode. The only place that needs a way to draw.

MuJoCo's own drawing is slow by its beauty: without shadows, reflections, smoothed edges and facets
smaller than a pixel a frame takes a tenth of the time, and a gait can be told as well. A camera
takes as long to make as some eighty frames to draw, and nothing else can be done meanwhile, so it
is kept for the next clip.
"""

from __future__ import annotations

import atexit
import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from zorank.errors import MissingExtra, RenderError, ZorankError
from zorank.problems.policies.worlds import LONGEST, is_simulated, make_env

Frame: TypeAlias = NDArray[np.uint8]
_finding = Lock()
FINE = 400
"""Pixels of height below which round bodies are drawn with fewer facets: nobody sees them."""
MOST_SHAPES = 1000
"""In a scene; what is beyond is not drawn."""
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
    with _filming(env_name, act, reset, seconds, height, width, most) as (shown, rate):
        return list(shown), rate


def clip(
    env_name: str, act: Callable[[Any], Any], reset: int, seconds: float, height: int, width: int
) -> bytes:
    """An episode as an MP4: a frame is encoded while the next one is drawn."""
    with _filming(env_name, act, reset, seconds, height, width) as (shown, rate):
        return encoded(shown, rate)


@contextmanager
def _filming(
    env_name: str,
    act: Callable[[Any], Any],
    reset: int,
    seconds: float,
    height: int,
    width: int,
    most: int | None = None,
) -> Iterator[tuple[Iterator[Frame], float]]:
    simulated = way_to_film(env_name)
    stage = kept_stage(env_name, height, width) if simulated else _own_stage(env_name)
    with _failing_plainly(env_name), stage as (env, look):
        rate = float(env.metadata.get("render_fps") or 30)
        every = max(1, round(rate / 25))
        steps = max(2, min(round(seconds * rate), most or LONGEST))
        yield _looks(env, act, reset, steps, every, look), rate / every


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


def encoded(shown: Iterable[Frame], rate: float) -> bytes:
    """The frames as an MP4 that browsers play from its first bytes on."""
    try:
        import imageio_ffmpeg
    except ModuleNotFoundError as error:
        raise MissingExtra("clips", "imageio-ffmpeg", "rl") from error
    following = iter(shown)
    first = next(following)
    height, width = (side - side % 2 for side in first.shape[:2])  # the encoder's wish
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
        with closing(writer):
            writer.send(None)
            for frame in chain([first], following):
                writer.send(np.ascontiguousarray(frame[:height, :width]))
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
def _own_stage(env_name: str) -> Iterator[tuple[Any, Callable[[], Frame]]]:
    """An environment that draws itself."""
    with closing(make_env(env_name, render_mode="rgb_array")) as env:
        yield env, lambda: _in_colour(np.asarray(env.render(), dtype=np.uint8))


def _in_colour(drawn: Frame) -> Frame:
    """Red, green and blue, of whatever an environment draws."""
    if drawn.ndim == 2:
        drawn = np.repeat(drawn[:, :, None], 3, axis=2)
    if drawn.ndim != 3 or drawn.shape[2] not in (3, 4) or min(drawn.shape[:2]) < 2:
        raise ValueError(f"a frame is height × width × 3 numbers, found {drawn.shape}")
    return drawn[:, :, :3]


@contextmanager
def kept_stage(
    env_name: str, height: int, width: int
) -> Iterator[tuple[Any, Callable[[], Frame]]]:
    """One of MuJoCo's environments and its camera: such as were used before, if some are free."""
    stage = _free.borrow((env_name, height, width)) or _Stage(env_name, height, width)
    try:
        with stage.gl.as_current():
            yield stage.env, stage.look
    except BaseException:
        stage.close()  # nobody knows in which state it is
        raise
    _free.give_back(stage)


class _Stage:
    """One of MuJoCo's environments and a camera, for one thread at a time."""

    def __init__(self, env_name: str, height: int, width: int) -> None:
        import mujoco
        from mujoco.rendering.classic import gl_context

        self.what = (env_name, height, width)
        self.env = make_env(env_name)
        self._mujoco = mujoco
        model = self.env.unwrapped.model
        model.vis.quality.offsamples = 0
        model.vis.global_.offwidth, model.vis.global_.offheight = width, height
        if height < FINE:
            model.vis.quality.numslices, model.vis.quality.numstacks = 16, 8
        self.gl = gl_context.GLContext(width, height)
        with self.gl.as_current():  # and of no thread afterwards, so that any can have it
            self._pen = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_50)
            mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._pen)
        atexit.unregister(forget_stages)
        atexit.register(forget_stages)  # to come before MuJoCo's own, which is registered by now
        self._frame = mujoco.MjrRect(0, 0, width, height)
        self._scene = mujoco.MjvScene(model, maxgeom=MOST_SHAPES)
        for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION):
            self._scene.flags[flag] = False
        name = self.env.spec.id.partition("-v")[0]
        distance, elevation, azimuth, followed = _VIEWS.get(
            name, (2.2 * model.stat.extent, -20, 90, "torso")
        )
        self._options = mujoco.MjvOption()
        camera = self._camera = mujoco.MjvCamera()
        camera.distance, camera.elevation, camera.azimuth = distance, elevation, azimuth
        body = mujoco.mjtObj.mjOBJ_BODY
        self._followed = mujoco.mj_name2id(model, body, followed) if followed else -1

    def look(self) -> Frame:
        """What is to be seen now."""
        mujoco = self._mujoco
        model, data = self.env.unwrapped.model, self.env.unwrapped.data
        if self._followed >= 0:
            self._camera.lookat[:] = data.xpos[self._followed]
        mujoco.mjv_updateScene(
            *(model, data, self._options, None, self._camera),
            *(mujoco.mjtCatBit.mjCAT_ALL, self._scene),
        )
        mujoco.mjr_render(self._frame, self._scene, self._pen)
        _, height, width = self.what
        upside_down = np.empty((height, width, 3), dtype=np.uint8)
        mujoco.mjr_readPixels(upside_down, None, self._frame, self._pen)
        return upside_down[::-1]

    def close(self) -> None:
        """Give back what it holds of the machine's drawing."""
        with self.gl.as_current():
            self._pen.free()
        self.gl.free()
        self.env.close()


class _FreeStages:
    """Stages that nobody uses at the moment, those that were used last at the end."""

    def __init__(self) -> None:
        self._stages: list[_Stage] = []
        self._changing = Lock()

    def borrow(self, what: tuple[str, int, int]) -> _Stage | None:
        """One of this kind, if there is one."""
        with self._changing:
            for stage in reversed(self._stages):
                if stage.what == what:
                    self._stages.remove(stage)
                    return stage
        return None

    def give_back(self, stage: _Stage) -> None:
        """Keep it for others, but no more than can be used at a time."""
        with self._changing:
            self._stages.append(stage)
            superfluous = self._stages[: -(os.cpu_count() or 1)]
            del self._stages[: len(superfluous)]
        for old in superfluous:
            old.close()

    def close(self) -> None:
        """Take them all down."""
        with self._changing:
            stages, self._stages = self._stages, []
        for stage in stages:
            stage.close()


_free = _FreeStages()


def forget_stages() -> None:
    """Make the next clip as if it were the first."""
    _free.close()
