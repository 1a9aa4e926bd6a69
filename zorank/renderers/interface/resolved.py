"""A renderer with a value for every optional member."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zorank.errors import InvalidInput, short
from zorank.protocols import Renderer
from zorank.renderers.interface.hooks import Preview, Progress
from zorank.renderers.interface.reading import method, read, takes_parameter, text, title
from zorank.spaces import SearchSpace
from zorank.types import Exhibit, Vector, Vectors

_DIGEST = re.compile(r"[\w-]{1,64}", re.ASCII)


@dataclass(frozen=True, eq=False)
class ResolvedRenderer:
    """A renderer with a value for every optional member. It is a renderer itself.

    `dim`, `together`, `weights` and `note` are read at each access, because they may load a model
    or change. The others are read once, by `resolve`. `HOOKS` explains each of them.
    """

    renderer: Renderer
    name: str
    media_type: str
    space: str
    title: str
    description: str
    prompt: str
    size: int | None
    tells_progress: bool
    shows_previews: bool
    check: Callable[[], object]
    warm_up: Callable[[], object]
    drift: Callable[[Vector], Mapping[str, Any] | None]
    start: Callable[[Any], Vector] | None
    stored_options: Callable[[], Mapping[str, Any]]
    with_options: Callable[[Mapping[str, Any]], Renderer] | None
    export_name: str | None
    export: Callable[[Vector], bytes] | None
    look: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None
    small_picture: Callable[[Vector], NDArray[np.float32]] | None
    item_names: Callable[[], Sequence[str]] | None
    absent: Callable[[Vector], bool]
    parameters: SearchSpace | None = None

    @property
    def dim(self) -> int:
        """The number of coordinates of a candidate."""
        if self.parameters is not None:
            return self.parameters.dim
        try:
            found = self.renderer.dim
        except AttributeError as error:
            raise _not_a_renderer(self.name) from error
        if not _is_whole(found) or found < 1:
            raise _not_a_renderer(self.name)
        return int(found)

    @property
    def together(self) -> int:
        """The best batch size of `render`; 1 if it cannot be read."""
        try:
            return int(read(self.renderer, "together"))
        except Exception:  # rendering will report the error
            return 1

    @property
    def weights(self) -> str:
        """A short digest of the model's weights; empty without one."""
        found = read(self.renderer, "weights")
        return found if isinstance(found, str) and _DIGEST.fullmatch(found) else ""

    @property
    def note(self) -> str:
        """A warning for the owner of a run; empty without one."""
        return str(read(self.renderer, "note"))

    def render(
        self, candidates: Vectors, progress: Progress | None = None, preview: Preview | None = None
    ) -> list[Exhibit]:
        """One exhibit for each candidate, in their order.

        `progress` and `preview` are passed on if the renderer's `render` takes them.
        """
        several: list[Any] = list(candidates)
        if self.parameters is not None:
            several = [self.parameters.decode_normal(x) for x in several]
        more: dict[str, Any] = {}
        if progress is not None and self.tells_progress:
            more["progress"] = progress
        if preview is not None and self.shows_previews:
            more["preview"] = preview
        exhibits = list(self.renderer.render(several, **more))
        if len(exhibits) != len(several):
            raise ValueError(
                f"render must return an Exhibit for each candidate, found {len(exhibits)} "
                f"exhibits of {len(several)} candidates"
            )
        for found in exhibits:
            if not (hasattr(found, "media_type") and hasattr(found, "data")):
                raise TypeError(f"render must return an Exhibit for each, found {short(found)}")
        return exhibits

    def resized(self, size: int | None) -> ResolvedRenderer:
        """Return the renderer at another size, or itself if its size cannot be chosen."""
        if size is None or self.size is None or not _has_field(self.renderer, "size"):
            return self
        resizable: Any = self.renderer
        return resolve(replace(resizable, size=size), self.name)


def resolve(renderer: Any, name: str = "") -> ResolvedRenderer:
    """Give a renderer a default for every optional member that it lacks.

    Args:
        renderer: any object with `dim` and `render(candidates)`.
        name: the name it is chosen by; by default that of its class.
    """
    if isinstance(renderer, ResolvedRenderer):
        return renderer
    name = name or type(renderer).__name__
    if not callable(getattr(renderer, "render", None)):
        raise _not_a_renderer(name)
    size, export_name, export = (read(renderer, h) for h in ("size", "export_name", "export"))
    exports = isinstance(export_name, str) and callable(export)
    declared: Any = getattr(renderer, "space", None)
    named = isinstance(declared, Mapping | SearchSpace)
    parameters = SearchSpace.of(declared) if named else None
    return ResolvedRenderer(
        renderer,
        name,
        media_type=text(renderer, "media_type"),
        space=text(renderer, "space") if parameters is None else "gaussian",
        title=title(renderer, name),
        description=text(renderer, "description"),
        prompt=text(renderer, "prompt"),
        size=int(size) if _is_whole(size) else None,
        tells_progress=takes_parameter(renderer, "progress"),
        shows_previews=takes_parameter(renderer, "preview"),
        check=method(renderer, "check") or (lambda: None),
        warm_up=method(renderer, "warm_up") or (lambda: _render_one(renderer, parameters)),
        drift=method(renderer, "drift") or (lambda candidate: None),
        start=method(renderer, "start"),
        stored_options=method(renderer, "stored_options") or dict,
        with_options=method(renderer, "with_options"),
        export_name=export_name if exports else None,
        export=export if exports else None,
        look=method(renderer, "look"),
        small_picture=method(renderer, "small_picture"),
        parameters=parameters,
        item_names=method(renderer, "item_names"),
        absent=method(renderer, "absent") or (lambda candidate: False),
    )


def _render_one(renderer: Renderer, parameters: SearchSpace | None) -> None:
    """Render a candidate, or the parameters that it stands for."""
    if parameters is None:
        renderer.render([np.full(renderer.dim, 0.1)])
    else:
        example: Any = parameters.decode_normal(np.full(parameters.dim, 0.1))
        renderer.render([example])


def _has_field(renderer: Any, name: str) -> bool:
    return is_dataclass(renderer) and any(f.init and f.name == name for f in fields(renderer))


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _not_a_renderer(name: str) -> InvalidInput:
    return InvalidInput(
        f"{name} is not a renderer: it needs a whole number `dim` above 0 and a method "
        "`render(candidates)` that returns an Exhibit for each"
    )
