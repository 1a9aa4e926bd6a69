"""A judge of one's own: it scores pictures by colour, higher is better.

In this folder: zorank studio --judge own_judge:ColourJudge --judge-option colour=green
Without the studio: python own_judge.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

import zorank

if TYPE_CHECKING:  # importing a judge must not need its packages
    from PIL.Image import Image

CHANNELS = ("red", "green", "blue")


@dataclass(frozen=True)
class ColourJudge:
    """Prefers pictures in which one colour is stronger than the others.

    Attributes:
        colour: "red", "green" or "blue"; the page that starts a run has a field for it.
    """

    colour: str = "blue"

    # Both declarations are optional. Without the packages, the studio does not offer the judge.
    requires: ClassVar[tuple[str, ...]] = ("PIL",)
    renderers: ClassVar[tuple[str, ...] | None] = None  # it fits every renderer of pictures

    def __post_init__(self) -> None:
        if self.colour not in CHANNELS:
            raise zorank.InvalidInput(
                f"colour must be one of {', '.join(CHANNELS)}, found {self.colour!r}"
            )

    def score(self, pictures: Sequence[Image]) -> list[float]:
        """Return the share of the colour in the brightness of each picture."""
        means = [np.asarray(picture, dtype=float).mean(axis=(0, 1)) for picture in pictures]
        return [float(mean[CHANNELS.index(self.colour)] / (mean.sum() + 1)) for mean in means]


if __name__ == "__main__":
    renderer = zorank.renderers.REGISTRY["landscape"](size=64)
    oracle = zorank.oracles.PictureOracle(renderer, ColourJudge("green").score)
    start = np.random.default_rng(0).standard_normal(renderer.dim)
    run = zorank.Run("rank-process", start, seed=0)
    for _ in range(10):
        run.tell(oracle.answer(run.ask()))
    print("share of green:", oracle.scores([start, run.best()]).round(3))
