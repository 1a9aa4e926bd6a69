"""Keys, changes of `meta` and edits that all stores share."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from zorank.types import Edit, Json, Round


def new_key() -> str:
    """Return a random key for a new line of a log."""
    return os.urandom(8).hex()


def changed_meta(meta: Json, changes: Json, dropped: Iterable[str]) -> dict[str, Any]:
    """Return `meta` with some keys set and others deleted."""
    deleted = set(dropped)
    return {key: value for key, value in {**meta, **changes}.items() if key not in deleted}


def edited_line(edit: Edit, line: Round) -> Round:
    """Return a line after an edit, which may change its answer, rater, note and slate."""
    after = edit.line(replace(line, slate=None))
    slate = edit.slates.get(line.key, line.slate)
    return replace(line, answer=after.answer, rater=after.rater, note=after.note, slate=slate)


def edited_meta(edit: Edit, meta: Json) -> dict[str, Any]:
    """Return `meta` after an edit, with the edit counted."""
    return {**edit.meta(meta), "edits": int(meta.get("edits", 0)) + 1}
