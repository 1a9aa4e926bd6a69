"""Options of renderers and judges: dataclass fields that a page has form fields for."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

_KINDS = {int: "number", float: "number", str: "text", bool: "choice"}


def option(default: Any, help: str, *, more: bool = True, **about: Any) -> Any:
    """Define a dataclass field with help text; `more` puts it among the advanced options.

    Args:
        default: its value if it is not given.
        help: a sentence for the form and the documentation.
        more: whether the form hides it under More.
        about: further properties. `choices`: the only values. `type`: the kind of form field, such
            as "photo". `file`: takes the value that the command line gives, such as a path, and
            returns the one that runs store. `stored`: checks a value that a run, a request or an
            export gives, and returns it; the constructor may accept more. `path`: a function that
            makes the paths in a value absolute, of an option that names files where they are;
            `zorank runs set` can change it. `several`: the command line may repeat it, and joins
            the values with commas.
    """
    return dataclasses.field(default=default, metadata={"help": help, "more": more, **about})


def form_fields(kind: Any, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the form fields of a dataclass, with `given` values as defaults."""
    is_class = isinstance(kind, type) and dataclasses.is_dataclass(kind)
    fields = dataclasses.fields(kind) if is_class else ()
    described = (_form_field(field) for field in fields)
    return [{**o, "default": given.get(o["name"], o["default"])} for o in described if o]


def properties(kind: Any, name: str) -> dict[str, Any]:
    """Return this property of each option of a dataclass that has it, by the option's name."""
    is_class = isinstance(kind, type) and dataclasses.is_dataclass(kind)
    fields = dataclasses.fields(kind) if is_class else ()
    return {field.name: field.metadata[name] for field in fields if name in field.metadata}


def _form_field(field: dataclasses.Field[Any]) -> dict[str, Any] | None:
    """Return the form field of an option, or None if forms do not support its type."""
    default = None if field.default is dataclasses.MISSING else field.default
    if field.name == "size" or not field.init or type(default) not in _KINDS:
        return None
    about = field.metadata
    described = {"name": field.name, "type": _KINDS[type(default)], "default": default}
    described["type"] = about.get("type", described["type"])
    if choices := about.get("choices"):
        described |= {"type": "choice", "choices": list(choices)}
    return {**described, "help": about.get("help", ""), "more": bool(about.get("more"))}
