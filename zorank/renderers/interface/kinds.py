"""Renderers that can be chosen by name, with options: on the page, in commands, in stored runs.

Options given on the command line are defaults of new runs. A stored run has all of its options
in the store, so a studio that is started with another prompt does not change its pictures.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from zorank.errors import InvalidInput, ZorankError
from zorank.protocols import Renderer
from zorank.renderers.interface.reading import method, takes_parameter, text, title
from zorank.renderers.interface.resolved import ResolvedRenderer, resolve
from zorank.renderers.options import form_fields, properties


@dataclass(frozen=True, eq=False)
class RendererKind:
    """A class, a factory or an existing object that provides renderers.

    Attributes:
        name: the name it is chosen by.
        maker: called with options, it makes a renderer.
        options: every option of the maker and its default, which is `inspect.Parameter.empty`
            for a required option.
        given: defaults of new runs that replace those of the maker.
        current: returns further options of a new run, read when it is created.
        fixed: options that a request for a new run cannot set.
        ranks_items: whether it shows things that exist, instead of generating any.

    `HOOKS` explains the others; they can be read before a renderer is made.
    """

    name: str
    maker: Callable[..., Renderer]
    media_type: str
    title: str
    description: str
    tells_progress: bool
    options: Mapping[str, Any]
    given: Mapping[str, Any] = field(default_factory=dict)
    current: Callable[[], Mapping[str, Any]] = dict
    fixed: frozenset[str] = frozenset()
    ranks_items: bool = False

    @classmethod
    def of(cls, name: str, found: Any) -> RendererKind:
        """Describe a class, a factory or a renderer; return a kind as it is."""
        if isinstance(found, RendererKind):
            return found
        makes = callable(found) and not hasattr(type(found), "render")
        maker = found if makes else _always(made := resolve(found, name))
        return cls(
            name,
            maker,
            media_type=text(found, "media_type"),
            title=title(found, name),
            description=text(found, "description"),
            tells_progress=takes_parameter(found, "progress"),
            options=_options_of(maker),
            current=dict if makes else made.stored_options,
            ranks_items=method(found, "item_names") is not None,
        )

    @classmethod
    def tried(cls, name: str, found: Any) -> RendererKind:
        """Describe it after making one renderer, to check it.

        A factory is called once: the renderer that it makes is kept.
        """
        kind = cls.of(name, found)
        required = [o for o, default in kind.options.items() if default is inspect.Parameter.empty]
        if required:
            raise InvalidInput(
                f"{name} is not a renderer: it cannot be called without {', '.join(required)}, "
                "and a renderer is an object with `dim` and `render(candidates)`, or a class or "
                "function without required arguments that makes one"
            )
        try:
            made = kind.make()
        except ZorankError:
            raise
        except (Exception, SystemExit) as error:  # a user's code may raise anything
            raise InvalidInput(
                f"the renderer {name} cannot be made ({type(error).__name__}: {error})"
            ) from error
        _ = made.dim
        return kind if isinstance(found, type) else cls.of(name, made.renderer)

    def takes(self, options: Iterable[str]) -> bool:
        """Whether the maker has all of these options."""
        return self.options.keys() >= set(options)

    def filled(self, given: Mapping[str, Any]) -> RendererKind:
        """Return this kind with other defaults for new runs, as given when the program starts.

        A file that an option names is copied now, and copied again for every new run.
        """
        files = {o: take for o, take in properties(self.maker, "file").items() if o in given}
        values = {**given, **{option: take(given[option]) for option, take in files.items()}}

        def taken_again() -> dict[str, Any]:
            found = dict(self.current())
            for option, take in files.items():
                with suppress(InvalidInput):  # the file was moved: use the earlier copy
                    found[option] = take(given[option])
            return found

        current = taken_again if files else self.current
        return replace(self, given={**self.given, **values}, current=current)

    def check_request(self, asked: Iterable[str]) -> None:
        """Raise InvalidInput if a request for a new run sets an option that it cannot set."""
        for name in self.fixed.intersection(asked):
            raise InvalidInput(
                f"the option {name} of the renderer {self.name} is set where the studio is "
                "started; leave it out"
            )

    @property
    def defaults(self) -> dict[str, Any]:
        """The options of a new run. They are stored, so that later defaults do not change it."""
        plain = {k: v for k, v in self.options.items() if type(v) in (str, int, float, bool)}
        return {**plain, **self.given, **self.current()}

    @property
    def paths(self) -> dict[str, Callable[[str], str]]:
        """The options that name files, and for each the function that makes paths absolute."""
        return properties(self.maker, "path")

    def absolute(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options with absolute paths, so that runs open wherever a studio is started."""
        found = dict(options)
        for name, of_path in self.paths.items():
            if isinstance(found.get(name), str):
                found[name] = of_path(found[name])
        return found

    @property
    def form(self) -> list[dict[str, Any]]:
        """The form fields of the options."""
        return form_fields(self.maker, self.given)

    def make(self, **options: Any) -> ResolvedRenderer:
        """Make a renderer for a new run: these options override the defaults."""
        return self.restore({**self.given, **options})

    def restore(self, options: Mapping[str, Any]) -> ResolvedRenderer:
        """Make a renderer from the options of a stored run, without the defaults of new runs."""
        checks = properties(self.maker, "stored")
        checked = {o: checks[o](value) if o in checks else value for o, value in options.items()}
        try:
            made = self.maker(**checked)
        except TypeError as error:
            raise InvalidInput(
                f"the renderer {self.name} cannot take {dict(options)}: {error}"
            ) from error
        return resolve(made, self.name)


Offered: TypeAlias = Mapping[str, RendererKind | Callable[..., Renderer] | Renderer]
"""Name → a class, a factory, a renderer or a kind."""


def kinds_of(renderers: Offered) -> dict[str, RendererKind]:
    """Describe renderers by name."""
    return {name: RendererKind.of(name, found) for name, found in renderers.items()}


def _options_of(maker: Any) -> dict[str, Any]:
    try:
        parameters = inspect.signature(maker).parameters.values()
    except (TypeError, ValueError):  # a callable without a signature
        return {}
    named = (p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))
    return {p.name: p.default for p in named}


def _always(resolved: ResolvedRenderer) -> Callable[..., Renderer]:
    """Return a maker that always returns this renderer, with the stored options of a run."""
    again = resolved.with_options

    def ready_made() -> Renderer:
        return resolved.renderer

    def with_options(**stored: Any) -> Renderer:
        return again(stored) if again is not None and stored else resolved.renderer

    return ready_made if again is None else with_options
