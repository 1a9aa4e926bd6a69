"""Which parameters of a module are tuned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias

from torch import nn

from zorank.errors import InvalidInput, unknown_name

Only: TypeAlias = str | Sequence[str] | Callable[[str, nn.Parameter], object] | None
"""None (all that are not frozen), a glob such as "*.lora_*", several, or a function that says."""


def choose(model: nn.Module, only: Only) -> dict[str, nn.Parameter]:
    """The chosen parameters by name; one that has several names, as tied ones do, comes once."""
    if not isinstance(model, nn.Module):
        raise InvalidInput(f"a trainer tunes a torch.nn.Module, found {model!r:.60}")
    named = list(model.named_parameters(remove_duplicate=False))
    if only is None:
        wanted = {name for name, parameter in named if parameter.requires_grad}
    elif callable(only):
        wanted = {name for name, parameter in named if only(name, parameter)}
    else:
        wanted = _matching([name for name, _ in named], only)
    same: dict[int, str] = {}  # tied parameters share their memory, if not themselves
    chosen = {
        name: parameter
        for name, parameter in named
        if name in wanted
        and parameter.numel()
        and same.setdefault(parameter.data_ptr() or id(parameter), name) == name
    }
    if not chosen:
        raise InvalidInput(
            f"no parameter of this {type(model).__name__} is chosen, of {len(named)}; without "
            "`only`, those with requires_grad are"
        )
    return chosen


def _matching(names: Sequence[str], only: str | Sequence[str]) -> set[str]:
    globs = [only] if isinstance(only, str) else list(only)
    found: set[str] = set()
    for glob in globs:
        matches = {name for name in names if fnmatchcase(name, glob)}
        if not matches:
            raise unknown_name("parameter", glob, names)
        found |= matches
    return found
