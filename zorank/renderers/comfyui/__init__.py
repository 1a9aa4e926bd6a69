"""Pictures of a workflow that runs in ComfyUI, over its HTTP interface (docs/comfyui.md).

A candidate is N(0, I): first the weights of a blend of the noise of several seeds, if the noise is
tuned, then one coordinate for each tuned widget; its value is at Φ(coordinate) of its range.
`workflow` reads and changes workflows, `widgets` reads what is tuned, `client` and `jobs` call
ComfyUI, and `zorank_noise` is a node that ComfyUI loads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from zorank._arrays import is_real, is_whole
from zorank.errors import InvalidInput, RenderError, short
from zorank.renderers.candidates import check_candidate
from zorank.renderers.comfyui import widgets, workflow
from zorank.renderers.comfyui.client import UNCHANGED, Client
from zorank.renderers.comfyui.jobs import Work
from zorank.renderers.comfyui.widgets import Widget
from zorank.renderers.interface import RendererKind
from zorank.renderers.interface.hooks import Preview, Progress
from zorank.renderers.pictures import jpeg, opened
from zorank.types import Exhibit, Vector, Vectors

URL = "http://127.0.0.1:8188"
"""Where ComfyUI listens by default."""
MAX_NOISE = 1024
AT_ONCE = 4
"""Workflows of one call that are in ComfyUI's queue together."""


@dataclass(frozen=True)
class ComfyUI:
    """Renders with a workflow on a running ComfyUI.

    Attributes:
        workflow: the file of a workflow in the API format, or its text.
        tune: the widgets that change, such as "3.cfg:4..9, 10.strength_model:0..1.5".
        noise: the number of seeds whose noise is blended; 0 leaves the noise as it is.
        output: the node whose picture is shown, by id or title; by default the last one.
        timeout: seconds without progress in ComfyUI after which a picture is given up.
        url: of ComfyUI.
    """

    workflow: str
    tune: str = ""
    noise: int = 0
    output: str = ""
    timeout: float = 600.0
    url: str = URL

    # Without annotations these are not fields: a stored configuration does not have them.
    title = "ComfyUI"
    description = "A workflow of yours, on your ComfyUI: its noise and its widgets are searched."
    media_type = "image/jpeg"
    export_name = "workflow.json"

    def __post_init__(self) -> None:
        for name in ("workflow", "tune", "output", "url"):
            if not isinstance(getattr(self, name), str):
                raise InvalidInput(f"{name} must be a text, found {short(getattr(self, name))}")
        if not is_whole(self.noise) or not 0 <= self.noise <= MAX_NOISE or self.noise == 1:
            raise InvalidInput(
                f"noise must be 0, or a number of seeds from 2 to {MAX_NOISE}, "
                f"found {short(self.noise)}"
            )
        if not is_real(self.timeout) or not 0 < self.timeout <= 86_400:
            raise InvalidInput(
                f"timeout must be from 0 to 86400 seconds, found {short(self.timeout)}"
            )
        object.__setattr__(self, "workflow", _text(self.workflow))
        object.__setattr__(self, "url", self._client.url)
        self._check_noise()
        if self.output:
            workflow.find(self._nodes, self.output)
        if not all(widget.range for widget in self._named):
            found = widgets.checked(self._named, self._nodes, self._info())
            object.__setattr__(self, "tune", ", ".join(map(str, found)))
            vars(self).pop("_named")
        if not self.noise and not self._named:
            raise widgets.nothing_tuned(self._nodes, self._info())

    @cached_property
    def _nodes(self) -> dict[str, dict[str, Any]]:
        return workflow.parse(self.workflow)

    @cached_property
    def _named(self) -> tuple[Widget, ...]:
        return widgets.parse(self.tune, self._nodes)

    @cached_property
    def _client(self) -> Client:
        return Client(self.url)

    @property
    def dim(self) -> int:
        """The number of coordinates of a candidate."""
        return int(self.noise) + len(self._named)

    def check(self) -> None:
        """Raise if ComfyUI does not answer, lacks a node, or takes other values of a widget."""
        nodes, info = self._sent(np.zeros(self.dim)), self._info()
        for kind, node_id in workflow.classes(nodes).items():
            if kind in info:
                continue
            if kind == workflow.NOISE_NODE:
                raise InvalidInput(
                    f"the ComfyUI at {self.url} lacks the node {kind}: run `zorank comfyui-node "
                    "FOLDER` with its folder, and restart it"
                )
            raise InvalidInput(
                f"the ComfyUI at {self.url} has no nodes of the kind {kind:.80}, which "
                f"{workflow.label(nodes, node_id)} is; install it there, or change the workflow"
            )
        widgets.checked(self._named, self._nodes, info)
        if not any(info[node["class_type"]].get("output_node") for node in nodes.values()):
            raise InvalidInput(
                "the workflow makes no picture: add a node such as Save Image, and export it again"
            )

    def render(
        self, candidates: Vectors, progress: Progress | None = None, preview: Preview | None = None
    ) -> list[Exhibit]:
        """One JPEG picture for each candidate, in their order.

        `progress` gets the share of the work that is done, `preview` what the sampler shows, if
        ComfyUI was started with `--preview-method`.
        """
        filled = [self._sent(self._checked(candidate)) for candidate in candidates]
        pictures: list[Exhibit] = []
        for start in range(0, len(filled), AT_ONCE):
            some = filled[start : start + AT_ONCE]

            def tell(shares: list[float], start: int = start) -> None:
                if progress is not None:
                    progress((start + sum(shares)) / len(filled))

            def show(position: int, picture: bytes, start: int = start) -> None:
                if preview is not None:
                    preview(start + position, _exhibit(picture, "a preview"))

            work = Work(self._client, float(self.timeout), tell, show)
            pictures += [self._picture(outputs) for outputs in work.run(some)]
        return pictures

    def export(self, candidate: Vector) -> bytes:
        """Return the workflow of a candidate, to be opened in ComfyUI."""
        return json.dumps(self._filled(self._checked(candidate)), indent=2).encode()

    def _check_noise(self) -> None:
        if self.noise and not workflow.noise_nodes(self._nodes):
            raise InvalidInput(
                "the noise of this workflow cannot be set: it needs a KSampler, or a RandomNoise "
                "with a SamplerCustomAdvanced, in place of other samplers"
            )

    def _info(self) -> dict[str, Any]:
        kinds = {**workflow.classes(self._nodes), **workflow.classes(self._blank())}
        return self._client.object_info(list(kinds))

    def _blank(self) -> dict[str, Any]:
        """Return the workflow with all nodes that a candidate's has."""
        noisy = workflow.with_noise(self._nodes, np.ones(1)) if self.noise else self._nodes
        return workflow.without_saving(noisy)

    def _checked(self, candidate: Vector) -> Vector:
        return check_candidate(candidate, self.dim, "this workflow")

    def _filled(self, vector: Vector) -> dict[str, Any]:
        """Return the workflow of a candidate."""
        space = widgets.space_of(self._named)
        values = [] if space is None else space.decode_normal(vector[int(self.noise) :]).values()
        keys = [widget.key for widget in self._named]
        nodes = workflow.with_inputs(self._nodes, dict(zip(keys, values, strict=True)))
        return workflow.with_noise(nodes, vector[: int(self.noise)]) if self.noise else nodes

    def _sent(self, vector: Vector) -> dict[str, Any]:
        return workflow.without_saving(self._filled(vector))

    def _picture(self, outputs: Mapping[str, Any]) -> Exhibit:
        """Return the picture among the outputs of a workflow."""
        made = {
            node_id: about["images"]
            for node_id, about in outputs.items()
            if isinstance(about, dict) and about.get("images")
        }
        wanted = workflow.find(self._nodes, self.output) if self.output else None
        ids = [node_id for node_id in self._nodes if node_id in made]
        node_id = wanted or (ids[-1] if ids else None)
        if node_id not in made:
            where = workflow.label(self._nodes, wanted) if wanted else "any of its nodes"
            raise RenderError(
                f"the workflow made no picture at {where}; name another with --option output=NODE"
            )
        return _exhibit(self._client.view(made[node_id][0]), "the picture")


def comfyui_kind(path: str, url: str, given: Mapping[str, Any]) -> RendererKind:
    """Return what a studio offers for a workflow: its runs use this ComfyUI only.

    A run stores its workflow, so that the file may change; requests cannot set it.

    Args:
        path: the file of the workflow.
        url: of ComfyUI.
        given: other options.
    """
    made = ComfyUI(workflow=str(path), url=url, **given)
    made.check()
    options = {"workflow": "", **OPTIONS}
    return RendererKind(
        "comfyui",
        partial(_restored, made.url),
        media_type=made.media_type,
        title=made.title,
        description=made.description,
        tells_progress=True,
        options=options,
        given={name: getattr(made, name) for name in options},
        fixed=frozenset({"workflow"}),
    )


OPTIONS: Mapping[str, Any] = {"tune": "", "noise": 0, "output": "", "timeout": 600.0}
"""The options of runs and their defaults."""


def _restored(url: str, **options: Any) -> ComfyUI:
    """Make the renderer of a run without asking ComfyUI, which may not be running."""
    text = options.get("workflow")
    if not isinstance(text, str) or not text.lstrip().startswith("{"):
        raise InvalidInput(f"the workflow must be JSON in the API format, found {short(text)}")
    named = widgets.parse(str(options.get("tune", "")), workflow.parse(text))
    for widget in named:
        if widget.range is None:
            raise InvalidInput(f"the range of {widget} is missing; give it, such as {widget}:0..1")
    if not named and not options.get("noise"):
        raise InvalidInput("nothing is tuned, so all pictures would be equal; give tune or noise")
    return ComfyUI(url=url, **options)


def _text(given: str) -> str:
    """Return the text of a workflow that is given as its text or its file."""
    if given.lstrip().startswith("{"):
        return given
    path = Path(given)
    try:
        if path.stat().st_size > workflow.MAX_BYTES:
            raise InvalidInput(f"the workflow {given} is larger than {workflow.MAX_BYTES:,} bytes")
        found = path.read_text("utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text"
        raise InvalidInput(
            f"the workflow {short(given)} cannot be read ({reason}); name a file in the API format"
        ) from error
    return json.dumps(workflow.parse(found), separators=(",", ":"))


def _exhibit(file: bytes, what: str) -> Exhibit:
    """Encode a picture again: without the metadata in which ComfyUI stores the workflow."""
    try:
        return Exhibit("image/jpeg", jpeg(opened(file)))
    except (
        OSError,
        ValueError,
        SyntaxError,
    ) as error:  # the file is not a picture
        raise RenderError(
            f"{what} that ComfyUI sent cannot be decoded ({error}); {UNCHANGED}: try again"
        ) from error


__all__ = ["URL", "ComfyUI", "comfyui_kind"]
