"""What a studio offers: the renderers and judges of zorank, or one of the user's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from zorank import renderers
from zorank.errors import InvalidInput, unknown_name
from zorank.oracles.judges import JUDGES, judge_kinds
from zorank.renderers.interface import RendererKind, kinds_of
from zorank.studio.judging import Choice, Panel


def offer(
    wanted: str | None, load: Callable[[str], Any], given: Mapping[str, str] | None = None
) -> dict[str, RendererKind]:
    """The renderers to choose from, with options filled in as they were given in words.

    `load` finds the object that module:object names.
    """
    offered = _offered(wanted, load)
    if not given:
        return offered
    takers = {name: kind for name, kind in offered.items() if kind.takes(given)}
    if not takers:
        raise _nobody_takes(given, offered)
    return {name: _filled(kind, given) for name, kind in takers.items()}


def _nobody_takes(given: Mapping[str, str], offered: Mapping[str, RendererKind]) -> InvalidInput:
    takes = {name: sorted(kind.options) for name, kind in offered.items()}
    option = next(o for o in given if not all(o in options for options in takes.values()))
    who = f"the renderer {next(iter(takes))}" if len(takes) == 1 else "no renderer"
    has = "; ".join(f"{name}: {', '.join(options) or 'none'}" for name, options in takes.items())
    others = [n for n, kind in kinds_of(renderers.REGISTRY).items() if kind.takes(given)]
    hint = f"; choose --renderer {' or '.join(others)} for that" if others else ""
    takes_no = "takes no" if len(takes) == 1 else "takes"
    return InvalidInput(f"{who} {takes_no} {option!r}{hint} (options of {has})")


def _filled(kind: RendererKind, given: Mapping[str, str]) -> RendererKind:
    """A kind of renderer with these options, which are tried at once so that slips are told."""
    filled = kind.filled({key: _value(text, kind.options[key]) for key, text in given.items()})
    filled.make().check()
    return filled


def _value(text: str, default: Any) -> Any:
    """A word of the command line as what an option is: a text stays one, be it "5" or "true"."""
    if isinstance(default, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _offered(wanted: str | None, load: Callable[[str], Any]) -> dict[str, RendererKind]:
    if wanted is None:
        return kinds_of(renderers.REGISTRY)
    if wanted in renderers.REGISTRY:
        return {wanted: RendererKind.of(wanted, renderers.REGISTRY[wanted])}
    if ":" not in wanted:
        raise unknown_name("renderer", wanted, renderers.REGISTRY)
    return {wanted: RendererKind.tried(wanted, load(wanted))}


def offer_judge(
    wanted: str | None, options: Mapping[str, Any], load: Callable[[str], Any]
) -> Panel:
    """The judges to choose from, and the wanted one as the one that looks at every run."""
    if wanted is None:
        if options:
            raise InvalidInput("options of a judge need a judge; name it, such as --judge clip")
        return Panel()
    if wanted not in JUDGES and ":" not in wanted:
        raise unknown_name("judge", wanted, JUDGES)
    own = {} if wanted in JUDGES else {wanted: load(wanted)}
    choice = Choice(wanted, dict(options))
    panel = Panel(judge_kinds(JUDGES | own), choice)
    if "prompt" in options or not panel.reads_prompts(wanted):  # else a renderer may have one
        panel.make(choice)
    return panel
