"""Checks of the studio's data that are stored with a run."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any

from zorank._raters import MEMBER, is_member
from zorank.errors import StoreError
from zorank.types import Json, RunRecord


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_judge(value: Any) -> bool:
    named = _is_object(value) and _is_text(value.get("name")) and _is_object(value.get("options"))
    return value is None or named


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


REQUIRED: Mapping[str, Callable[[Any], bool]] = {
    "title": _is_text,
    "renderer": _is_text,
    "renderer_options": _is_object,
}
OPTIONAL: Mapping[str, Callable[[Any], bool]] = {
    "raters": lambda value: isinstance(value, int) and value >= 1,
    "weights": _is_text,
    "start": _is_text,
    "looks": _is_object,
    "looks_problem": _is_text,
    "judge": _is_judge,
    "deadline": lambda value: value is None or _is_number(value),
    "changed_options": lambda value: isinstance(value, list) and all(map(_is_object, value)),
    "edits": lambda value: isinstance(value, int),
    "forgotten": lambda value: isinstance(value, list) and all(map(_is_text, value)),
}


def check_meta(run_id: str, meta: Json) -> None:
    """Raise StoreError if data that the studio stored with a run are damaged."""
    damaged = [
        name
        for name, accepts in {**REQUIRED, **OPTIONAL}.items()
        if (name in meta or name in REQUIRED) and not accepts(meta.get(name))
    ]
    damaged += [key for key in meta if key.startswith(MEMBER) and not is_member(meta[key])]
    for name in damaged:
        raise StoreError(
            f"run {run_id!r} is damaged: the {name} in its metadata is invalid; restore the "
            "database from a backup, or delete the run"
        )


def is_listed(record: RunRecord, renderers: Container[str]) -> bool:
    """Return whether this studio lists a run: its own, or a damaged one of unknown origin."""
    renderer = record.meta.get("renderer")
    if not isinstance(renderer, str):
        return bool(record.problem) or "renderer" in record.meta
    return renderer in renderers
