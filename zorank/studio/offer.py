"""What a studio offers: the renderers and judges of zorank, or one of the user's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from zorank import renderers
from zorank.errors import InvalidInput, unknown_name
from zorank.oracles.judges import JUDGES, judge_maker
from zorank.protocols import Renderer
from zorank.studio.judging import Choice, Panel
from zorank.studio.prefilled import Prefilled, options_of
from zorank.studio.sessions import Renderers


@dataclass(frozen=True, eq=False)
class ReadyMade:
    """A renderer that is given as an object: making it again gives the same one."""

    renderer: Renderer
    title: str
    description: str = ""

    @property
    def media_type(self) -> str:
        """What kind of exhibits it makes."""
        return str(getattr(self.renderer, "media_type", "image/jpeg"))

    def __call__(self) -> Renderer:
        """The renderer."""
        return self.renderer


def offer(
    wanted: str | None, load: Callable[[str], Any], given: Mapping[str, str] | None = None
) -> Renderers:
    """The renderers to choose from, with options filled in as they were given in words.

    `load` finds the object that module:object names.
    """
    offered = _offered(wanted, load)
    if not given:
        return offered
    takers = {name: make for name, make in offered.items() if not given.keys() - options_of(make)}
    if not takers:
        raise _nobody_takes(given, offered)
    return {name: _prefilled(name, make, given) for name, make in takers.items()}


def _nobody_takes(given: Mapping[str, str], offered: Renderers) -> InvalidInput:
    takes = {name: sorted(options_of(make)) for name, make in offered.items()}
    option = next(o for o in given if not all(o in options for options in takes.values()))
    who = f"the renderer {next(iter(takes))}" if len(takes) == 1 else "no renderer"
    has = "; ".join(f"{name}: {', '.join(options) or 'none'}" for name, options in takes.items())
    others = [n for n, make in renderers.REGISTRY.items() if not given.keys() - options_of(make)]
    hint = f"; choose --renderer {' or '.join(others)} for that" if others else ""
    takes_no = "takes no" if len(takes) == 1 else "takes"
    return InvalidInput(f"{who} {takes_no} {option!r}{hint} (options of {has})")


def _prefilled(name: str, make: Callable[..., Renderer], given: Mapping[str, str]) -> Prefilled:
    """A kind of renderer with these options, which are tried at once so that slips are told."""
    defaults = options_of(make)
    filled = Prefilled(make, {key: _value(text, defaults[key]) for key, text in given.items()})
    try:
        made = filled()
    except TypeError as error:
        raise InvalidInput(f"the renderer {name} cannot take these options: {error}") from error
    if callable(check := getattr(made, "check", None)):
        check()
    return filled


def _value(text: str, default: Any) -> Any:
    """A word of the command line as what an option is: a text stays one, be it "5" or "true"."""
    if isinstance(default, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _offered(wanted: str | None, load: Callable[[str], Any]) -> Renderers:
    if wanted is None:
        return renderers.REGISTRY
    if wanted in renderers.REGISTRY:
        return {wanted: renderers.REGISTRY[wanted]}
    if ":" not in wanted:
        raise unknown_name("renderer", wanted, renderers.REGISTRY)
    found = load(wanted)
    made = found() if callable(found) and not hasattr(type(found), "render") else found
    dim = getattr(made, "dim", None)
    if not callable(getattr(made, "render", None)) or not isinstance(dim, int) or dim < 1:
        raise InvalidInput(
            f"{wanted} is no renderer: it needs a whole number `dim` above 0 and a method "
            "`render(candidates)` that returns an Exhibit for each"
        )
    if isinstance(found, type):
        return {wanted: found}
    title = str(getattr(made, "title", wanted.partition(":")[2]))
    return {wanted: ReadyMade(made, title, str(getattr(made, "description", "")))}


def offer_judge(
    wanted: str | None, options: Mapping[str, Any], load: Callable[[str], Any]
) -> Panel:
    """The judges to choose from, and the wanted one as the one that looks at every run."""
    if wanted is None:
        if options:
            raise InvalidInput("options of a judge need a judge; name it, such as --judge clip")
        return Panel()
    own = {} if wanted in JUDGES or ":" not in wanted else {wanted: load(wanted)}
    makers = JUDGES | {name: judge_maker(found, name) for name, found in own.items()}
    if wanted not in makers:
        raise unknown_name("judge", wanted, makers)
    panel = Panel(makers, Choice(wanted, dict(options)))
    if "prompt" in options or not panel.reads_prompts(wanted):  # else a renderer may have one
        panel.make(Choice(wanted, dict(options)))
    return panel
