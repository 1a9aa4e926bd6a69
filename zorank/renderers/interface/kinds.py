"""What makes renderers, with options: how a page, a command line and a stored run choose them.

What is filled in belongs to new runs. A run that exists has all its options in the store, so a
studio that is started with other words does not change what its pictures show.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from zorank.errors import InvalidInput
from zorank.protocols import Renderer
from zorank.renderers.interface.hooks import takes_parameter, text, title
from zorank.renderers.interface.resolved import ResolvedRenderer, resolve
from zorank.renderers.options import form_fields


@dataclass(frozen=True, eq=False)
class RendererKind:
    """What makes renderers: a class, a factory, or an object that is there already.

    Attributes:
        name: the name it is chosen by.
        maker: what is called with options to make a renderer.
        options: every option that the maker takes and its default, which is
            `inspect.Parameter.empty` for one that must be given.
        given: the options that are filled in for new runs, where others are not chosen.

    The others are what a page shows before one is made; `HOOKS` says what each means.
    """

    name: str
    maker: Callable[..., Renderer]
    media_type: str
    title: str
    description: str
    tells_progress: bool
    options: Mapping[str, Any]
    given: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, found: Any) -> RendererKind:
        """The kind of this name, of a class, a factory, a renderer or a kind."""
        if isinstance(found, RendererKind):
            return found
        makes = callable(found) and not hasattr(type(found), "render")
        maker = found if makes else _always(resolve(found, name).renderer)
        return cls(
            name,
            maker,
            media_type=text(found, "media_type"),
            title=title(found, name),
            description=text(found, "description"),
            tells_progress=takes_parameter(found, "progress"),
            options=_options_of(maker),
        )

    @classmethod
    def tried(cls, name: str, found: Any) -> RendererKind:
        """The same, after one was made to see that it is a renderer.

        What a factory makes is kept: it is called once.
        """
        kind = cls.of(name, found)
        made = kind.make()
        _ = made.dim
        return kind if isinstance(found, type) else cls.of(name, made.renderer)

    def takes(self, options: Iterable[str]) -> bool:
        """Whether it takes all of these options."""
        return self.options.keys() >= set(options)

    def filled(self, given: Mapping[str, Any]) -> RendererKind:
        """This kind with options filled in for new runs."""
        return replace(self, given={**self.given, **given})

    @property
    def defaults(self) -> dict[str, Any]:
        """The options of a new run: kept with it, so that it outlives a new default."""
        plain = {k: v for k, v in self.options.items() if type(v) in (str, int, float, bool)}
        return {**plain, **self.given}

    @property
    def form(self) -> list[dict[str, Any]]:
        """The options that a form has fields for."""
        return form_fields(self.maker, self.given)

    def make(self, **options: Any) -> ResolvedRenderer:
        """A renderer with what was filled in, and with these options where they differ."""
        return self.restore({**self.given, **options})

    def restore(self, options: Mapping[str, Any]) -> ResolvedRenderer:
        """A renderer with these options alone, as a run keeps them: nothing is filled in."""
        try:
            made = self.maker(**options)
        except TypeError as error:
            raise InvalidInput(
                f"the renderer {self.name} cannot take {dict(options)}: {error}"
            ) from error
        return resolve(made, self.name)


Offered: TypeAlias = Mapping[str, RendererKind | Callable[..., Renderer] | Renderer]
"""Name → what makes a renderer, or a renderer."""


def kinds_of(renderers: Offered) -> dict[str, RendererKind]:
    """The kinds of renderers by their names."""
    return {name: RendererKind.of(name, found) for name, found in renderers.items()}


def _options_of(maker: Any) -> dict[str, Any]:
    try:
        parameters = inspect.signature(maker).parameters.values()
    except (TypeError, ValueError):  # a callable that does not say what it takes
        return {}
    named = (p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))
    return {p.name: p.default for p in named}


def _always(renderer: Renderer) -> Callable[[], Renderer]:
    def ready_made() -> Renderer:
        return renderer

    return ready_made
