"""Encodes pictures as grids of patches by principal component analysis, and decodes them.

Component i of a patch is scaled to a standard deviation of 3·(sᵢ/s₀)^0.7, so that large shapes
emerge from the noise first and fine detail keeps some weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from network import COMPONENTS, GRID, PATCH_PIXELS
from torch import Tensor

PATCH = PATCH_PIXELS
SPREAD, FALL = 3.0, 0.7


@dataclass(frozen=True)
class Codec:
    mean: Tensor  # (48,), the mean patch
    into: Tensor  # (components, 48)
    back: Tensor  # (48, components)
    spread: Tensor  # (components,), their standard deviations

    @classmethod
    def of(cls, pictures: np.ndarray) -> Codec:
        """Fit the codec to pictures, (n, 64, 64, 3) bytes."""
        rows = _patches(as_tensor(pictures)).reshape(-1, 3 * PATCH**2).double()
        mean = rows.mean(0)
        values, vectors = torch.linalg.eigh((rows - mean).T @ (rows - mean) / len(rows))
        spread = values.flip(0)[:COMPONENTS].sqrt()
        axes = vectors.flip(1)[:, :COMPONENTS]
        axes = axes * axes.sum(0).sign().where(axes.sum(0) != 0, torch.tensor(1.0))
        scaled = SPREAD * (spread / spread[0]) ** FALL
        into, back = axes * (scaled / spread), axes * (spread / scaled)
        return cls(mean.float(), into.T.float().contiguous(), back.float(), scaled.float())

    def encode(self, pictures: Tensor) -> Tensor:
        """Encode pictures (n, 3, 64, 64) from −1 to 1 as grids (n, components, 16, 16)."""
        grids = (_patches(pictures) - self.mean) @ self.into.T
        return grids.reshape(-1, GRID, GRID, COMPONENTS).permute(0, 3, 1, 2).contiguous()

    def decode(self, grids: Tensor) -> Tensor:
        """Decode grids to pictures (n, 3, 64, 64)."""
        patches = grids.permute(0, 2, 3, 1) @ self.back.T + self.mean
        pixels = patches.reshape(-1, GRID, GRID, 3, PATCH, PATCH).permute(0, 3, 1, 4, 2, 5)
        return pixels.reshape(-1, 3, GRID * PATCH, GRID * PATCH)


def as_tensor(pictures: np.ndarray) -> Tensor:
    """Convert bytes (n, rows, columns, 3) to numbers (n, 3, rows, columns) from −1 to 1."""
    return torch.from_numpy(np.ascontiguousarray(pictures)).permute(0, 3, 1, 2).float() / 127.5 - 1


def as_bytes(pictures: Tensor) -> np.ndarray:
    """The inverse of `as_tensor`."""
    return (pictures.clamp(-1, 1) * 127.5 + 127.5).round().byte().permute(0, 2, 3, 1).numpy()


def _patches(pictures: Tensor) -> Tensor:
    """Return the patches of pictures in reading order, (n, 256, 48)."""
    cut = pictures.reshape(-1, 3, GRID, PATCH, GRID, PATCH).permute(0, 2, 4, 1, 3, 5)
    return cut.reshape(-1, GRID * GRID, 3 * PATCH**2)
