"""Pictures: spirals in SVG.

In this folder: zorank studio --renderer spirals:Spirals
"""

from dataclasses import dataclass

import numpy as np

from zorank.types import Exhibit, Vector


@dataclass(frozen=True)
class Spirals:
    """Dots on a spiral, from ten numbers; the option `dots` can be chosen on the page."""

    dots: int = 260
    dim = 10
    media_type = "image/svg+xml"
    title = "Spirals"
    description = "Sunflowers and galaxies, drawn with dots."

    def render(self, candidates: list[Vector]) -> list[Exhibit]:
        """An SVG picture for each candidate."""
        return [Exhibit("image/svg+xml", self.draw(x).encode()) for x in candidates]

    def draw(self, x: Vector) -> str:
        """One spiral."""
        i = np.arange(1, self.dots)
        angle = i * (2.399963 + 0.02 * x[0]) + x[1]
        radius = 230 * (i / self.dots) ** np.exp(x[2] / 4 - 0.5)
        size = np.exp(1.6 + x[3] / 3) * (1 + 0.5 * np.tanh(x[4]) * np.cos(i * (0.1 + 0.05 * x[5])))
        hue = 180 * x[6] + i * x[7] / 2
        across, down = 256 + radius * np.cos(angle), 256 + radius * np.sin(angle)
        dots = "".join(
            f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{r:.1f}" fill="hsl({h:.0f} 70% 62%)"/>'
            for a, b, r, h in zip(across, down, size, hue % 360, strict=True)
        )
        paper = f"hsl({180 * x[8] % 360:.0f} 30% {10 + 4 * np.tanh(x[9]):.0f}%)"
        head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 512 512">'
        return f'{head}<rect width="512" height="512" fill="{paper}"/>{dots}</svg>'
