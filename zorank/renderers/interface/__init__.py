"""What a renderer is: the two members it must have, and those it may have, declared once.

A renderer is any object with `dim` and `render(candidates)` (zorank.protocols.Renderer). `HOOKS`
declares every other member that zorank looks for, and `PARAMETERS` what else `render` may take.
`resolve` turns such an object into a `ResolvedRenderer`, which has a value for each of them.
`RendererKind` describes what makes renderers: a class, a factory, or an object that is there
already. Nothing else in zorank looks for members of a renderer.
"""

from zorank.renderers.interface.hooks import HOOKS, PARAMETERS, Hook
from zorank.renderers.interface.kinds import Offered, RendererKind, kinds_of
from zorank.renderers.interface.resolved import ResolvedRenderer, resolve

__all__ = [
    "HOOKS",
    "PARAMETERS",
    "Hook",
    "Offered",
    "RendererKind",
    "ResolvedRenderer",
    "kinds_of",
    "resolve",
]
