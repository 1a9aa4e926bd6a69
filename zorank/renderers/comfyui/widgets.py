"""The widgets of a workflow that are tuned: "3.cfg:4..9, My LoRA.strength_model:0..1.5".

A widget is NODE.INPUT, with the id or the title of a node, and its range LOW..HIGH. A range that
is not given is the one that ComfyUI declares in `/object_info`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from zorank.errors import InvalidInput, short
from zorank.renderers.comfyui.workflow import Nodes, find, is_link, label, title
from zorank.spaces import Float, SearchSpace

ObjectInfo: TypeAlias = Mapping[str, Any]
"""ComfyUI's description of kinds of nodes.

class_type → {"input": {"required": {name: [type, details]}}, "output_node": …}.
"""

WIDEST = 1e4
"""The widest range that is taken from ComfyUI; wider ones only mean that there is no limit."""

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_RANGE = re.compile(rf"\s*({_NUMBER})\s*\.\.\s*({_NUMBER})\s*")
_FORM = "NODE.INPUT:LOW..HIGH, such as 3.cfg:4..9"


@dataclass(frozen=True)
class Widget:
    """A tuned widget: its node's id, its input, and its range if it is known."""

    node_id: str
    name: str
    range: Float | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The key of its value in a workflow: node id and input."""
        return self.node_id, self.name

    def __str__(self) -> str:
        known = "" if self.range is None else f":{self.range.low!r}..{self.range.high!r}"
        return f"{self.node_id}.{self.name}{known}"


def parse(tune: str, nodes: Nodes) -> tuple[Widget, ...]:
    """Read the option `tune`."""
    found = tuple(_parse_one(part.strip(), nodes) for part in tune.split(",") if part.strip())
    for position, widget in enumerate(found):
        if widget.key in [other.key for other in found[:position]]:
            raise InvalidInput(f"tune names {widget.node_id}.{widget.name} twice; name it once")
    return found


def _parse_one(text: str, nodes: Nodes) -> Widget:
    place, colon, limits = text.rpartition(":")
    matched = _RANGE.fullmatch(limits) if colon else None
    if ".." in limits and matched is None:
        raise InvalidInput(f"a tuned widget is {_FORM}; found {short(text)}")
    node, dot, name = (place if matched else text).strip().rpartition(".")
    if not dot:
        raise InvalidInput(f"a tuned widget is {_FORM}; found {short(text)}")
    node_id = find(nodes, node)
    inputs = nodes[node_id]["inputs"]
    if name not in inputs:
        raise InvalidInput(
            f"{label(nodes, node_id)} has no input {name!r}; it has {', '.join(inputs) or 'none'}"
        )
    value = inputs[name]
    if is_link(value):
        raise InvalidInput(
            f"{node_id}.{name} is linked to another node, so it is not a widget; "
            f"tune a widget of {label(nodes, value[0])}"
        )
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"{node_id}.{name} must be a number to be tuned, found {short(value)}")
    return Widget(node_id, name, Float(*map(float, matched.groups())) if matched else None)


def checked(widgets: Sequence[Widget], nodes: Nodes, info: ObjectInfo) -> tuple[Widget, ...]:
    """Return the widgets with their ranges, after checking them against ComfyUI's."""
    return tuple(_checked_one(widget, nodes, info) for widget in widgets)


def _checked_one(widget: Widget, nodes: Nodes, info: ObjectInfo) -> Widget:
    declared = _declared(info, nodes[widget.node_id]["class_type"]).get(widget.name)
    place = f"{widget.node_id}.{widget.name}"
    if declared is None or declared[0] != "FLOAT":
        kind = "undeclared" if declared is None else str(declared[0])
        raise InvalidInput(
            f"{place} is {kind:.40}, and only FLOAT can be tuned: {_listed(nodes, info)}"
        )
    low, high = _limits(declared[1])
    if widget.range is not None:
        if low <= widget.range.low and widget.range.high <= high:
            return widget
        raise InvalidInput(
            f"the range of {place} must be within {low:g}..{high:g}, "
            f"found {widget.range.low:g}..{widget.range.high:g}"
        )
    if not high - low <= WIDEST:
        raise InvalidInput(
            f"ComfyUI declares the range {low:g}..{high:g} of {place}, which is too wide; give "
            f"one, such as {place}:0..1"
        )
    return Widget(widget.node_id, widget.name, Float(low, high))


def choices(nodes: Nodes, info: ObjectInfo) -> Iterator[str]:
    """Yield the widgets that can be tuned, with their values, for a message."""
    for node_id, node in nodes.items():
        declared = _declared(info, node["class_type"])
        for name, value in node["inputs"].items():
            if name in declared and declared[name][0] == "FLOAT" and not is_link(value):
                yield f'{node_id}.{name} of "{title(nodes, node_id)}" ({short(value, 12)})'


def _listed(nodes: Nodes, info: ObjectInfo) -> str:
    return f"{', '.join(choices(nodes, info)) or 'the workflow has none':.800}"


def nothing_tuned(nodes: Nodes, info: ObjectInfo) -> InvalidInput:
    """Return the error for a renderer without coordinates."""
    return InvalidInput(
        "say what candidates change in the workflow: --option noise=64 for the noise, or "
        f"--option tune={_FORM}; it can be {_listed(nodes, info)}"
    )


def space_of(widgets: Sequence[Widget]) -> SearchSpace | None:
    """Return the ranges as a search space; None without widgets."""
    ranges = {str(position): w.range for position, w in enumerate(widgets) if w.range is not None}
    return SearchSpace(ranges) if ranges else None


def _declared(info: ObjectInfo, kind: str) -> dict[str, tuple[Any, Mapping[str, Any]]]:
    """Return the declared inputs of a kind of nodes: name → type and details."""
    inputs = info.get(kind, {}).get("input", {})
    found = {**(inputs.get("required") or {}), **(inputs.get("optional") or {})}
    return {
        name: (about[0], about[1] if len(about) > 1 and isinstance(about[1], Mapping) else {})
        for name, about in found.items()
        if isinstance(about, list) and about
    }


def _limits(about: Mapping[str, Any]) -> tuple[float, float]:
    low, high = about.get("min"), about.get("max")
    return (
        float(low) if isinstance(low, int | float) else -math.inf,
        float(high) if isinstance(high, int | float) else math.inf,
    )
