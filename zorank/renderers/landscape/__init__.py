"""Procedural landscapes: each coordinate of a candidate controls one dial of the scene.

The picture is a continuous function of the dials. `dials` lists them; read `painting` first.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zorank import descriptors
from zorank.renderers.candidates import check_candidate
from zorank.renderers.landscape import attributes
from zorank.renderers.landscape.dials import DIM
from zorank.renderers.landscape.painting import draw
from zorank.renderers.pictures import check_size, jpeg
from zorank.types import Exhibit, Vector


@dataclass(frozen=True)
class Landscape:
    """Paints landscapes, `size` pixels a side; every size shows the same scene."""

    size: int = 512

    # Without annotations these are not fields: a stored configuration has only the size.
    dim = DIM
    space = "gaussian"
    title = "Landscape"
    description = "Mountains, lakes and skies at any hour, painted from 62 numbers."

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", check_size(self.size, "the size of a landscape"))

    def render(self, candidates: Iterable[Vector]) -> list[Exhibit]:
        """One JPEG picture for each candidate, in their order."""
        return [Exhibit("image/jpeg", jpeg(self.picture(x))) for x in candidates]

    def picture(self, candidate: Vector) -> NDArray[np.uint8]:
        """Return the picture of a candidate, (size, size, 3), RGB."""
        return draw(_checked(candidate), self.size)

    def look(self, candidates: Iterable[Vector]) -> NDArray[np.float64]:
        """Return the features of small pictures of the candidates; `size` does not matter."""
        small = np.stack([draw(_checked(x), descriptors.SIDE) for x in candidates])
        return descriptors.pictures(small.astype(np.float32) / np.float32(255))

    def attributes(self, candidate: Vector) -> dict[str, float]:
        """Return a score from 0 to 1 for each word, smooth in the candidate."""
        return attributes.scores(_checked(candidate))

    def tags(self, candidate: Vector) -> set[str]:
        """Return the words with a score above ½, and the sky's main colour."""
        return attributes.tags(_checked(candidate))


def _checked(candidate: Vector) -> Vector:
    return check_candidate(candidate, DIM, "a landscape")


__all__ = ["Landscape"]
