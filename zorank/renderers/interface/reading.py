"""Reads the declared members of a renderer, or of its class, with their defaults."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from zorank.renderers.interface.hooks import HOOKS, PARAMETERS

RENAMED: Mapping[str, str] = {"export_name": "keepsake", "export": "keep"}
"""Hooks whose old name still works for one version."""


def read(owner: Any, hook: str) -> Any:
    """Return a declared member, or its default; None counts as missing."""
    default = HOOKS[hook].default
    found = getattr(owner, hook, None)
    if found is None and hook in RENAMED:
        found = _read_renamed(owner, hook, RENAMED[hook])
    return default if found is None else found


def _read_renamed(owner: Any, hook: str, old: str) -> Any:
    found = getattr(owner, old, None)
    if found is not None:
        warnings.warn(
            f"a renderer's {old} is deprecated and will be ignored in the next version; "
            f"name it {hook}",
            DeprecationWarning,
            stacklevel=2,
        )
    return found


def text(owner: Any, hook: str) -> str:
    """Return a text that a renderer, or its class, declares."""
    found = read(owner, hook)
    # On a class, a property is an object without a value.
    return str(HOOKS[hook].default if hasattr(found, "__get__") else found)


def title(owner: Any, name: str) -> str:
    """Return the declared title, or the name; of module:object, the object's."""
    return text(owner, "title") or name.rpartition(":")[2]


def method(renderer: Any, hook: str) -> Callable[..., Any] | None:
    """Return a declared method, or None."""
    found = read(renderer, hook)
    return found if callable(found) else None


def takes_parameter(owner: Any, parameter: str) -> bool:
    """Whether the `render` of a renderer, or of its class, takes a declared parameter."""
    if parameter not in PARAMETERS:
        raise KeyError(parameter)
    try:
        return parameter in inspect.signature(owner.render).parameters
    except (AttributeError, TypeError, ValueError):  # a callable without a signature
        return False
