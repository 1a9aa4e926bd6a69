"""Landscapes painted from a vector: every number of a candidate turns one dial of the scene.

Nothing switches: a small turn of a dial is a small change of the picture. `dials` names them all;
`painting` is the page to read first.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zorank import descriptors
from zorank.renderers.candidates import check_candidate
from zorank.renderers.landscape import words
from zorank.renderers.landscape.dials import DIM
from zorank.renderers.landscape.painting import draw
from zorank.renderers.pictures import check_size, jpeg
from zorank.types import Exhibit, Vector


@dataclass(frozen=True)
class Landscape:
    """Paints landscapes, `size` pixels a side; every size shows the same scene."""

    size: int = 512

    # Without annotations these are no fields, so a stored configuration holds only the size.
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
        """The picture of a candidate as a (size, size, 3) array of red, green and blue."""
        return draw(_checked(candidate), self.size)

    def look(self, candidates: Iterable[Vector]) -> NDArray[np.float64]:
        """What small pictures of the candidates look like, whatever the size."""
        small = np.stack([draw(_checked(x), descriptors.SIDE) for x in candidates])
        return descriptors.pictures(small.astype(np.float32) / np.float32(255))

    def attributes(self, candidate: Vector) -> dict[str, float]:
        """What the picture shows: for each word a score from 0 to 1, smooth in the candidate."""
        return words.attributes(_checked(candidate))

    def tags(self, candidate: Vector) -> set[str]:
        """The words that fit the picture: those with a high score, and the colour of its sky."""
        return words.tags(_checked(candidate))


def _checked(candidate: Vector) -> Vector:
    return check_candidate(candidate, DIM, "a landscape")


__all__ = ["Landscape"]
