"""Finds the seed in a PNG of Stable Diffusion web UI (A1111) or ComfyUI.

A1111 writes a text `parameters`, whose last line has the settings; it draws noise on the GPU
unless that line says `RNG: CPU`. ComfyUI writes its graph as JSON, `prompt`, and draws on the CPU.
Only the head of the file is read, never its pixels.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any

from zorank.errors import InvalidInput, required_by
from zorank.renderers.starts import Seed

HEAD = 1 << 18
"""The number of bytes of a file that are read: both programs write their texts first."""

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"?')  # never fails: a search takes linear time
_SETTING = re.compile(r"(?:^|,\s*)(Seed|Size|RNG|Variation seed strength): ([^,\n]+)")


def seed_in(file: bytes) -> Seed:
    """Return the seed that the first bytes of a PNG file tell."""
    texts = _texts(file[:HEAD])
    if "parameters" in texts:
        return _of_a1111(texts["parameters"])
    if "prompt" in texts:
        return _of_comfyui(texts["prompt"])
    raise InvalidInput(
        "the picture has no seed: neither A1111's text `parameters` nor ComfyUI's `prompt` is in "
        "it; take the file that the program saved, or give the seed as seed:N"
    )


def _texts(head: bytes) -> dict[str, str]:
    with required_by("a start from a picture", "pillow", "studio"):
        from PIL import Image
    try:
        with Image.open(BytesIO(head), formats=["PNG"]) as image:
            found = {str(key): text for key, text in image.info.items()}
            return {key: text for key, text in found.items() if isinstance(text, str)}
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise InvalidInput(
            "the start cannot be read from this file: it must be a PNG of A1111 or ComfyUI"
        ) from error


def _of_a1111(text: str) -> Seed:
    last = next((line for line in reversed(text.splitlines()) if "Seed: " in line), "")
    found = {name: value.strip() for name, value in _SETTING.findall(_QUOTED.sub("", last))}
    number, size = found.get("Seed", ""), found.get("Size", "")
    if not re.fullmatch(r"\d{1,20}", number, re.ASCII):
        raise InvalidInput("the text `parameters` of the picture has no seed; give it as seed:N")
    if "Variation seed strength" in found:
        raise InvalidInput(
            "the noise of this picture mixes two seeds (a variation seed), which is not supported;"
            f" start from the first one: seed:{number}:cuda"
        )
    sides = re.fullmatch(r"(\d{1,5})x(\d{1,5})", size, re.ASCII)
    width, height = map(int, sides.groups()) if sides else (0, 0)
    # RNG is absent for noise of the GPU, and NV for the same noise computed elsewhere.
    return Seed(int(number), "cpu" if found.get("RNG") == "CPU" else "cuda", width, height)


def _of_comfyui(text: str) -> Seed:
    try:
        graph = json.loads(text)
    except (ValueError, RecursionError):
        graph = None
    if not isinstance(graph, Mapping):
        raise InvalidInput("the graph of the picture cannot be read; give the seed as seed:N")
    found = dict.fromkeys(_seeds(graph))
    from_noise = [seed for seed, whole in found if whole] or [seed for seed, _ in found]
    numbers = dict.fromkeys(seed.number for seed in from_noise)
    if len(numbers) != 1:
        raise InvalidInput(
            "the graph of the picture must have one seed, found "
            f"{', '.join(map(str, numbers)) or 'none'}; give it as seed:N"
        )
    return max(from_noise, key=lambda seed: seed.width)  # a node may give a sampler its seed


def _seeds(graph: Mapping[str, Any]) -> Iterator[tuple[Seed, bool]]:
    """Yield the seed of every sampler, and whether it begins with nothing but noise."""
    for node in graph.values():
        inputs = node.get("inputs") if isinstance(node, Mapping) else None
        if not isinstance(inputs, Mapping) or inputs.get("add_noise") == "disable":
            continue
        for name in ("seed", "noise_seed"):
            number = _followed(graph, inputs.get(name), (name, "value", "int", "seed"))
            if number is not None:
                latents = inputs.get("latent_image")
                sides = [_followed(graph, latents, (side,)) for side in ("width", "height")]
                width, height = sides if all(sides) else (0, 0)
                whole = inputs.get("denoise", 1.0) == 1.0 and not inputs.get("start_at_step")
                yield Seed(number, "cpu", width or 0, height or 0), whole


def _followed(graph: Mapping[str, Any], value: Any, names: tuple[str, ...]) -> int | None:
    """Return a whole number, or that of the node which a link leads to."""
    if isinstance(value, list) and value and isinstance(graph.get(str(value[0])), Mapping):
        inputs = graph[str(value[0])].get("inputs")
        several = [inputs.get(name) for name in names] if isinstance(inputs, Mapping) else []
        value = next((one for one in several if isinstance(one, int)), None)
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < 2**64 else None


__all__ = ["HEAD", "seed_in"]
