"""LoRAs: small files that add to a model's weights, each with a weight of its own.

The weights are stated, such as `ink.safetensors:0.8`, or tuned: then each is a coordinate. A
coordinate of 0 is the stated weight; a logistic curve keeps it between 0 and a limit, and all
weights shrink together where their sum exceeds its own limit.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zorank.errors import InvalidInput, short, unreadable
from zorank.renderers.diffusers.files import check_weights_file

MOST = 16
"""The largest number of LoRAs."""

LARGEST_WEIGHT = 10.0
"""The largest weight of one LoRA, whatever its sign."""


@dataclass(frozen=True)
class Adapter:
    """A LoRA file and its stated weight."""

    file: str
    weight: float = 1.0

    def __str__(self) -> str:
        return f"{self.file}:{self.weight!r}"


def parse(text: str) -> tuple[Adapter, ...]:
    """Read a text such as "ink.safetensors:0.8, paper.safetensors"."""
    found = tuple(_parse_one(part.strip()) for part in text.split(",") if part.strip())
    if len(found) > MOST:
        raise InvalidInput(f"at most {MOST} LoRAs can be used at once, found {len(found)}")
    return found


def absolute(text: str) -> str:
    """Return the same text with absolute paths of the files that exist."""
    adapters = (Adapter(_absolute(each.file), each.weight) for each in parse(text))
    return ",".join(map(str, adapters))


def check(adapters: Sequence[Adapter]) -> None:
    """Raise unless every file is there and of the right kind; nothing heavy is imported."""
    for adapter in adapters:
        check_weights_file(Path(adapter.file).expanduser(), "the LoRA")


def load(pipeline: Any, adapters: Sequence[Adapter], folder: str) -> tuple[str, ...]:
    """Load LoRAs into a pipeline; return the names that it knows them by."""
    if not hasattr(pipeline, "load_lora_weights"):
        raise InvalidInput(f"a {type(pipeline).__name__} takes no LoRAs; leave lora empty")
    for number, adapter in enumerate(adapters):
        _load_one(pipeline, adapter, _name(number), folder)
    return tuple(_name(number) for number in range(len(adapters)))


def change_text(pipeline: Any) -> bool:
    """Whether any loaded LoRA also changes the encoding of prompts."""
    parts = pipeline.get_list_adapters()
    return any(names for part, names in parts.items() if part.startswith("text_encoder"))


@dataclass(frozen=True)
class WeightRange:
    """How coordinates become weights.

    Attributes:
        stated: the weight of each LoRA at coordinate 0; its sign is that of its weights.
        limit: the largest weight of one LoRA.
        total: the largest sum of all weights, whatever their signs.
        spread: how fast a weight changes: the slope of its logit.
    """

    stated: tuple[float, ...] = ()
    limit: float = 1.0
    total: float = 1.0
    spread: float = 0.0

    def check(self) -> None:
        """Raise unless coordinates of 0 can give the stated weights."""
        for weight in self.stated:
            if not 0 < abs(weight) < self.limit:
                raise InvalidInput(
                    f"a tuned LoRA needs a weight between 0 and adapter_limit = {self.limit:g}, "
                    f"found {weight:g}; change one of them"
                )
        if (found := sum(map(abs, self.stated))) > self.total:
            raise InvalidInput(
                f"the weights of the LoRAs have the sum {found:g}, above adapter_total = "
                f"{self.total:g}; lower a weight or raise adapter_total"
            )

    def at(self, coordinates: Sequence[float]) -> tuple[float, ...]:
        """Return the weights at these coordinates."""
        raw = [self._one(w, float(z)) for w, z in zip(self.stated, coordinates, strict=True)]
        factor = min(1.0, self.total / sum(map(abs, raw)))
        return tuple(factor * weight for weight in raw)

    def _one(self, stated: float, coordinate: float) -> float:
        share = abs(stated) / self.limit
        logit = math.log(share / (1.0 - share)) + self.spread * coordinate
        half = math.tanh(0.5 * logit)  # the logistic function, without overflow
        return math.copysign(self.limit * 0.5 * (1.0 + half), stated)


def _parse_one(text: str) -> Adapter:
    file, colon, tail = text.rpartition(":")
    if not colon or not file:
        return Adapter(text)
    try:
        weight = float(tail)
    except ValueError:
        return Adapter(text)  # such as C:\ink.safetensors
    if not abs(weight) <= LARGEST_WEIGHT:
        raise InvalidInput(
            f"the weight of a LoRA must be from {-LARGEST_WEIGHT:g} to {LARGEST_WEIGHT:g}, "
            f"found {short(tail)}"
        )
    return Adapter(file.strip(), weight)


def _absolute(file: str) -> str:
    path = Path(file).expanduser()
    return str(path.resolve()) if path.exists() else file


def _name(number: int) -> str:
    return f"lora_{number}"


def _load_one(pipeline: Any, adapter: Adapter, name: str, folder: str) -> None:
    path = Path(adapter.file).expanduser()
    advice = "it must be a LoRA that was trained for a model of this family"
    with (
        unreadable(f"the LoRA {path} does not fit the model {folder}", advice),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", UserWarning)  # peft warns of a second LoRA
        pipeline.load_lora_weights(
            str(path.parent), weight_name=path.name, adapter_name=name, local_files_only=True
        )
        parts = pipeline.get_list_adapters()
    if not any(name in names for names in parts.values()):
        raise InvalidInput(
            f"the LoRA {path} changes nothing in the model {folder}: none of its weights has a "
            f"place there; {advice}"
        )
