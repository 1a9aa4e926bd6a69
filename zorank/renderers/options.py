"""Fields of a renderer that a page can ask for."""

from dataclasses import field
from typing import Any


def option(default: Any, help: str, *, more: bool = True, **about: Any) -> Any:
    """A field with a sentence for who fills it in; `more` hides it until more is asked for."""
    return field(default=default, metadata={"help": help, "more": more, **about})
