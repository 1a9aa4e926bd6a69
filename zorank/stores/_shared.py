"""Keys and changes of `meta` that all stores share."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from zorank.types import Json


def new_key() -> str:
    """Return a random key for a new line of a log."""
    return os.urandom(8).hex()


def changed_meta(meta: Json, changes: Json, dropped: Iterable[str]) -> dict[str, Any]:
    """Return `meta` with some keys set and others deleted."""
    deleted = set(dropped)
    return {key: value for key, value in {**meta, **changes}.items() if key not in deleted}
