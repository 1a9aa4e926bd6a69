"""Renderers turn candidates into exhibits. To add one, write its file and give it a line here.

An entry of the registry can be called without arguments. Importing this package must stay fast:
a renderer imports heavy packages when it first renders.
"""

from collections.abc import Callable

from zorank.protocols import Renderer
from zorank.renderers.comfyui import ComfyUI
from zorank.renderers.diffusers import Diffusers
from zorank.renderers.dream import Dream
from zorank.renderers.landscape import Landscape
from zorank.renderers.policy import PolicyClips
from zorank.renderers.style import Style
from zorank.renderers.voice import Voice

REGISTRY: dict[str, Callable[..., Renderer]] = {
    "landscape": Landscape,
    "dream": Dream,
    "diffusers": Diffusers,
    "policy": PolicyClips,
    "style": Style,
    "voice": Voice,
}
"""The renderers by name."""

__all__ = [
    "REGISTRY",
    "ComfyUI",
    "Diffusers",
    "Dream",
    "Landscape",
    "PolicyClips",
    "Style",
    "Voice",
]
