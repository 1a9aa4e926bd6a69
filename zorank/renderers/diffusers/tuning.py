"""The tuned parts of a generation, and their positions in a candidate.

A candidate is one vector of standard normal numbers: first the noise latents, then the prompt's
coordinates, then that of the guidance, as far as each is tuned. What is not tuned keeps its value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zorank.errors import InvalidInput, short
from zorank.renderers.candidates import check_candidate
from zorank.types import Vector

PARTS = ("latents", "prompt", "guidance")
"""The parts that can be tuned, in the order of their coordinates."""

Numbers = NDArray[np.float32]


def parts_of(tune: str) -> tuple[str, ...]:
    """Parse a text such as "latents+guidance"."""
    named = [part.strip() for part in tune.split("+")]
    if len(set(named)) < len(named) or not set(named) <= set(PARTS):
        raise InvalidInput(
            f"tune must be {', '.join(PARTS[:-1])} or {PARTS[-1]}, or several of them joined by "
            f"+, such as latents+guidance; found {short(tune)}"
        )
    return tuple(part for part in PARTS if part in named)


@dataclass(frozen=True)
class Point:
    """The inputs of one picture: latents, coordinates of the prompt if tuned, guidance."""

    latents: Numbers
    prompt: Numbers | None
    guidance: float


@dataclass(frozen=True)
class Layout:
    """The layout of a candidate.

    Attributes:
        parts: what is tuned.
        shape: the shape of one picture's latents.
        prompt_rank: how many coordinates the prompt has.
        guidance: the guidance at coordinate 0.
        guidance_spread: the standard deviation of its logarithm.
        seed: the seed of the latents, if they are not tuned.
    """

    parts: tuple[str, ...]
    shape: tuple[int, ...]
    prompt_rank: int
    guidance: float
    guidance_spread: float
    seed: int

    @property
    def dim(self) -> int:
        """The number of coordinates of a candidate."""
        return sum(self._sizes())

    def read(self, candidate: Vector) -> Point:
        """Split a candidate into the inputs of its picture."""
        owner = f"a pipeline with {'+'.join(self.parts)} tuned"
        vector = check_candidate(candidate, self.dim, owner)
        ends = np.cumsum(self._sizes())[:-1]
        latents, prompt, guidance = np.split(vector, ends)
        if "latents" not in self.parts:
            latents = np.random.default_rng(self.seed).standard_normal(self.shape)
        # A factor, so that it stays positive however far the search goes.
        factor = math.exp(self.guidance_spread * float(guidance[0])) if guidance.size else 1.0
        return Point(
            latents.reshape(self.shape).astype(np.float32),
            prompt.astype(np.float32) if prompt.size else None,
            self.guidance * factor,
        )

    def _sizes(self) -> list[int]:
        sizes = {"latents": math.prod(self.shape), "prompt": self.prompt_rank, "guidance": 1}
        return [sizes[part] if part in self.parts else 0 for part in PARTS]


def prompt_directions(rank: int, tokens: int, width: int) -> Numbers:
    """Draw `rank` changes of a (tokens, width) embedding, each of rank 1 and norm 1."""
    rng = np.random.default_rng(rank)
    by_token = _unit(rng.standard_normal((rank, tokens, 1)))
    by_width = _unit(rng.standard_normal((rank, 1, width)))
    return (by_token * by_width).astype(np.float32)


def prompt_offset(coordinates: Sequence[float] | Numbers, embedding: Numbers) -> Numbers:
    """Return the change of an embedding at these coordinates, scaled by the embedding's norm."""
    directions = prompt_directions(len(coordinates), *embedding.shape)
    length = float(np.linalg.norm(embedding)) / math.sqrt(len(coordinates))
    combined = np.tensordot(np.asarray(coordinates, dtype=np.float32), directions, axes=1)
    return np.asarray(length * combined, dtype=np.float32)


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths = np.sqrt((vectors**2).sum(axis=(1, 2), keepdims=True))
    return np.asarray(vectors / lengths)
