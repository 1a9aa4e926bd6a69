"""Makes the optimizer and the start of a run from names, settings or a search space."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from zorank import optimizers
from zorank.errors import InvalidInput, ReplayError, short, unknown_name
from zorank.protocols import AnyOptimizer
from zorank.spaces import SearchSpace
from zorank.types import RunRecord

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

KEY = "space"
"""The key of a run's space in its metadata."""


def set_up(
    optimizer: AnyOptimizer | str,
    x0: ArrayLike | None,
    options: Mapping[str, Any] | None,
    space: Any,
) -> tuple[AnyOptimizer, Any, dict[str, Any]]:
    """Return the optimizer, the start and the entry of the run's metadata for its space."""
    if space is not None:
        if x0 is not None:
            raise InvalidInput(
                "space and x0 exclude each other: a search begins in the middle of its space; "
                "leave one of them out"
            )
        space = SearchSpace.of(space)
        settings = {**space_settings(optimizer, space), **_mapping(options)}
        return optimizers.make(str(optimizer), settings), space.start(), {KEY: space.to_json()}
    if x0 is None:
        raise InvalidInput("a run needs a start: give x0, or a space of named parameters")
    if isinstance(optimizer, str):
        return optimizers.make(optimizer, options), x0, {}
    if options:
        raise InvalidInput(
            f"{', '.join(_mapping(options))} cannot be set on an optimizer object; "
            "pass them to its constructor"
        )
    return optimizer, x0, {}


def space_settings(optimizer: AnyOptimizer | str, space: SearchSpace) -> dict[str, Any]:
    """Return the settings that tell an optimizer about the coordinates of a space."""
    if not isinstance(optimizer, str):
        raise InvalidInput(
            "with a space, give the optimizer by its name, such as 'auto', and its settings in "
            f"options; found {short(optimizer)}"
        )
    if optimizer not in optimizers.REGISTRY:
        raise unknown_name("optimizer", optimizer, optimizers.REGISTRY)
    cls: Any = optimizers.REGISTRY[optimizer]
    known = {field.name for field in dataclasses.fields(cls)}
    if "bounds" not in known:
        raise InvalidInput(
            f"{optimizer} has no bounds, so it cannot search a space; use another method, such "
            "as auto"
        )
    settings: dict[str, Any] = {"bounds": (0.0, 1.0)}
    discrete = any(space.levels) or space.choices
    if getattr(cls, "takes_levels", False):
        return settings | ({"levels": space.levels, "choices": space.choices} if discrete else {})
    return settings | ({"sigma0": 0.3} if "sigma0" in known else {})


def space_of_run(record: RunRecord, wanted: Mapping[str, Any]) -> SearchSpace | None:
    """Return the space that is stored with a run; raise if another one is wanted."""
    stored = record.meta.get(KEY)
    if KEY in wanted and stored != wanted[KEY]:
        raise ReplayError(
            f"run {record.name!r} was started with "
            + ("another space" if stored else "no space")
            + "; resume it with the same one, or use another name"
        )
    return None if stored is None else SearchSpace.from_json(stored)


def _mapping(options: Any) -> dict[str, Any]:
    if not isinstance(options, Mapping | None):
        raise InvalidInput(f"options must map names of settings to values, found {short(options)}")
    return dict(options or {})
