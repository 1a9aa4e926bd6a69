"""Old names that keep working for one version, with a DeprecationWarning."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def renamed(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Make the `__getattr__` of a module some of whose names have moved.

    Args:
        module: the module's `__name__`.
        names: old name to new place, such as {"Learning": "zorank.rl:PolicySearch"}.
    """

    def __getattr__(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, _, new = names[name].partition(":")
        warnings.warn(
            f"{module}.{name} is deprecated and will be removed in the next version; "
            f"use {home}.{new}",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(import_module(home), new)

    return __getattr__
