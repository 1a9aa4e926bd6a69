"""The declaration: what a renderer may have beside `dim` and `render`, and how it is read."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Hook:
    """An optional member of a renderer, or an optional parameter of its `render`.

    Attributes:
        signature: how it is written, with its types.
        default: the value that stands for a missing one.
        about: what it means.
        without: what happens if it is missing, where the default alone does not say so.
    """

    signature: str
    default: Any
    about: str
    without: str = ""

    @property
    def default_text(self) -> str:
        """What happens if it is missing, for a page."""
        return self.without or f"`{self.default!r}`"


HOOKS: Mapping[str, Hook] = {
    "media_type": Hook(
        "media_type: str",
        "image/jpeg",
        "The media type of its exhibits, which the page needs before the first is rendered.",
    ),
    "space": Hook(
        "space: str",
        "gaussian",
        "`'gaussian'` if candidates are draws of N(0, I), `'euclidean'` if their coordinates are "
        "free.",
    ),
    "title": Hook(
        "title: str",
        "",
        "What people call it.",
        without="the name it was given by; of `module:object`, the object",
    ),
    "description": Hook(
        "description: str", "", "One sentence on the page that starts a run.", without="none"
    ),
    "prompt": Hook(
        "prompt: str",
        "",
        "What exhibits should show: a new run's title, and what a judge reads.",
        without="none",
    ),
    "size": Hook(
        "size: int",
        None,
        "Pixels a side. If it is a field of a dataclass, larger pictures can be asked for.",
        without="every picture has one size",
    ),
    "together": Hook(
        "together: int",
        1,
        "How many candidates are best given to `render` at once. Read when it renders.",
    ),
    "weights": Hook(
        "weights: str",
        "",
        "A short digest of the weights that draw, of letters and digits. A run keeps it, and says "
        "when it has changed.",
        without="weights are not compared",
    ),
    "check": Hook(
        "check() -> None",
        None,
        "Raises, early and cheaply, if something that it needs is missing.",
        without="nothing is checked",
    ),
    "warm_up": Hook(
        "warm_up() -> None",
        None,
        "Loads what it needs, while the page opens.",
        without="one candidate is rendered",
    ),
    "drift": Hook(
        "drift(candidate) -> dict | None",
        None,
        "How far noise latents are from noise, as `zorank.renderers.latents.drift` computes it.",
        without="no drift is shown",
    ),
    "export_name": Hook(
        "export_name: str",
        None,
        "The name of the file that `export` makes of a candidate, for use in other programs.",
        without="no file is offered",
    ),
    "export": Hook(
        "export(candidate) -> bytes",
        None,
        "The contents of that file.",
        without="no file is offered",
    ),
    "look": Hook(
        "look(candidates) -> array (n, p)",
        None,
        "Says cheaply what (n, d) candidates look like: rows that are near each other look alike. "
        "The studio learns taste from it (docs/looks.md). Like `render` it may be called by "
        "several threads at once.",
        without="small exhibits are rendered and described, if that is quick",
    ),
    "small_picture": Hook(
        "small_picture(candidate) -> array (rows, columns, 3)",
        None,
        "A picture as the model made it, before it is enlarged: float32 from 0 to 1.",
        without="the exhibit is decoded",
    ),
}
"""Every optional member of a renderer, by its name."""

PARAMETERS: Mapping[str, Hook] = {
    "progress": Hook(
        "progress: Callable[[float], None] | None = None",
        None,
        "Is told which share of the work is done, from 0 to 1.",
        without="a card shows no progress",
    ),
    "preview": Hook(
        "preview: Callable[[int, Exhibit], None] | None = None",
        None,
        "Is shown what can be seen so far of the candidate at a position.",
        without="a card shows no preview",
    ),
}
"""Every optional parameter of `render`, by its name. It is given by keyword."""


RENAMED: Mapping[str, str] = {"export_name": "keepsake", "export": "keep"}
"""Hooks whose old name still works for one version."""


def read(owner: Any, hook: str) -> Any:
    """Return a declared member, or its default; None counts as missing."""
    default = HOOKS[hook].default
    found = getattr(owner, hook, None)
    if found is None and hook in RENAMED:
        found = _read_renamed(owner, hook, RENAMED[hook])
    return default if found is None else found


def _read_renamed(owner: Any, hook: str, old: str) -> Any:
    found = getattr(owner, old, None)
    if found is not None:
        warnings.warn(
            f"a renderer's {old} is deprecated and will be ignored in the next version; "
            f"name it {hook}",
            DeprecationWarning,
            stacklevel=2,
        )
    return found


def text(owner: Any, hook: str) -> str:
    """A text that a renderer, or its class, says of itself."""
    found = read(owner, hook)
    # A class has properties, not their values.
    return str(HOOKS[hook].default if hasattr(found, "__get__") else found)


def title(owner: Any, name: str) -> str:
    """What people call what was given by this name."""
    return text(owner, "title") or name.rpartition(":")[2]


def method(renderer: Any, hook: str) -> Callable[..., Any] | None:
    """A declared method, if the renderer has it."""
    found = read(renderer, hook)
    return found if callable(found) else None


def takes_parameter(owner: Any, parameter: str) -> bool:
    """Whether the `render` of a renderer, or of its class, takes a declared parameter."""
    if parameter not in PARAMETERS:
        raise KeyError(parameter)
    try:
        return parameter in inspect.signature(owner.render).parameters
    except (AttributeError, TypeError, ValueError):  # a callable that does not say what it takes
        return False
