"""Lets a stored run find its files again: a model or a photo that was moved to another place.

Only options of its renderer that name files can be changed. The renderer is made with the new
ones and must fit the run; the change is written to the run's metadata, with its time.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zorank.errors import InvalidInput, short, unknown_name
from zorank.protocols import Store
from zorank.renderers.interface import RendererKind

LOG = "changed_options"
"""The key of a run's metadata under which changes are logged."""


@dataclass(frozen=True)
class Rebound:
    """A change of an option: its name, its old and its new value."""

    option: str
    old: Any
    new: Any


def rebind(
    store: Store, name: str, kinds: Mapping[str, RendererKind], changes: Mapping[str, str]
) -> list[Rebound]:
    """Change options of a run that name files, and return what has changed.

    Args:
        store: the store of the run.
        name: the run.
        kinds: the renderers by name; the run's must be among them.
        changes: new values by option.
    """
    record = store.record(name)
    wanted = record.meta.get("renderer")
    if not isinstance(wanted, str):
        raise InvalidInput(f"run {name!r} has no renderer, so it names no files")
    if wanted not in kinds:
        raise unknown_name("renderer", wanted, kinds)
    kind, old = kinds[wanted], dict(record.meta["renderer_options"])
    _check_names(kind, changes)
    new = kind.absolute({**old, **changes})
    done = [Rebound(o, old.get(o), new[o]) for o in changes if old.get(o) != new[o]]
    if not done:
        return []
    renderer = kind.restore(new)
    renderer.check()
    if renderer.dim != record.x0.size:
        raise InvalidInput(
            f"run {name!r} has candidates of {record.x0.size} numbers, and with these files they "
            f"have {renderer.dim}; name the files that the run was made with"
        )
    at = time.time()
    logged = [{"at": at, "option": o.option, "old": o.old, "new": o.new} for o in done]
    earlier = record.meta.get(LOG, [])
    store.change_meta(name, {"renderer_options": new, LOG: [*earlier, *logged]})
    return done


def _check_names(kind: RendererKind, changes: Mapping[str, str]) -> None:
    for option in changes:
        if option in kind.paths:
            continue
        has = ", ".join(kind.paths) or "none"
        raise InvalidInput(
            f"{short(option)} is not an option of {kind.name} that names a file (these are: "
            f"{has}); other options of a run cannot change, because its pictures would: start a "
            "new run"
        )
