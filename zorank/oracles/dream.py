"""The judge that comes with zorank: how well a landscape fits a prompt, offline and without torch.

It was trained by contrast on the landscapes that `dream` learned from, so it knows the same words
and is a judge for such pictures only.
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

SEEN = (64, 64)


@dataclass(frozen=True)
class DreamJudge:
    """Scores pictures by how well they fit a prompt, from −1 to 1.

    Attributes:
        prompt: what they should show, in the words that dream knows.
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
        """How well each picture fits the prompt."""
        small = np.stack([np.asarray(picture.resize(SEEN), np.float32) for picture in pictures])
        return model.fit(small / np.float32(255), vocabulary.read(self.prompt))
