"""A renderer of short texts, for benchmarks of the studio: --renderer tiny_renderer:Tiny."""

from collections.abc import Iterable
from pathlib import Path

from zorank.types import Exhibit, Vector

NAME = "tiny_renderer:Tiny"
FOLDER = Path(__file__).parent
"""The folder from which a studio imports it."""


class Tiny:
    """Renders the first coordinate."""

    dim = 16
    media_type = "text/plain"

    def render(self, candidates: Iterable[Vector]) -> list[Exhibit]:
        """Return one text for each candidate."""
        return [Exhibit("text/plain", b"%.3f" % x[0]) for x in candidates]
