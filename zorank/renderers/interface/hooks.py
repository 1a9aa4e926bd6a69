"""The optional members of a renderer, beside `dim` and `render`, declared in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from zorank.types import Exhibit


@dataclass(frozen=True)
class Hook:
    """An optional member of a renderer, or an optional parameter of its `render`.

    Attributes:
        signature: its name and types.
        default: the value used if it is missing.
        about: its meaning.
        without: what happens if it is missing, if the default does not explain it.
    """

    signature: str
    default: Any
    about: str
    without: str = ""

    @property
    def default_text(self) -> str:
        """Describe in the documentation what happens if it is missing."""
        return self.without or f"`{self.default!r}`"


HOOKS: Mapping[str, Hook] = {
    "media_type": Hook(
        "media_type: str",
        "image/jpeg",
        "The media type of its exhibits. The page needs it before the first exhibit is rendered.",
    ),
    "space": Hook(
        "space: str | dict",
        "gaussian",
        "`'gaussian'` if candidates are draws of N(0, I), `'euclidean'` if coordinates are "
        "unconstrained. Named parameters such as `{'hue': zorank.Float(0, 1)}`: `render` gets a "
        "dict for each candidate, `dim` follows, and draws of N(0, I) are uniform in the space.",
    ),
    "title": Hook(
        "title: str",
        "",
        "Its name on the page.",
        without="its registry name; of `module:object`, the object's name",
    ),
    "description": Hook(
        "description: str", "", "One sentence on the page that starts a run.", without="none"
    ),
    "prompt": Hook(
        "prompt: str",
        "",
        "What exhibits should show. It is the title of a new run and the prompt of its judge.",
        without="none",
    ),
    "size": Hook(
        "size: int",
        None,
        "Pixels per side. If it is a field of a dataclass, the studio can render other sizes.",
        without="all pictures have the same size",
    ),
    "together": Hook(
        "together: int",
        1,
        "The best batch size of `render`. It is read before each call.",
    ),
    "weights": Hook(
        "weights: str",
        "",
        "A short digest of the model's weights, of letters and digits. A run stores it and "
        "reports a change.",
        without="changed weights are not reported",
    ),
    "check": Hook(
        "check() -> None",
        None,
        "Raises an error, quickly, if something that it needs is missing.",
        without="nothing is checked",
    ),
    "warm_up": Hook(
        "warm_up() -> None",
        None,
        "Loads its model while the page opens.",
        without="one candidate is rendered",
    ),
    "drift": Hook(
        "drift(candidate) -> dict | None",
        None,
        "How far a latent is from N(0, I), in the form of `zorank.renderers.latents.drift`.",
        without="no drift is shown",
    ),
    "start": Hook(
        "start(seed) -> array (d,)",
        None,
        "The candidate that a seed of another program gives, a `zorank.renderers.starts.Seed`.",
        without="a draw of N(0, I) by NumPy's `default_rng`",
    ),
    "stored_options": Hook(
        "stored_options() -> dict",
        None,
        "Of a renderer that is not made by name: plain options that are stored with its runs.",
        without="nothing is stored",
    ),
    "with_options": Hook(
        "with_options(options) -> renderer",
        None,
        "The same renderer with the stored options of a run.",
        without="the renderer itself",
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
        "Features of (n, d) candidates: rows are near each other if the exhibits look alike. "
        "It should be fast. The optimizer learns from it (docs/looks.md). Like `render`, it may "
        "be called by several threads at once.",
        without="features of small exhibits, if they render fast",
    ),
    "small_picture": Hook(
        "small_picture(candidate) -> array (rows, columns, 3)",
        None,
        "The picture before it is enlarged: float32 from 0 to 1.",
        without="the exhibit is decoded",
    ),
    "item_names": Hook(
        "item_names() -> list[str]",
        None,
        "The names of the things, if it shows a finite set. A candidate is then the index of one, "
        "and the studio ranks them with `rank-items`.",
        without="candidates are points of R^dim",
    ),
    "absent": Hook(
        "absent(candidate) -> bool",
        None,
        "Whether a candidate cannot be shown at present. It is then left out of the comparison.",
        without="all can be shown",
    ),
    "note": Hook(
        "note: str",
        "",
        "A warning for the owner of a run, such as what has changed since it began.",
        without="none",
    ),
}
"""Every optional member of a renderer by name."""

Progress: TypeAlias = Callable[[float], None]
"""Takes the share of the work that is done, from 0 to 1."""

Preview: TypeAlias = Callable[[int, Exhibit], None]
"""Takes a position and a preliminary exhibit of its candidate."""

PARAMETERS: Mapping[str, Hook] = {
    "progress": Hook(
        "progress: Callable[[float], None] | None = None",
        None,
        "Call it with the share of the work that is done, from 0 to 1.",
        without="a card shows no progress",
    ),
    "preview": Hook(
        "preview: Callable[[int, Exhibit], None] | None = None",
        None,
        "Call it with the position of a candidate and a preliminary exhibit.",
        without="a card shows no preview",
    ),
}
"""Every optional parameter of `render` by name; passed by keyword."""
