"""Previews of a picture while it is sampled.

At each step a sampler predicts the clean latents. Decoding a small copy is cheap: a sixteenth of
the pixels is a sixteenth of the work. If a preview fails, it is left out; the picture itself does
not depend on previews.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST = 5
"""The maximal number of previews of one picture."""
SIDE = 16
"""Latent pixels on the shorter side of a preview."""


class Previews:
    """Records the predictions of a scheduler."""

    def __init__(self, scheduler: Any) -> None:
        self._scheduler = scheduler
        self._guess: Any = None
        take_step = scheduler.step

        @wraps(take_step)  # pipelines inspect its signature
        def watched(*arguments: Any, **named: Any) -> Any:
            result = take_step(*arguments, **named)
            self._guess = _guess_in(result, scheduler)
            return result

        scheduler.step = watched

    def due(self, step: int, steps: int) -> bool:
        """Whether to make a preview after this step, counted from 0."""
        every = max(1, -(-steps // (MOST + 1)))
        return (step + 1) % every == 0 and step + 1 < steps

    def pictures(self, pipeline: Any) -> list[NDArray[np.uint8]] | None:
        """Return small pictures of the current prediction; None if they cannot be decoded."""
        if self._guess is None or self._guess.ndim != 4:  # packed latents have no rows to shrink
            return None
        try:
            images = _decoded(pipeline, self._guess)
        except Exception:  # any library may fail; the picture itself is not affected
            return None
        return list((images * 255).round().astype(np.uint8)) if np.isfinite(images).all() else None


def _guess_in(result: Any, scheduler: Any) -> Any:
    """The clean latents that a step was based on: returned by DDIM, kept by DPM-Solver++."""
    if isinstance(result, tuple) and len(result) > 1:
        return result[1]
    kept = getattr(scheduler, "model_outputs", None) or [None]
    return kept[-1]


def _decoded(pipeline: Any, latents: Any) -> NDArray[np.float32]:
    import torch

    shrink = max(1, min(latents.shape[-2:]) // SIDE)
    with torch.no_grad():
        small = torch.nn.functional.avg_pool2d(latents, shrink)
        vae = pipeline.vae
        small = small / vae.config.scaling_factor + (getattr(vae.config, "shift_factor", 0) or 0)
        decoded = vae.decode(small.to(vae.dtype), return_dict=False)[0]
    images: NDArray[np.float32] = pipeline.image_processor.postprocess(decoded, output_type="np")
    return images
