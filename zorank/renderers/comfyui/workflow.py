"""Workflows of ComfyUI in its API format, as immutable data: reading, and setting their inputs.

The API format is a JSON object: node id → {"class_type", "inputs", "_meta": {"title"}}. An input
is a widget's value, or a link [node id, slot]. Everything here is pure; no server is asked.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from zorank.errors import InvalidInput, short
from zorank.types import Vector

Nodes: TypeAlias = Mapping[str, Mapping[str, Any]]
"""A workflow: node id → node."""

NOISE_NODE = "ZorankNoise"
"""The node of `zorank_noise.py`."""

MAX_BYTES = 4_000_000
"""The size of a workflow. Runs store it."""

_EXPORT = "in ComfyUI, choose Workflow → Export (API)"


def parse(text: str) -> dict[str, dict[str, Any]]:
    """Read a workflow; seeds below 0, which some nodes replace by random ones, become 0."""
    if len(text) > MAX_BYTES:
        raise InvalidInput(f"a workflow may have {MAX_BYTES:,} characters, found {len(text):,}")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the workflow is not JSON ({error}); {_EXPORT}") from error
    if isinstance(found, dict) and isinstance(found.get("nodes"), list):
        raise InvalidInput(
            f"the workflow is in the format of the editor, and the API format is needed; {_EXPORT}"
        )
    if not isinstance(found, dict) or not found:
        raise InvalidInput(
            f"a workflow must be a JSON object of nodes, found {short(found)}; {_EXPORT}"
        )
    for node_id, node in found.items():
        _check_node(node_id, node)
    for node_id, name, source in links(found):
        if source not in found:
            raise InvalidInput(
                f"the input {name} of {label(found, node_id)} is linked to the node {source!r}, "
                f"which the workflow lacks; {_EXPORT}"
            )
    for node in found.values():
        node["inputs"] = {name: _fixed(name, value) for name, value in node["inputs"].items()}
    return found


def _check_node(node_id: str, node: Any) -> None:
    if (
        not isinstance(node, dict)
        or not isinstance(node.get("class_type"), str)
        or not isinstance(node.get("inputs"), dict)
    ):
        raise InvalidInput(
            f"the node {node_id!r} of the workflow must have a class_type and inputs, "
            f"found {short(node)}; {_EXPORT}"
        )


def _fixed(name: str, value: Any) -> Any:
    is_seed = name in ("seed", "noise_seed") and isinstance(value, int | float)
    return max(value, 0) if is_seed else value


def is_link(value: Any) -> bool:
    """Return whether an input is the output of another node."""
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str)


def links(nodes: Nodes) -> Iterator[tuple[str, str, str]]:
    """Yield node, input and the node that it is linked to."""
    for node_id, node in nodes.items():
        for name, value in node["inputs"].items():
            if is_link(value):
                yield node_id, name, value[0]


def title(nodes: Nodes, node_id: str) -> str:
    """Return the title of a node as its owner knows it."""
    node = nodes.get(node_id, {})
    about = node.get("_meta")
    found = about.get("title") if isinstance(about, Mapping) else None
    return found if isinstance(found, str) and found else str(node.get("class_type", node_id))


def label(nodes: Nodes, node_id: str) -> str:
    """Name a node in a sentence."""
    return f'the node "{title(nodes, node_id):.80}" ({node_id:.40})'


def find(nodes: Nodes, name: str) -> str:
    """Return the id of a node that is named by its id or by its title."""
    if name in nodes:
        return name
    titled = [node_id for node_id in nodes if title(nodes, node_id) == name]
    if len(titled) == 1:
        return titled[0]
    if titled:
        raise InvalidInput(
            f"{len(titled)} nodes have the title {name!r}; use an id: {', '.join(titled)}"
        )
    known = ", ".join(f'{node_id} "{title(nodes, node_id)}"' for node_id in nodes)
    raise InvalidInput(f"the workflow has no node {name!r}; it has {known:.600}")


def with_inputs(nodes: Nodes, values: Mapping[tuple[str, str], Any]) -> dict[str, Any]:
    """Return the workflow with other values of (node id, input)."""
    return {
        node_id: {
            **node,
            "inputs": {
                name: values.get((node_id, name), value) for name, value in node["inputs"].items()
            },
        }
        for node_id, node in nodes.items()
    }


def noise_nodes(nodes: Nodes) -> list[str]:
    """Return the nodes whose noise can be set."""
    kinds = ("RandomNoise", "KSampler", NOISE_NODE)
    return [node_id for node_id, node in nodes.items() if node["class_type"] in kinds]


def with_noise(nodes: Nodes, weights: Vector) -> dict[str, Any]:
    """Return the workflow with blended noise: see `zorank_noise.py`.

    RandomNoise is replaced, and KSampler becomes the nodes that it is made of, because it takes a
    seed and no noise. The seeds of the workflow are those of the first weight.
    """
    coordinates = base64.b64encode(np.asarray(weights, dtype="<f4").tobytes()).decode()
    changed = dict(nodes)
    for node_id in noise_nodes(nodes):
        node = nodes[node_id]
        inputs, about = node["inputs"], {"_meta": {"title": title(nodes, node_id)}}
        if node["class_type"] == "KSampler":
            changed |= _taken_apart(node_id, inputs, about, coordinates)
        else:
            changed[node_id] = {
                "class_type": NOISE_NODE,
                "inputs": {"noise_seed": inputs.get("noise_seed", 0), "coordinates": coordinates},
                **about,
            }
    return changed


def _taken_apart(
    node_id: str, inputs: Mapping[str, Any], about: Mapping[str, Any], coordinates: str
) -> dict[str, Any]:
    """Return the nodes that do what a KSampler does, from given noise."""

    def some(**names: str) -> dict[str, Any]:
        return {ours: inputs[theirs] for ours, theirs in names.items() if theirs in inputs}

    parts = {part: f"{node_id}-{part}" for part in ("noise", "guider", "sampler", "sigmas")}
    noise = {**some(noise_seed="seed"), "coordinates": coordinates}
    guider = some(model="model", positive="positive", negative="negative", cfg="cfg")
    sigmas = some(model="model", scheduler="scheduler", steps="steps", denoise="denoise")
    made = {
        parts["noise"]: (NOISE_NODE, noise),
        parts["guider"]: ("CFGGuider", guider),
        parts["sampler"]: ("KSamplerSelect", some(sampler_name="sampler_name")),
        parts["sigmas"]: ("BasicScheduler", sigmas),
        node_id: (
            "SamplerCustomAdvanced",
            {
                **{part: [other, 0] for part, other in parts.items()},
                **some(latent_image="latent_image"),
            },
        ),
    }
    return {
        new_id: {"class_type": kind, "inputs": its_inputs, **about}
        for new_id, (kind, its_inputs) in made.items()
    }


def without_saving(nodes: Nodes) -> dict[str, Any]:
    """Return the workflow with previews in place of saved pictures: they fill no output folder."""
    return {
        node_id: (
            {
                **node,
                "class_type": "PreviewImage",
                "inputs": {"images": node["inputs"].get("images")},
            }
            if node["class_type"] == "SaveImage"
            else node
        )
        for node_id, node in nodes.items()
    }


def classes(nodes: Nodes) -> dict[str, str]:
    """Return the kinds of nodes, each with the first node of it."""
    kinds: dict[str, str] = {}
    for node_id, node in nodes.items():
        kinds.setdefault(node["class_type"], node_id)
    return kinds


def weights_of_work(nodes: Nodes) -> dict[str, float]:
    """Return about how long each node takes, relative to the others: samplers take longest."""
    return {
        node_id: 20.0 if "Sampler" in kind and not kind.endswith("Select") else 1.0
        for node_id, kind in ((node_id, node["class_type"]) for node_id, node in nodes.items())
    }
