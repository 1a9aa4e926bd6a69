"""Films an episode of a policy: simulates it, draws frames and encodes them as an MP4."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from zorank.errors import RenderError, ZorankError, one_line, required_by
from zorank.rl import mujoco_camera
from zorank.rl.environments import MAX_STEPS, is_mujoco, make_env
from zorank.rl.mujoco_camera import Frame, Stage

FRAMES_PER_SECOND = 25
"""Environments with more frames per second are drawn every few steps only."""
_ENCODER_OPTIONS = [
    *("-crf", "24", "-preset", "veryfast", "-threads", "1"),
    *("-movflags", "+faststart"),  # browsers can play it before all of it has arrived
]


@dataclass(frozen=True)
class Shot:
    """The settings of a clip.

    Attributes:
        env: the id of a Gymnasium environment.
        reset: the reset seed of the episode.
        seconds: the length of the clip; it is shorter if the episode ends earlier.
        height: the height of a frame in pixels. Only MuJoCo's environments use the size; others
            draw frames of their own size.
        width: the width of a frame in pixels.
        max_steps: the largest number of steps of the episode.
    """

    env: str
    reset: int
    seconds: float
    height: int
    width: int
    max_steps: int = MAX_STEPS


def film_frames(shot: Shot, act: Callable[[Any], Any]) -> tuple[list[Frame], float]:
    """Return the frames of an episode, and their number per second."""
    with _filming(shot, act) as (frames, rate):
        return list(frames), rate


def film_clip(shot: Shot, act: Callable[[Any], Any]) -> bytes:
    """Return an episode as an MP4. Each frame is encoded while the next one is drawn."""
    with _filming(shot, act) as (frames, rate):
        return encode(frames, rate)


def prepare(env_name: str) -> None:
    """Find a graphics backend if the environment needs one; raise RenderError if none works."""
    if is_mujoco(env_name):
        mujoco_camera.choose_backend()


@contextmanager
def _filming(shot: Shot, act: Callable[[Any], Any]) -> Iterator[tuple[Iterator[Frame], float]]:
    prepare(shot.env)
    if is_mujoco(shot.env):
        stage = mujoco_camera.pooled_stage(shot.env, shot.height, shot.width)
    else:
        stage = _gymnasium_stage(shot.env)
    with _as_render_error(shot.env), stage as (env, draw):
        rate = float(env.metadata.get("render_fps") or 30)
        every = max(1, round(rate / FRAMES_PER_SECOND))
        steps = max(2, min(round(shot.seconds * rate), shot.max_steps))
        yield _draw_episode(env, draw, act, shot.reset, steps, every), rate / every


@contextmanager
def _as_render_error(env_name: str) -> Iterator[None]:
    """Turn any error of an environment or of its drawing into a RenderError."""
    try:
        yield
    except ZorankError:
        raise
    except Exception as error:
        raise RenderError(f"{env_name} cannot be filmed ({one_line(error)})") from error


def _draw_episode(
    env: Any,
    draw: Callable[[], Frame],
    act: Callable[[Any], Any],
    reset: int,
    steps: int,
    every: int,
) -> Iterator[Frame]:
    observation, _ = env.reset(seed=reset)
    yield draw()
    for step in range(1, steps):
        action = act(observation)
        if not np.isfinite(action).all():
            return  # the episode diverged: the clip ends here
        observation, _, terminated, truncated, _ = env.step(action)
        if step % every == 0:
            yield draw()
        if terminated or truncated:
            return


@contextmanager
def _gymnasium_stage(env_name: str) -> Iterator[Stage]:
    """Make an environment that draws itself."""
    with closing(make_env(env_name, render_mode="rgb_array")) as env:
        yield env, lambda: _to_rgb(np.asarray(env.render(), dtype=np.uint8))


def _to_rgb(frame: Frame) -> Frame:
    """Convert a grey, RGB or RGBA frame to RGB."""
    if frame.ndim == 2:
        frame = np.repeat(frame[:, :, None], 3, axis=2)
    if frame.ndim != 3 or frame.shape[2] not in (3, 4) or min(frame.shape[:2]) < 2:
        raise ValueError(f"a frame must have the shape (height, width, 3), found {frame.shape}")
    return frame[:, :, :3]


def encode(frames: Iterable[Frame], rate: float) -> bytes:
    """Return frames as an MP4 that browsers can play."""
    with required_by("clips", "imageio-ffmpeg", "rl"):
        import imageio_ffmpeg
    remaining = iter(frames)
    first = next(remaining)
    height, width = (side - side % 2 for side in first.shape[:2])  # H.264 needs even sizes
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "clip.mp4"
        writer = imageio_ffmpeg.write_frames(
            str(file),
            (width, height),
            fps=rate,
            codec="libx264",
            macro_block_size=2,
            ffmpeg_log_level="error",
            output_params=_ENCODER_OPTIONS,
        )
        with closing(writer):
            writer.send(None)
            for frame in chain([first], remaining):
                writer.send(np.ascontiguousarray(frame[:height, :width]))
        return file.read_bytes()
