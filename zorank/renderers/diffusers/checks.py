"""Checks the options of the renderer, which come from forms, commands and stored runs."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from zorank._arrays import is_real, plain
from zorank.errors import InvalidInput, short, unknown_name
from zorank.renderers.diffusers import adapters, models, samplers
from zorank.renderers.diffusers.models import DTYPES
from zorank.renderers.diffusers.tuning import parts_of

if TYPE_CHECKING:
    from zorank.renderers.diffusers import Diffusers

LIMITS: dict[str, tuple[float, float]] = {
    "steps": (1, 1000),
    "guidance": (0, 100),
    "width": (0, 8192),
    "height": (0, 8192),
    "prompt_rank": (1, 256),
    "prompt_spread": (0, 10),
    "guidance_spread": (0, 10),
    "adapter_limit": (0.01, adapters.LARGEST_WEIGHT),
    "adapter_total": (0.01, adapters.MOST * adapters.LARGEST_WEIGHT),
    "adapter_spread": (0, 10),
    "strength": (0.01, 1),
    "drafts": (0, 1000),
    "noise_seed": (0, 2**63 - 1),
    "batch": (0, 64),
}


def check_options(renderer: Diffusers) -> None:
    """Raise for options that are wrong, or that contradict each other."""
    for each in fields(renderer):
        if each.name != "pipeline":
            _check_type(each.name, getattr(renderer, each.name), type(each.default))
    for name, (lowest, highest) in LIMITS.items():
        found = getattr(renderer, name)
        if not lowest <= found <= highest:
            raise InvalidInput(f"{name} must be from {lowest} to {highest}, found {short(found)}")
    if bool(renderer.width) != bool(renderer.height):  # pipelines would then ignore the one given
        raise InvalidInput(
            f"give both width and height, or neither; found {renderer.width} × {renderer.height}"
        )
    if renderer.dtype not in DTYPES:
        raise InvalidInput(
            f"dtype must be one of {', '.join(DTYPES)}, found {short(renderer.dtype)}"
        )
    if renderer.spacing not in samplers.SPACINGS:
        raise unknown_name("spacing", renderer.spacing, samplers.SPACINGS)
    if not models.DEVICE.fullmatch(renderer.device):
        raise InvalidInput(
            f"device must be one of auto, cuda, cuda:1 and so on, mps, cpu, "
            f"found {short(renderer.device)}"
        )
    samplers.check_name(renderer.sampler)
    _check_tuned(renderer)
    if renderer.image and int(renderer.steps * renderer.strength) < 1:
        raise InvalidInput(
            f"strength {renderer.strength:g} leaves none of {renderer.steps} steps; raise one of "
            "them"
        )


def _check_tuned(renderer: Diffusers) -> None:
    """Raise for options that leave nothing to tune, or that contradict each other."""
    parts, loras = parts_of(renderer.tune), adapters.parse(renderer.lora)
    if "adapters" in parts and not loras:
        raise InvalidInput(
            "there is no LoRA whose weight could be tuned; give one, such as "
            "lora=ink.safetensors:0.8"
        )
    if "adapters" in parts:
        renderer.weight_range().check()
    if loras and renderer.has_pipeline:
        raise InvalidInput(
            "a pipeline of your own takes no lora option: load LoRAs into it before you pass it on"
        )


MAX_NUMBER = 1e300
"""Larger numbers count as infinite."""


def _check_type(name: str, found: Any, wanted: type) -> None:
    """Raise unless an option, from a form or a command, has the type of its default."""
    number = is_real(found) and bool(abs(plain(found)) < MAX_NUMBER)
    fits = {
        str: isinstance(found, str),
        int: number and float(found).is_integer(),
        float: number,
    }
    if not fits[wanted]:
        words = {str: "a text", int: "a whole number", float: "a number"}
        raise InvalidInput(f"{name} must be {words[wanted]}, found {short(found)}")
