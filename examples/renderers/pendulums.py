"""Clips: a chain of pendulums (pip install imageio imageio-ffmpeg).

In this folder: zorank studio --renderer pendulums:Pendulums
"""

import imageio.v3 as iio
import numpy as np

from zorank.types import Exhibit, Vector

SIZE, FRAMES = 192, 48


class Pendulums:
    """Nine swinging dots, from eight numbers."""

    dim = 8
    media_type = "video/mp4"
    title = "Pendulums"
    description = "Which one moves best?"

    def render(self, candidates: list[Vector]) -> list[Exhibit]:
        """An MP4 clip for each candidate."""
        return [Exhibit("video/mp4", self.film(np.asarray(x))) for x in candidates]

    def film(self, x: Vector) -> bytes:
        """Two seconds that repeat without a seam."""
        t = np.linspace(0, 2 * np.pi, FRAMES, endpoint=False)[:, None]
        i = np.arange(9)
        across = 0.5 + 0.3 * np.tanh(x[0]) * np.sin(t * (1 + i % 3) + i * x[1] / 2 + x[2])
        down = 0.1 + 0.1 * i + 0.06 * np.tanh(x[3]) * np.cos(2 * t + i * x[4])
        grid = (np.arange(SIZE) + 0.5) / SIZE
        colours = 0.55 + 0.4 * np.cos(x[5] + x[6] * i[:, None] / 4 + np.array([0, 2, 4]))
        frames = np.full((FRAMES, SIZE, SIZE, 3), 0.08)
        for j in range(9):
            squared = (grid - across[:, j, None]) ** 2
            distance = squared[:, None, :] + ((grid - down[:, j, None]) ** 2)[:, :, None]
            frames += np.exp(-distance * 1500 / np.exp(x[7] / 2))[..., None] * colours[j]
        pixels = (255 * np.clip(frames, 0, 1)).astype(np.uint8)
        return iio.imwrite("<bytes>", pixels, extension=".mp4", fps=24, codec="libx264")
