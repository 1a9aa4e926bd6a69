"""Deterministic samplers: each point has one picture, and a near point has a similar one.

Most solve an ordinary differential equation and add no noise. The sampler of latent consistency
models (LCM) adds noise between its few steps; here that noise is drawn from a fixed seed, the same
for all pictures. Other samplers that add noise on the way (ancestral, SDE, DDPM) are refused.
"""

from __future__ import annotations

from typing import Any

from zorank.errors import InvalidInput

SAMPLERS = ("dpm++", "ddim", "euler", "lcm", "own")
"""DPM-Solver++ of order 2, DDIM with η = 0, Euler, LCM with noise from a fixed seed, or the one
that the pipeline was saved with."""

SPACINGS = ("own", "trailing", "leading", "linspace")
"""Which of the training's noise levels the steps use; "own" is the pipeline's setting."""

SEEDED = {"LCMScheduler"}
"""Schedulers that draw noise from the generator of the call."""

WITHOUT_NOISE = {
    "DDIMScheduler",
    "DEISMultistepScheduler",
    "DPMSolverMultistepScheduler",
    "DPMSolverSinglestepScheduler",
    "EulerDiscreteScheduler",
    "FlowMatchEulerDiscreteScheduler",
    "FlowMatchHeunDiscreteScheduler",
    "HeunDiscreteScheduler",
    "IPNDMScheduler",
    "KDPM2DiscreteScheduler",
    "LMSDiscreteScheduler",
    "PNDMScheduler",
    "UniPCMultistepScheduler",
}
"""Schedulers of diffusers that add no noise, as long as their settings do not ask for it."""


def check_name(sampler: str) -> None:
    """Raise for an unsupported sampler, with the reason."""
    if sampler not in SAMPLERS:
        raise InvalidInput(
            f"the sampler {sampler!r} is not supported: a point must always give the same "
            "picture, so only samplers that add no noise on the way can be used, or LCM's, whose "
            "noise has a fixed seed (no ancestral, SDE or DDPM sampler); choose "
            f"{', '.join(SAMPLERS[:-1])} or {SAMPLERS[-1]}"
        )


def make(sampler: str, saved: Any, spacing: str = "own") -> Any:
    """Make a scheduler of this name with the noise schedule of the pipeline's own."""
    import diffusers

    check_name(sampler)
    kind, settings = type(saved).__name__, dict(saved.config)
    spaced = {} if spacing == "own" else {"timestep_spacing": spacing}
    if sampler == "own":
        if (noise := _noise_of(kind, settings)) is not None:
            raise InvalidInput(
                f"this pipeline's own sampler, {kind}, {noise}, so a point would not always "
                "give the same picture; choose sampler dpm++, ddim or euler"
            )
        return _like(saved, type(saved), **spaced)
    if kind.startswith("FlowMatch"):
        raise InvalidInput(
            f"this pipeline is a flow model ({kind}), for which {sampler} is not meant; its own "
            "sampler adds no noise: choose sampler own"
        )
    if sampler == "ddim":
        # Latents are not bound to [-1, 1] as pixels are: clipping would spoil them.
        return _like(saved, diffusers.DDIMScheduler, clip_sample=False, **spaced)
    if sampler == "euler":
        return _like(saved, diffusers.EulerDiscreteScheduler, **spaced)
    if sampler == "lcm":
        return _like(saved, diffusers.LCMScheduler, clip_sample=False, **spaced)
    solver = diffusers.DPMSolverMultistepScheduler
    return _like(saved, solver, algorithm_type="dpmsolver++", solver_order=2, **spaced)


def generators(scheduler: Any, seed: int, count: int) -> list[Any] | None:
    """Return a generator for each picture of a batch; None for a sampler that adds no noise.

    All have the same seed, so that a picture does not depend on the others.
    """
    if type(scheduler).__name__ not in SEEDED:
        return None
    import torch

    return [torch.Generator().manual_seed(seed) for _ in range(count)]


def _like(saved: Any, kind: Any, **settings: Any) -> Any:
    return kind.from_config(saved.config, **settings)


def _noise_of(kind: str, settings: dict[str, Any]) -> str | None:
    """Describe how a scheduler adds noise; None if it does not."""
    if kind not in WITHOUT_NOISE | SEEDED:
        return "adds noise on the way, or is not known to add none"
    if str(settings.get("algorithm_type", "")).startswith("sde"):
        return f"is set to {settings['algorithm_type']}, which adds noise on the way"
    if settings.get("stochastic_sampling"):
        return "is set to stochastic sampling"
    return None
