"""A node for ComfyUI: noise that is a weighted sum of the noise of several seeds.

ComfyUI loads this file from its folder `custom_nodes`; `zorank comfyui-node` copies it there. It
needs nothing else of zorank. The node's output is a NOISE, for the node SamplerCustomAdvanced.

The weights w have the norm 1, so that the sum of independent noise, w₀·n(seed) + w₁·n(seed + 1)
+ …, is distributed like the noise of one seed. They are few, whatever the size of the latents.
"""

import base64
import binascii
import math
import struct
from typing import Any

SEEDS = 2**64
"""How many seeds ComfyUI has."""


class SeedBlend:
    """A NOISE of ComfyUI: an object with a `seed` and `generate_noise`."""

    def __init__(self, seed: int, weights: list[float]) -> None:
        self.seed = seed  # of the noise that some samplers add at every step
        self.weights = weights

    def generate_noise(self, input_latent: dict[str, Any]) -> Any:
        """Return noise of the latents' shape; with the weights 1, 0, 0 … it is that of `seed`."""
        from comfy.sample import prepare_noise

        latents, positions = input_latent["samples"], input_latent.get("batch_index")
        total = None
        for offset, weight in enumerate(self.weights):
            part = prepare_noise(latents, (self.seed + offset) % SEEDS, positions) * weight
            total = part if total is None else total + part
        return total


def decode_weights(coordinates: str) -> list[float]:
    """Return weights of norm 1 from base64 of little-endian float32; [1.0] from nothing."""
    try:
        data = base64.b64decode(coordinates, validate=True)
        numbers = struct.unpack(f"<{len(data) // 4}f", data)
    except (binascii.Error, struct.error, ValueError) as error:
        raise ValueError(f"coordinates must be base64 of float32 numbers ({error})") from error
    norm = math.sqrt(sum(number * number for number in numbers))
    if not math.isfinite(norm):
        raise ValueError("coordinates must be finite numbers")
    return [number / norm for number in numbers] if norm else [1.0]


class ZorankNoise:
    """The node."""

    CATEGORY = "sampling/custom_sampling/noise"
    DESCRIPTION = "Noise as a weighted sum of the noise of several seeds. zorank sets the weights."
    RETURN_TYPES = ("NOISE",)
    FUNCTION = "make"

    @classmethod
    def INPUT_TYPES(cls) -> dict[str, Any]:  # noqa: D102
        return {
            "required": {
                "noise_seed": ("INT", {"default": 0, "min": 0, "max": SEEDS - 1}),
                "coordinates": ("STRING", {"default": ""}),
            }
        }

    def make(self, noise_seed: int, coordinates: str) -> tuple[SeedBlend]:
        """Return the node's output."""
        return (SeedBlend(noise_seed, decode_weights(coordinates)),)


NODE_CLASS_MAPPINGS = {"ZorankNoise": ZorankNoise}
NODE_DISPLAY_NAME_MAPPINGS = {"ZorankNoise": "Noise from zorank"}
