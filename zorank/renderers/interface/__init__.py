"""The interface of renderers: required and optional members, declared in one place.

A renderer is any object with `dim` and `render(candidates)` (`zorank.protocols.Renderer`).
To write one, read `hooks.py`: `HOOKS` declares every optional member and its default, and
`PARAMETERS` every optional parameter of `render`. The other files use these declarations:
`resolve` gives a renderer a value for each optional member, and `RendererKind` describes a class,
a factory or an object that can be chosen by name. No other code reads optional members.
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
