"""The noise that other programs draw from a seed, the same to the last bits of single precision.

ComfyUI, and diffusers with a generator on the CPU, draw with torch's generator of the CPU: a
Mersenne Twister. Stable Diffusion web UI (A1111) draws on an Nvidia GPU by default: there each
number comes from a counter, encrypted by Philox 4×32-10 (Salmon et al., Parallel random numbers:
as easy as 1, 2, 3, 2011) under the seed as the key, and the first two words of each counter give
a normal number by Box and Muller. No GPU is needed to compute that.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from zorank.renderers.starts import Seed

ROUNDS = 10
FACTORS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
WORD = 2**32


def drawn(seed: Seed, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return the noise of one picture's latents, (channels, rows, columns)."""
    if seed.generator == "cuda":
        return cuda_normal(seed.number, math.prod(shape)).reshape(shape)
    import torch

    generator = torch.Generator().manual_seed(seed.number)
    found: NDArray[np.float32] = torch.randn((1, *shape), generator=generator)[0].numpy()
    return found


def cuda_normal(seed: int, count: int) -> NDArray[np.float32]:
    """Return the first draws of torch.randn on a GPU with enough threads for one pass."""
    words = philox(seed, count).astype(np.float64)
    radius = (words[0] + 0.5) / WORD  # in (0, 1)
    angle = 2.0 * math.pi * (words[1] + 0.5) / WORD
    return np.asarray(np.sqrt(-2.0 * np.log(radius)) * np.sin(angle), dtype=np.float32)


def philox(seed: int, count: int) -> NDArray[np.uint64]:
    """Return the four words of the counters (0, 0, i, 0) for i < count, (4, count)."""
    low, high = np.uint64(WORD - 1), np.uint64(32)
    words = np.zeros((4, count), np.uint64)
    words[2] = np.arange(count)
    key = [seed % WORD, seed // WORD % WORD]
    for _ in range(ROUNDS):
        a, b = words[0] * np.uint64(FACTORS[0]), words[2] * np.uint64(FACTORS[1])
        keyed = [word ^ np.uint64(k) for word, k in zip(words[1::2], key, strict=True)]
        words = np.stack([(b >> high) ^ keyed[0], b & low, (a >> high) ^ keyed[1], a & low])
        key = [(k + step) % WORD for k, step in zip(key, KEY_STEPS, strict=True)]
    return words


__all__ = ["cuda_normal", "drawn", "philox"]
