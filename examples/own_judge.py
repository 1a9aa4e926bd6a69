"""A judge of one's own: it scores pictures by colour, higher is better.

In this folder: zorank studio --judge own_judge:ColourJudge --judge-option colour=green
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import zorank

CHANNELS = ("red", "green", "blue")


@dataclass(frozen=True)
class ColourJudge:
    """Prefers one colour; the page that starts a run has a field for it."""

    colour: str = "blue"

    # Both are optional. A judge whose packages are missing is not offered.
    requires: ClassVar[tuple[str, ...]] = ("PIL",)
    renderers: ClassVar[tuple[str, ...] | None] = None  # it fits every renderer of pictures

    def __post_init__(self) -> None:
        if self.colour not in CHANNELS:
            raise zorank.InvalidInput(f"colour must be one of {CHANNELS}, found {self.colour!r}")

    def score(self, pictures: Sequence[Any]) -> list[float]:
        """Return the share of the colour in each picture (an RGB picture of Pillow)."""
        means = [np.asarray(picture, dtype=float).mean(axis=(0, 1)) for picture in pictures]
        return [float(mean[CHANNELS.index(self.colour)] / (mean.sum() + 1)) for mean in means]


if __name__ == "__main__":
    oracle = zorank.oracles.PictureOracle(zorank.renderers.Landscape(64), ColourJudge().score)
    print("shares of blue:", oracle.scores(np.random.default_rng(0).standard_normal((6, 62))))
