"""dream: a small diffusion model that is part of zorank and runs on any CPU, without torch.

It was trained on the pictures of `landscape` and knows a small vocabulary
(`zorank.dream.vocabulary.WORDS`). A candidate is the initial noise of a picture.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zorank import descriptors
from zorank.dream import model, vocabulary
from zorank.dream.samplers import SAMPLERS
from zorank.errors import InvalidInput, short, unknown_name
from zorank.renderers import latents
from zorank.renderers.candidates import check_candidate
from zorank.renderers.options import option
from zorank.renderers.pictures import check_size, jpeg, resized
from zorank.renderers.threads import on_all_cores
from zorank.types import Exhibit, Vector

LOOK_STEPS = 4
"""Sampling steps of the pictures that `look` describes."""


@dataclass(frozen=True)
class Dream:
    """Landscapes sampled from noise, conditioned on a prompt.

    Attributes:
        prompt: what they should show, such as "snowy night, large moon, lake"; "" for anything.
        guidance: the scale of classifier-free guidance; 1 is none.
        steps: sampling steps; more are slower and hardly better.
        sampler: "dpm++" or "ddim".
        size: pixels per side.
    """

    prompt: str = option("", f"Some of: {', '.join(vocabulary.WORDS)}.", more=False)
    guidance: float = option(4.0, "How strongly pictures follow the prompt.")
    steps: int = option(12, "Sampling steps; more are slower and hardly better.")
    sampler: str = option("dpm++", "The sampling method.", choices=SAMPLERS)
    size: int = option(512, "Pixels per side.")

    # Without annotations these are not fields: a stored configuration has only the options.
    shape = model.SHAPE
    dim = prod(model.SHAPE)
    space = "gaussian"
    title = "Dream"
    description = "Landscapes made from noise by a small diffusion model, to your prompt."

    def __post_init__(self) -> None:
        kinds = {"prompt": (str, "a text"), "steps": (int, "a whole number")}
        for name, (kind, words) in {**kinds, "guidance": (Real, "a number")}.items():
            found = getattr(self, name)
            if not isinstance(found, kind) or isinstance(found, bool):
                raise InvalidInput(f"dream's {name} must be {words}, found {short(found)}")
        vocabulary.read(self.prompt)
        if not isinstance(self.sampler, str) or self.sampler not in SAMPLERS:
            raise unknown_name("sampler", self.sampler, SAMPLERS)
        if not 2 <= self.steps <= 1000:
            raise InvalidInput(f"dream needs from 2 to 1000 steps, found {short(self.steps)}")
        if not 0 <= self.guidance <= 20:
            raise InvalidInput(f"the guidance must be from 0 to 20, found {short(self.guidance)}")
        object.__setattr__(self, "size", check_size(self.size))

    @property
    def weights(self) -> str:
        """A short digest of the model's weights."""
        return model.fingerprint()

    def render(self, candidates: Iterable[Vector]) -> list[Exhibit]:
        """One JPEG picture for each candidate, in their order."""

        def exhibit(candidate: Vector) -> Exhibit:
            return Exhibit("image/jpeg", jpeg(self.picture(candidate)))

        return on_all_cores(exhibit, candidates)

    def picture(self, candidate: Vector) -> NDArray[np.uint8]:
        """Return the picture of a candidate, (size, size, 3), RGB."""
        large, _ = self._sample(candidate)
        return resized(np.rint(255 * large).astype(np.uint8), self.size)

    def small_picture(self, candidate: Vector) -> NDArray[np.float32]:
        """Return the picture before it is enlarged: (64, 64, 3), from 0 to 1."""
        return self._sample(candidate)[1]

    def look(self, candidates: Iterable[Vector]) -> NDArray[np.float64]:
        """Return features of pictures of few steps, which have their final layout already."""
        quick = replace(self, steps=min(self.steps, LOOK_STEPS))
        return descriptors.pictures(np.stack([quick.small_picture(x) for x in candidates]))

    def drift(self, candidate: Vector) -> dict[str, Any]:
        """Return how far a candidate is from noise; see `zorank.renderers.latents.drift`."""
        return latents.drift(candidate, self.shape)

    def _sample(self, candidate: Vector) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        vector = check_candidate(candidate, self.dim, "a dream")
        guess = model.guided(vocabulary.read(self.prompt), self.guidance)
        noise = vector.astype(np.float32).reshape(self.shape)
        return model.picture_of(SAMPLERS[self.sampler](guess, noise, self.steps))


__all__ = ["Dream"]
