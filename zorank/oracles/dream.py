"""The built-in judge: it scores how well a landscape fits a prompt, offline and without torch.

It was trained contrastively on the training pictures of `dream`. So it knows the same vocabulary
and fits such pictures only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from zorank.dream import model, vocabulary
from zorank.errors import InvalidInput
from zorank.types import Vector

if TYPE_CHECKING:
    from PIL.Image import Image

INPUT_SIZE = (64, 64)
"""Pixels of the network's input."""


@dataclass(frozen=True)
class DreamJudge:
    """Scores pictures by how well they fit a prompt, from −1 to 1.

    Attributes:
        prompt: what they should show, in the vocabulary of dream.
    """

    prompt: str = ""

    requires: ClassVar[tuple[str, ...]] = ("onnxruntime",)
    renderers: ClassVar[tuple[str, ...]] = ("dream", "landscape")

    def __post_init__(self) -> None:
        if not vocabulary.read(self.prompt).any():
            raise InvalidInput(
                "the judge dream needs a prompt that says what pictures should show; for instance "
                'prompt="snowy night"'
            )

    def score(self, pictures: Sequence[Image]) -> Vector:
        """Return how well each picture fits the prompt."""
        small = np.stack(
            [np.asarray(picture.resize(INPUT_SIZE), np.float32) for picture in pictures]
        )
        return model.fit(small / np.float32(255), vocabulary.read(self.prompt))
