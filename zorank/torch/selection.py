"""Selects the parameters of a module to tune."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

from torch import nn

from zorank.errors import InvalidInput, short, unknown_name

Only: TypeAlias = str | Sequence[str] | Callable[[str, nn.Parameter], object] | None
"""None (all with requires_grad), a glob such as "*.lora_*", several globs, or a predicate."""


def select_parameters(model: nn.Module, only: Only) -> dict[str, nn.Parameter]:
    """Return the selected parameters by name; tied parameters come once."""
    if not isinstance(model, nn.Module):
        raise InvalidInput(f"model must be a torch.nn.Module, found {short(model)}")
    named = list(model.named_parameters(remove_duplicate=False))
    if only is None:
        wanted = {name for name, parameter in named if parameter.requires_grad}
    elif callable(only):
        wanted = {name for name, parameter in named if only(name, parameter)}
    else:
        wanted = _matching([name for name, _ in named], only)
    first: dict[int, str] = {}  # tied parameters share memory, if not the object
    selected = {
        name: parameter
        for name, parameter in named
        if name in wanted
        and parameter.numel()
        and first.setdefault(parameter.data_ptr() or id(parameter), name) == name
    }
    if not selected:
        raise InvalidInput(
            f"`only` selects none of the {len(named)} parameters of this {type(model).__name__}; "
            "None selects those with requires_grad"
        )
    return selected


def _matching(names: Sequence[str], only: str | Sequence[str]) -> set[str]:
    listed: Any = (only,) if isinstance(only, str) else only
    globs = tuple(listed) if isinstance(listed, (Sequence, Set)) else ()
    if not globs or not all(isinstance(glob, str) for glob in globs):
        raise InvalidInput(
            "`only` must be a glob of names such as '*.lora_*', several of them, or a function of "
            f"name and parameter; found {short(only)}"
        )
    found: set[str] = set()
    for glob in globs:
        matches = {name for name in names if fnmatchcase(name, glob)}
        if not matches:
            raise unknown_name("parameter", glob, names)
        found |= matches
    return found
