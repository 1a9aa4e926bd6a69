"""The tuned parts of a generation, and their positions in a candidate.

A candidate is one vector of standard normal numbers: first the noise latents, then the prompt's
coordinates, then that of the guidance, then one for each LoRA, as far as each is tuned. What is
not tuned keeps its value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zorank.errors import InvalidInput, short
from zorank.renderers.candidates import check_candidate
from zorank.renderers.diffusers.adapters import WeightRange
from zorank.types import Vector

PARTS = ("latents", "prompt", "guidance", "adapters")
"""The parts that can be tuned, in the order of their coordinates."""

NO_LORAS = WeightRange()

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
    """The inputs of one picture: latents, coordinates of a tuned prompt, guidance, weights."""

    latents: Numbers
    prompt: Numbers | None
    guidance: float
    weights: tuple[float, ...] = ()


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
        weights: the weights of the LoRAs, and how far each may be tuned.
    """

    parts: tuple[str, ...]
    shape: tuple[int, ...]
    prompt_rank: int
    guidance: float
    guidance_spread: float
    seed: int
    weights: WeightRange = NO_LORAS

    @property
    def dim(self) -> int:
        """The number of coordinates of a candidate."""
        return sum(self._sizes())

    def check(self, candidate: Vector) -> Vector:
        """Return a finite copy of a candidate of the right length, or raise."""
        owner = f"a pipeline with {'+'.join(self.parts)} tuned"
        return check_candidate(candidate, self.dim, owner)

    def read(self, candidate: Vector) -> Point:
        """Split a candidate into the inputs of its picture."""
        vector = self.check(candidate)
        ends = np.cumsum(self._sizes())[:-1]
        latents, prompt, guidance, weights = np.split(vector, ends)
        if "latents" not in self.parts:
            latents = np.random.default_rng(self.seed).standard_normal(self.shape)
        # A factor, so that it stays positive however far the search goes.
        factor = math.exp(self.guidance_spread * float(guidance[0])) if guidance.size else 1.0
        return Point(
            latents.reshape(self.shape).astype(np.float32),
            prompt.astype(np.float32) if prompt.size else None,
            self.guidance * factor,
            self.weights.at(weights.tolist()) if weights.size else self.weights.stated,
        )

    def placed(self, latents: Numbers) -> Vector:
        """Return the candidate with these latents; what else is tuned has its median."""
        if "latents" not in self.parts:
            raise InvalidInput(
                "the noise is not tuned, so a seed gives no start; add latents to tune, such as "
                f"tune=latents+{'+'.join(self.parts)}"
            )
        found = np.zeros(self.dim)
        found[: latents.size] = latents.ravel()
        return found

    def _sizes(self) -> list[int]:
        sizes = {"latents": math.prod(self.shape), "prompt": self.prompt_rank, "guidance": 1}
        sizes["adapters"] = len(self.weights.stated)
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
