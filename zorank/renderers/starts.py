"""Starts of runs: a vector, or the noise that another program draws from a seed.

A seed is written `seed:1234`, or `seed:1234:cuda` for noise that was drawn on an Nvidia GPU; the
size of the picture may follow, such as `seed:1234:cuda:512x768`, because noise depends on it.
`picture_seeds` finds the seed in the files of other programs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zorank.errors import InvalidInput, short
from zorank.types import Vector, as_vector

if TYPE_CHECKING:
    from zorank.renderers.interface import ResolvedRenderer

GENERATORS = ("cpu", "cuda")
LARGEST_SEED = 2**64 - 1
_FORM = re.compile(r"seed:(\d{1,20})(?::(cpu|cuda))?(?::(\d{1,5})x(\d{1,5}))?", re.ASCII)


@dataclass(frozen=True)
class Seed:
    """A seed of another program.

    Attributes:
        number: the seed.
        generator: "cpu" or "cuda": which of torch's generators drew the noise.
        width, height: of the picture in pixels; 0 if they are not known.
    """

    number: int
    generator: str = "cpu"
    width: int = 0
    height: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.number <= LARGEST_SEED:
            raise InvalidInput(f"a seed must be from 0 to 2⁶⁴ − 1, found {short(self.number)}")

    @classmethod
    def parse(cls, text: str) -> Seed:
        """Read a text such as seed:1234."""
        found = _FORM.fullmatch(text)
        if found is None:
            raise InvalidInput(
                "a start must be seed:N, seed:N:cuda for noise of an Nvidia GPU, or a vector of "
                f"numbers, found {short(text)}"
            )
        number, generator, width, height = found.groups()
        return cls(int(number), generator or "cpu", int(width or 0), int(height or 0))

    def __str__(self) -> str:
        size = f":{self.width}x{self.height}" if self.width else ""
        return f"seed:{self.number}:{self.generator}{size}"

    def check_size(self, width: int, height: int) -> None:
        """Raise unless the picture of the seed has this size, or its size is not known."""
        if self.width and (self.width, self.height) != (width, height):
            raise InvalidInput(
                f"the picture of the seed has {self.width} × {self.height} pixels, those of this "
                f"run {width} × {height}, and noise depends on the size; set width to "
                f"{self.width} and height to {self.height}"
            )


def start_of(renderer: ResolvedRenderer, given: str | Sequence[float] | Vector) -> Vector:
    """Return the start of a run, a candidate of the renderer."""
    if renderer.item_names is not None:
        raise InvalidInput(
            f"{renderer.title} shows a finite set, which has no start; leave the start empty"
        )
    if isinstance(given, str):
        seed = Seed.parse(given)
        if renderer.start is not None:
            return as_vector(renderer.start(seed), "the start")
        return np.random.default_rng(seed.number).standard_normal(renderer.dim)
    start = as_vector(given, "the start")
    if start.size != renderer.dim:
        raise InvalidInput(
            f"the start has {start.size} numbers, and a candidate of {renderer.title} has "
            f"{renderer.dim}; take a vector of the same renderer and options"
        )
    return start


__all__ = ["GENERATORS", "Seed", "start_of"]
