"""Kinds of renderers with some options filled in: what a command line gave, a page offers.

What is filled in belongs to new runs. A run that exists has all its options in the store, so a
studio that is started with other words does not change what its pictures show.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from zorank.protocols import Renderer


@dataclass(frozen=True, eq=False)
class Prefilled:
    """A kind of renderer, and the options it has unless others are chosen."""

    make: Callable[..., Renderer]
    given: Mapping[str, Any]

    def __call__(self, **options: Any) -> Renderer:
        """The renderer with what was filled in, and with these options where they differ."""
        return self.make(**{**self.given, **options})


def bare(make: Any) -> Any:
    """The kind of renderer itself, with nothing filled in."""
    return make.make if isinstance(make, Prefilled) else make


def filled_in(make: Any) -> dict[str, Any]:
    """What is filled in for a new run."""
    return dict(make.given) if isinstance(make, Prefilled) else {}


def plain_defaults(make: Any) -> dict[str, Any]:
    """What it does if it is told nothing: kept with a run, so that it outlives a new default."""
    known = options_of(make) if make is not None else {}
    return {name: value for name, value in known.items() if type(value) in (str, int, float, bool)}


def options_of(make: Any) -> dict[str, Any]:
    """The options that a kind of renderer takes, and their defaults."""
    try:
        parameters = inspect.signature(bare(make)).parameters.values()
    except (TypeError, ValueError):  # a callable that does not say
        return {}
    named = (p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))
    return {p.name: p.default for p in named}
