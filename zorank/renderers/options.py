"""Fields of a dataclass that a page can ask for."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

_KINDS = {int: "number", float: "number", str: "text", bool: "choice"}


def option(default: Any, help: str, *, more: bool = True, **about: Any) -> Any:
    """A field with a sentence for who fills it in; `more` hides it until more is asked for."""
    return dataclasses.field(default=default, metadata={"help": help, "more": more, **about})


def form_fields(kind: Any, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The options of a dataclass that a form has fields for, with what is filled in."""
    is_class = isinstance(kind, type) and dataclasses.is_dataclass(kind)
    fields = dataclasses.fields(kind) if is_class else ()
    described = (_form_field(field) for field in fields)
    return [{**o, "default": given.get(o["name"], o["default"])} for o in described if o]


def _form_field(field: dataclasses.Field[Any]) -> dict[str, Any] | None:
    """An option as a form shows it; None if there is no field for such a thing."""
    default = None if field.default is dataclasses.MISSING else field.default
    if field.name == "size" or not field.init or type(default) not in _KINDS:
        return None
    about = field.metadata
    described = {"name": field.name, "type": _KINDS[type(default)], "default": default}
    if choices := about.get("choices"):
        described |= {"type": "choice", "choices": list(choices)}
    return {**described, "help": about.get("help", ""), "more": bool(about.get("more"))}
