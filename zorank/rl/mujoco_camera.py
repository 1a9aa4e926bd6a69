"""Draws MuJoCo's environments: a graphics backend that works, and a pool of cameras.

Frames are drawn without shadows, reflections, antialiasing and facets smaller than a pixel. That
takes a tenth of the time, and the motion looks the same. Making a camera takes as long as drawing
eighty frames and blocks other threads, so cameras are kept for the next clip.
"""

from __future__ import annotations

import atexit
import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from zorank.errors import RenderError
from zorank.rl.environments import make_env

Frame: TypeAlias = NDArray[np.uint8]
"""An RGB picture, (height, width, 3)."""
Stage: TypeAlias = tuple[Any, Callable[[], Frame]]
"""An environment, and a function that draws its current state."""

FINE_HEIGHT = 400
"""Frames of a smaller height, in pixels, are drawn with fewer facets."""
MAX_GEOMS = 1000
"""The largest number of geometries in a scene; MuJoCo does not draw further ones."""
BACKENDS = ("egl", "osmesa", "glfw")
_PROBE = """
import mujoco
model = mujoco.MjModel.from_xml_string('<mujoco><worldbody><geom size=".1"/></worldbody></mujoco>')
with mujoco.Renderer(model, 16, 16) as renderer:
    renderer.update_scene(mujoco.MjData(model))
    assert renderer.render().shape == (16, 16, 3)
"""
# By environment: distance, elevation and azimuth of the camera, and the body that it follows.
_VIEWS: dict[str, tuple[float, float, float, str]] = {
    "HalfCheetah": (2.6, -12, 90, "torso"),
    "Swimmer": (4.4, -60, 90, "torso"),
    "Hopper": (2.8, -12, 90, "torso"),
    "Walker2d": (3.2, -12, 90, "torso"),
    "Reacher": (0.62, -90, 90, ""),
    "Ant": (4.0, -25, 90, "torso"),
    "Humanoid": (4.0, -12, 120, "torso"),
}
_choosing = Lock()


def choose_backend() -> str:
    """Find a graphics backend that works here, set MUJOCO_GL to it, and return it."""
    with _choosing:
        return _working_backend()


@cache
def _working_backend() -> str:
    requested = os.environ.get("MUJOCO_GL")
    failures = {}
    for backend in [requested] if requested else BACKENDS:
        # A subprocess, because MuJoCo reads MUJOCO_GL once, and a broken backend may crash.
        probe = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", _PROBE],
            env={**os.environ, "MUJOCO_GL": backend},
            capture_output=True,
            text=True,
            timeout=120,
        )
        if probe.returncode == 0:
            os.environ["MUJOCO_GL"] = backend
            _reload("mujoco.rendering.classic.gl_context")
            return backend
        failures[backend] = (probe.stderr.strip().splitlines() or ["no reason given"])[-1]
    reasons = "; ".join(f"{backend}: {reason:.90}" for backend, reason in failures.items())
    raise RenderError(
        "MuJoCo found no graphics backend. Install one (Debian: apt-get install libegl1 "
        "libgl1-mesa-dri for MUJOCO_GL=egl, or libosmesa6 for MUJOCO_GL=osmesa) and try again; "
        f"the run is saved. Tried {reasons}"
    )


def _reload(module: str) -> None:
    """Make MuJoCo read MUJOCO_GL again, if it was imported before the backend was chosen."""
    if module in sys.modules:
        importlib.reload(sys.modules[module])


@contextmanager
def pooled_stage(env_name: str, height: int, width: int) -> Iterator[Stage]:
    """Take an environment with a camera from the pool, or make one; return it afterwards."""
    camera = _pool.take((env_name, height, width)) or _Camera(env_name, height, width)
    try:
        with camera.gl.as_current():
            yield camera.env, camera.draw
    except BaseException:
        camera.close()  # its state is unknown
        raise
    _pool.put_back(camera)


def close_cameras() -> None:
    """Close all cameras of the pool."""
    _pool.close()


class _Camera:
    """A MuJoCo environment and its renderer; only one thread may use it at a time."""

    def __init__(self, env_name: str, height: int, width: int) -> None:
        import mujoco
        from mujoco.rendering.classic import gl_context

        self.key = (env_name, height, width)
        self.env = make_env(env_name)
        self._mujoco = mujoco
        model = self.env.unwrapped.model
        model.vis.quality.offsamples = 0
        model.vis.global_.offwidth, model.vis.global_.offheight = width, height
        if height < FINE_HEIGHT:
            model.vis.quality.numslices, model.vis.quality.numstacks = 16, 8
        self.gl = gl_context.GLContext(width, height)
        with self.gl.as_current():  # released afterwards, so that any thread can use it
            self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_50)
            mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        # Exit handlers run in reverse order: ours must be registered after MuJoCo's.
        atexit.unregister(close_cameras)
        atexit.register(close_cameras)
        self._viewport = mujoco.MjrRect(0, 0, width, height)
        self._scene = mujoco.MjvScene(model, maxgeom=MAX_GEOMS)
        for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION):
            self._scene.flags[flag] = False
        self._options = mujoco.MjvOption()
        self._view, self._followed = self._make_view(model)

    def _make_view(self, model: Any) -> tuple[Any, int]:
        """Return MuJoCo's camera, and the id of the body that it follows or −1."""
        name = self.env.spec.id.partition("-v")[0]
        distance, elevation, azimuth, followed = _VIEWS.get(
            name, (2.2 * model.stat.extent, -20, 90, "torso")
        )
        view = self._mujoco.MjvCamera()
        view.distance, view.elevation, view.azimuth = distance, elevation, azimuth
        body = self._mujoco.mjtObj.mjOBJ_BODY
        return view, self._mujoco.mj_name2id(model, body, followed) if followed else -1

    def draw(self) -> Frame:
        """Return a frame of the current state."""
        mujoco = self._mujoco
        model, data = self.env.unwrapped.model, self.env.unwrapped.data
        if self._followed >= 0:
            self._view.lookat[:] = data.xpos[self._followed]
        mujoco.mjv_updateScene(
            *(model, data, self._options, None, self._view),
            *(mujoco.mjtCatBit.mjCAT_ALL, self._scene),
        )
        mujoco.mjr_render(self._viewport, self._scene, self._context)
        _, height, width = self.key
        upside_down = np.empty((height, width, 3), dtype=np.uint8)
        mujoco.mjr_readPixels(upside_down, None, self._viewport, self._context)
        return upside_down[::-1]

    def close(self) -> None:
        """Free the graphics context and the environment."""
        with self.gl.as_current():
            self._context.free()
        self.gl.free()
        self.env.close()


class _CameraPool:
    """Cameras that are not in use, the most recently used last."""

    def __init__(self) -> None:
        self._cameras: list[_Camera] = []
        self._lock = Lock()

    def take(self, key: tuple[str, int, int]) -> _Camera | None:
        """Remove and return a camera for this environment and size, if there is one."""
        with self._lock:
            for camera in reversed(self._cameras):
                if camera.key == key:
                    self._cameras.remove(camera)
                    return camera
        return None

    def put_back(self, camera: _Camera) -> None:
        """Add a camera, and close the oldest ones beyond one for each core."""
        with self._lock:
            self._cameras.append(camera)
            superfluous = self._cameras[: -(os.cpu_count() or 1)]
            del self._cameras[: len(superfluous)]
        for old in superfluous:
            old.close()

    def close(self) -> None:
        """Close all cameras."""
        with self._lock:
            cameras, self._cameras = self._cameras, []
        for camera in cameras:
            camera.close()


_pool = _CameraPool()
