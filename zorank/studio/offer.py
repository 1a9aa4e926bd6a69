"""What a studio offers: the renderers and judges of zorank, or one of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from zorank import renderers
from zorank.errors import InvalidInput, unknown_name
from zorank.oracles.judges import JUDGES, judge_maker
from zorank.protocols import Renderer
from zorank.studio.judging import Choice, Panel
from zorank.studio.sessions import Renderers


@dataclass(frozen=True, eq=False)
class ReadyMade:
    """A renderer that is given as an object: making it again gives the same one."""

    renderer: Renderer
    title: str
    description: str = ""

    def __call__(self) -> Renderer:
        """The renderer."""
        return self.renderer


def offer(wanted: str | None, load: Callable[[str], Any]) -> Renderers:
    """The renderers to choose from; `load` finds the object that module:object names."""
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
