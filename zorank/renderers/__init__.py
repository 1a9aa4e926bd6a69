"""What turns a candidate into something to look at. To add one, write it and give it a line here.

A renderer is called without arguments to get one with its defaults. Importing this package loads
NumPy and nothing heavier: a renderer imports what it draws with when it first draws.
"""

from collections.abc import Callable

from zorank.protocols import Renderer
from zorank.renderers.diffusers import Diffusers
from zorank.renderers.dream import Dream
from zorank.renderers.landscape import Landscape
from zorank.renderers.policy import PolicyClips

REGISTRY: dict[str, Callable[..., Renderer]] = {
    "landscape": Landscape,
    "dream": Dream,
    "diffusers": Diffusers,
    "policy": PolicyClips,
}
"""Every renderer by its name."""

__all__ = ["REGISTRY", "Diffusers", "Dream", "Landscape", "PolicyClips"]
