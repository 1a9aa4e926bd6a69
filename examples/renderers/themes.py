"""Text: colours and type of a page.  zorank studio --renderer themes:Theme  (in this folder)."""

import numpy as np

from zorank.types import Exhibit, Vector

PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; padding: 8%; background: hsl({paper} {soft}% {light}%);
  color: hsl({ink} 30% {dark}%); font: {size}px/{leading} {face} }}
h1 {{ font-size: {scale}em; line-height: 1.1; color: hsl({accent} {vivid}% 45%) }}
a {{ display: inline-block; padding: .5em 1em; border-radius: {round}px; color: white;
  background: hsl({accent} {vivid}% 45%) }}</style>
<h1>Small is beautiful</h1><p>A good page asks little and gives much.</p><a>Read on</a>"""


class Theme:
    """A page in colours and type chosen by twelve numbers."""

    dim = 12
    media_type = "text/html"
    title = "Page themes"

    def render(self, candidates: list[Vector]) -> list[Exhibit]:
        """A page for each candidate."""
        return [Exhibit("text/html", PAGE.format(**self.style(x)).encode()) for x in candidates]

    def style(self, x: Vector) -> dict[str, float | str]:
        """The numbers as a style."""
        u = 1 / (1 + np.exp(-1.7 * np.asarray(x)))  # each between 0 and 1
        face = ("Georgia, serif", "system-ui, sans-serif")[int(u[0] > 0.5)]
        hues = {"paper": 360 * u[1], "ink": 360 * u[4], "accent": 360 * u[6]}
        tones = {"soft": 60 * u[2], "light": 82 + 16 * u[3], "dark": 8 + 22 * u[5]}
        sizes = {"size": 13 + 6 * u[8], "scale": 1.4 + 1.4 * u[9], "leading": 1.2 + 0.7 * u[10]}
        return {
            **hues,
            **tones,
            **sizes,
            "vivid": 30 + 60 * u[7],
            "round": 24 * u[11],
            "face": face,
        }
