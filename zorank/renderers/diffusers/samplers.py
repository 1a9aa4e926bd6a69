"""Deterministic samplers: they solve an ordinary differential equation and add no noise.

Ranking needs one picture for each point, and pictures that change little where the point does. A
sampler that adds noise on the way (ancestral, SDE, DDPM, LCM) gives neither.
"""

from __future__ import annotations

from typing import Any

from zorank.errors import InvalidInput

SAMPLERS = ("dpm++", "ddim", "own")
"""DPM-Solver++ of order 2, DDIM with η = 0, or the one that the pipeline was saved with."""

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
            f"the sampler {sampler!r} is not on offer: a point must always give the same picture, "
            "so only samplers that add no noise on the way can be used (no ancestral, SDE, DDPM "
            f"or LCM sampler); choose {', '.join(SAMPLERS[:-1])} or {SAMPLERS[-1]}"
        )


def make(sampler: str, saved: Any) -> Any:
    """Make a scheduler of this name with the noise schedule of the pipeline's own."""
    import diffusers

    check_name(sampler)
    kind, settings = type(saved).__name__, dict(saved.config)
    if sampler == "own":
        if (noise := _noise_of(kind, settings)) is not None:
            raise InvalidInput(
                f"this pipeline's own sampler, {kind}, {noise}, so a point would have no picture "
                "of its own; choose sampler dpm++ or ddim"
            )
        return type(saved).from_config(saved.config)
    if kind.startswith("FlowMatch"):
        raise InvalidInput(
            f"this pipeline is a flow model ({kind}), for which {sampler} is not meant; its own "
            "sampler adds no noise: choose sampler own"
        )
    if sampler == "ddim":
        # Latents are not bound to [-1, 1] as pixels are: clipping would spoil them.
        return _like(saved, diffusers.DDIMScheduler, clip_sample=False)
    solver = diffusers.DPMSolverMultistepScheduler
    return _like(saved, solver, algorithm_type="dpmsolver++", solver_order=2)


def _like(saved: Any, kind: Any, **settings: Any) -> Any:
    return kind.from_config(saved.config, **settings)


def _noise_of(kind: str, settings: dict[str, Any]) -> str | None:
    """Describe how a scheduler adds noise; None if it does not."""
    if kind not in WITHOUT_NOISE:
        return "adds noise on the way, or is not known to add none"
    if str(settings.get("algorithm_type", "")).startswith("sde"):
        return f"is set to {settings['algorithm_type']}, which adds noise on the way"
    if settings.get("stochastic_sampling"):
        return "is set to stochastic sampling"
    return None
