"""The renderers, judges and the method of a studio, as chosen on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from zorank import renderers
from zorank.errors import InvalidInput, unknown_name
from zorank.oracles.judges import JUDGES, judge_kinds
from zorank.renderers.comfyui import OPTIONS as COMFYUI_OPTIONS
from zorank.renderers.comfyui import URL, comfyui_kind
from zorank.renderers.folder import folder_kind
from zorank.renderers.interface import RendererKind, kinds_of
from zorank.studio.judging import JudgeSpec, Panel
from zorank.studio.methods import METHODS, MethodSpec


def select_renderers(
    wanted: str | None, load: Callable[[str], Any], given: Mapping[str, str] | None = None
) -> dict[str, RendererKind]:
    """Return the renderers to choose from, with the given options filled in.

    Args:
        wanted: a renderer's name or module:object; None for all.
        load: imports the object that module:object names.
        given: options as texts of the command line.
    """
    offered = _offered(wanted, load)
    if not given:
        return offered
    takers = {name: kind for name, kind in offered.items() if kind.takes(given)}
    if not takers:
        raise _unknown_option(given, offered)
    return {name: _filled(kind, given) for name, kind in takers.items()}


def select_folder(
    path: str, others: Iterable[str | None]
) -> tuple[dict[str, RendererKind], list[str]]:
    """Return the renderer that shows a folder, and sentences about files that are left out.

    Args:
        path: the folder, or a table.
        others: a renderer, a method and options that were named as well; there must be none.
    """
    for other in others:
        if other is not None:
            raise InvalidInput(
                f"--folder ranks files, so it cannot be combined with a renderer, its options or "
                f"a method, found {other!r}; leave that out"
            )
    kind, left_out = folder_kind(path)
    return {kind.name: kind}, left_out


def select_workflow(
    path: str | None, url: str | None, given: Mapping[str, str]
) -> dict[str, RendererKind]:
    """Return the renderer that shows a workflow of ComfyUI.

    Args:
        path: the workflow.
        url: of ComfyUI; None for where it listens by default.
        given: other options, as texts of the command line.
    """
    if path is None:
        raise InvalidInput(
            "--renderer comfyui needs --workflow FILE: in ComfyUI, choose Workflow → Export (API)"
        )
    for name in given:
        if name not in COMFYUI_OPTIONS:
            known = ", ".join(COMFYUI_OPTIONS)
            raise InvalidInput(f"the renderer comfyui takes no {name!r}; its options are {known}")
    options = {name: _value(text, COMFYUI_OPTIONS[name]) for name, text in given.items()}
    kind = comfyui_kind(path, url or URL, options)
    return {kind.name: kind}


def _unknown_option(given: Mapping[str, str], offered: Mapping[str, RendererKind]) -> InvalidInput:
    takes = {name: sorted(kind.options) for name, kind in offered.items()}
    option = next(o for o in given if not all(o in options for options in takes.values()))
    who = f"the renderer {next(iter(takes))}" if len(takes) == 1 else "no renderer"
    has = "; ".join(f"{name}: {', '.join(options) or 'none'}" for name, options in takes.items())
    others = [n for n, kind in kinds_of(renderers.REGISTRY).items() if kind.takes(given)]
    hint = f"; choose --renderer {' or '.join(others)} for that" if others else ""
    takes_no = "takes no" if len(takes) == 1 else "takes"
    return InvalidInput(f"{who} {takes_no} {option!r}{hint} (options of {has})")


def _filled(kind: RendererKind, given: Mapping[str, str]) -> RendererKind:
    """Fill in the options, and make the renderer once, so that errors show at once."""
    filled = kind.filled({key: _value(text, kind.options[key]) for key, text in given.items()})
    filled.make().check()
    return filled


def _value(text: str, default: Any) -> Any:
    """Parse an option's text as JSON, unless the option is a text itself."""
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


def select_method(wanted: str | None, settings: Mapping[str, Any]) -> MethodSpec | None:
    """Return the method of new runs that name none; None to choose by the renderer."""
    if wanted is None:
        if settings:
            raise InvalidInput(
                "--method-option needs --method; add it, such as --method zo-ranksgd-memory"
            )
        return None
    spec = MethodSpec(wanted, settings)
    if spec.settings:
        METHODS[wanted].make(6, "gaussian", True, **settings)  # wrong values show at once
    return spec


def select_judges(
    wanted: str | None, options: Mapping[str, Any], load: Callable[[str], Any]
) -> Panel:
    """Return the judges to choose from, with the wanted one as the default."""
    if wanted is None:
        if options:
            raise InvalidInput("--judge-option needs --judge; add it, such as --judge clip")
        return Panel()
    if wanted not in JUDGES and ":" not in wanted:
        raise unknown_name("judge", wanted, JUDGES)
    own = {} if wanted in JUDGES else {wanted: load(wanted)}
    spec = JudgeSpec(wanted, dict(options))
    panel = Panel(judge_kinds(JUDGES | own), spec)
    # Without a prompt the judge may still get the renderer's, so it is made later.
    if "prompt" in options or not panel.reads_prompts(wanted):
        panel.make(spec)
    return panel
