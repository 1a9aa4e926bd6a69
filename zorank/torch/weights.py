"""A module's weights, moved in place along directions that are made from seeds, and moved back.

**Why a grid.** (a + b) − b is not a in floating-point numbers: a little of a is lost when the sum
is rounded. Over thousands of candidates that drifts, and a run that is replayed from its log,
which shows no candidates, would arrive elsewhere. So all numbers of a float32 tensor, and all that
is ever added to them, are kept multiples of one unit, a power of two. Sums of such numbers are
exact as long as they stay below 2^24 units (float64: 2^53), so what was added can be taken away,
bit for bit. The unit is about 2^-22 of the largest number that occurs, which leaves a factor of 4
to grow; when half of that is used up, a coarser unit is chosen, at an answer, so that a replay
chooses it too. Weights change once, at the start, when they are rounded to their units: by at most
2^-23 of the tensor's largest.

Half-precision numbers have too few digits for a grid that fine. Of such tensors a copy is kept
while a candidate is shown, and copied back.
"""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import repeat
from typing import Any

import numpy as np
import torch
from torch import Tensor

from zorank._directions import Law
from zorank.errors import InvalidInput, ReplayError
from zorank.types import Vector

CHUNK = 1 << 20
"""How many numbers of a direction exist at a time."""

DIGITS = {torch.float32: 24, torch.float64: 53}
"""Binary digits of the numbers that are kept on a grid."""

HEADROOM = 2
"""Binary digits by which the numbers of a tensor may grow on their grid."""

TAIL = 9.0
"""No draw is larger: torch makes normals of uniform numbers with 32 bits at most."""

SMALLEST_UNIT = 2.0**-120
"""Its multiples are far from those that float32 keeps with fewer digits."""


@dataclass
class Part:
    """A parameter: its numbers in the order of its storage, their scale and their unit."""

    name: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    values: Tensor
    scale: float = 1.0
    unit: float | None = None

    @property
    def has_grid(self) -> bool:
        """Whether its numbers have digits enough to be kept on a grid."""
        return self.values.dtype in DIGITS

    def description(self) -> dict[str, Any]:
        """What tells it from a parameter of another model."""
        kind = str(self.values.dtype).removeprefix("torch.")
        return {"shape": list(self.shape), "stride": list(self.stride), "dtype": kind}

    def chunks(self) -> Iterable[Tensor]:
        """Views of its numbers, one after another."""
        return torch.split(self.values, CHUNK)

    def largest(self) -> float:
        """The largest magnitude; not a number if one of them is none."""
        edges = [edge.item() for chunk in self.chunks() for edge in torch.aminmax(chunk)]
        return math.nan if any(map(math.isnan, edges)) else float(max(map(abs, edges)))

    def root_mean_square(self) -> float:
        """The root of the mean of its squares."""
        norms = [torch.linalg.vector_norm(c, dtype=torch.float64).item() for c in self.chunks()]
        return math.hypot(*norms) / math.sqrt(self.values.numel())

    def reach(self, radius: float) -> float:
        """A bound of the numbers that candidates within this radius hold."""
        largest = self.largest()
        if not math.isfinite(largest):
            raise InvalidInput(
                f"parameter {self.name!r} holds a number that is not finite; "
                "start from finite weights, and use a smaller step if they grew out of them"
            )
        return largest + TAIL * radius * self.scale

    def unit_for(self, reach: float) -> float | None:
        """The unit for numbers up to this one, with room to grow."""
        if not self.has_grid:
            return None
        digits = DIGITS[self.values.dtype] - HEADROOM
        return max(2.0 ** (math.ceil(math.log2(reach)) - digits), SMALLEST_UNIT)

    def outgrown(self, reach: float) -> bool:
        """Whether numbers up to this one use up half of the room to grow."""
        if self.unit is None:
            return False
        return reach > 2.0 ** (DIGITS[self.values.dtype] - 1) * self.unit


class Weights:
    """The chosen parameters of a module.

    Args:
        chosen: the parameters by name.
        seed: the run's seed.
        law: the law of the directions.
        m: the directions of a round.
    """

    def __init__(self, chosen: Mapping[str, Tensor], seed: int, law: Law, m: int) -> None:
        self.parts = [_part(name, parameter) for name, parameter in chosen.items()]
        self._seed, self._law, self._m = seed, law, m
        self._shown: tuple[int, int, float] | None = None
        self._copies: list[Tensor] = []
        longest = min(CHUNK, max(part.values.numel() for part in self.parts))
        kinds = {(part.values.device, _precision(part.values)) for part in self.parts}
        # Made once, so that moving the weights asks for no memory and cannot fail half-way.
        self._drawn = {d: torch.empty(longest, device=d) for d in {d for d, _ in kinds}}
        self._totals = {(d, t): torch.empty(longest, device=d, dtype=t) for d, t in kinds}

    # What a run keeps of them.

    def plan(self, radius: float, relative: bool) -> dict[str, Any]:
        """Scales, units and what else tells these weights from others, as plain JSON values."""
        if relative:
            _set_scales(self.parts)
        units = [part.unit_for(part.reach(radius)) for part in self.parts]
        for part, unit in zip(self.parts, units, strict=True):
            if unit is not None and radius * part.scale < unit:
                raise InvalidInput(
                    f"mu={radius:g} is too small for parameter {part.name!r}: its largest number "
                    f"is {part.largest():.3g}, and beside that differences of "
                    f"{radius * part.scale:.1g} are lost; use a larger mu"
                )
        rows = zip(self.parts, units, strict=True)
        return {
            "parameters": {
                part.name: {**part.description(), "scale": part.scale, "unit": unit}
                for part, unit in rows
            },
            "start": digest(self.values(), units),
            "draws": self.draws(),
        }

    def adopt_scales(self, plan: Mapping[str, Any], run: str) -> None:
        """Take the scales of a plan; refused if it was made for other parameters."""
        kept = plan["parameters"]
        here = {part.name: part.description() for part in self.parts}
        there = {
            name: {key: row[key] for key in ("shape", "stride", "dtype")}
            for name, row in kept.items()
        }
        if list(here) != list(there) or here != there:
            raise ReplayError(
                f"run {run!r} tunes other parameters: {_difference(there, here)}. "
                "Continue it with the same model and the same `only`, or use another name"
            )
        for part in self.parts:
            part.scale = kept[part.name]["scale"]

    def values(self) -> list[Tensor]:
        """The numbers, a flat tensor for each parameter."""
        return [part.values for part in self.parts]

    def units(self) -> list[float | None]:
        """The units by now."""
        return [part.unit for part in self.parts]

    def adopt_units(self, units: Sequence[float | None]) -> None:
        """Put the numbers on the grids of these units."""
        with uninterrupted():
            for part, unit in zip(self.parts, units, strict=True):
                _put_on_grid(part, unit)

    def draws(self) -> str:
        """What directions look like here: other devices, and other releases of torch, may differ.

        Some are drawn and added up as in a move; their last bits count.
        """
        total = sha256()
        for device in sorted(self._drawn, key=str):
            drawn, summed = torch.empty(4099, device=device), torch.zeros(4099, device=device)
            for weight in (1 / 3, -1 / 7):
                _draw(drawn, self._law, _generator(7, device))
                summed.add_(drawn, alpha=weight)
            total.update(_bytes(summed))
        return total.hexdigest()[:16]

    # How they move.

    def show(self, round: int, i: int, radius: float) -> None:
        """Be candidate i of this round, until `restore`."""
        with uninterrupted(), torch.no_grad():
            self._copies = [p.values.clone() for p in self.parts if not p.has_grid]
            self._shown = (round, i, radius)
            self._shift(*self._shown, sign=1)

    def restore(self) -> None:
        """Be what was before `show`, bit for bit."""
        with uninterrupted(), torch.no_grad():
            if self._shown is None:
                return
            self._shift(*self._shown, sign=-1)
            for part, copy in zip(
                (p for p in self.parts if not p.has_grid), self._copies, strict=True
            ):
                part.values.copy_(copy)
            self._shown, self._copies = None, []

    def move(self, round: int, coefficients: Vector, eta: float, radius: float) -> bool:
        """θ − η Σ w_i ξ_i, ready for candidates within the radius.

        Returns whether the same move with −η takes it back, bit for bit.
        """
        with uninterrupted(), torch.no_grad():
            if coefficients.any():
                for index, part in enumerate(self.parts):
                    self._descend(index, part, round, coefficients, eta)
            return self._widen_grids(radius) and all(part.has_grid for part in self.parts)

    def _shift(self, round: int, i: int, radius: float, sign: int) -> None:
        for index, part in enumerate(self.parts):
            if sign < 0 and not part.has_grid:
                continue  # it is copied back
            generator = self._generators(round, index, [i])[0]
            for chunk in part.chunks():
                drawn, total = self._buffers(chunk)
                _draw(drawn, self._law, generator)
                if total.dtype != drawn.dtype:
                    drawn = total.copy_(drawn)
                _add(chunk, drawn, sign * radius * part.scale, part.unit)

    def _descend(
        self, index: int, part: Part, round: int, coefficients: Vector, eta: float
    ) -> None:
        used = np.flatnonzero(coefficients).tolist()
        generators = self._generators(round, index, used)
        for chunk in part.chunks():
            drawn, total = self._buffers(chunk)
            total.zero_()
            for i, generator in zip(used, generators, strict=True):
                _draw(drawn, self._law, generator)
                total.add_(drawn, alpha=float(coefficients[i]))
            _add(chunk, total, -eta * part.scale, part.unit)

    def _widen_grids(self, radius: float) -> bool:
        """Choose new units where numbers have outgrown theirs; whether none had."""
        reaches = [part.reach(radius) for part in self.parts]
        outgrown = [
            (part, reach)
            for part, reach in zip(self.parts, reaches, strict=True)
            if part.outgrown(reach)
        ]
        for part, reach in outgrown:
            _put_on_grid(part, part.unit_for(reach))
        return not outgrown

    def _generators(self, round: int, index: int, numbers: Sequence[int]) -> list[torch.Generator]:
        seeds = _seeds(self._seed, round, self._m * len(self.parts))
        device = self.parts[index].values.device
        return [_generator(int(seeds[i * len(self.parts) + index]), device) for i in numbers]

    def _buffers(self, chunk: Tensor) -> tuple[Tensor, Tensor]:
        size = chunk.numel()
        return (
            self._drawn[chunk.device][:size],
            self._totals[chunk.device, _precision(chunk)][:size],
        )


def digest(values: Iterable[Tensor], units: Iterable[float | None] | None = None) -> str:
    """What flat tensors hold, once they are on the grids of these units, if any."""
    total = sha256()
    grids = repeat(None) if units is None else units
    for tensor, unit in zip(values, grids, strict=units is not None):
        for chunk in torch.split(tensor, CHUNK):
            rounded = chunk if unit is None else (chunk / unit).round_().mul_(unit)
            total.update(_bytes(rounded))
    return total.hexdigest()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait until what is inside is done, so that no weights are left half-moved."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    waiting: list[tuple[Any, Any]] = []
    signal.signal(signal.SIGINT, lambda number, frame: waiting.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if waiting:
            handler(*waiting[0])


def _part(name: str, parameter: Tensor) -> Part:
    data = parameter.detach()
    if data.is_meta or not data.is_floating_point() or data.element_size() < 2:
        raise InvalidInput(
            f"parameter {name!r} is {str(data.dtype).removeprefix('torch.')} on {data.device}; "
            "only floating-point numbers of 16 bits or more in memory can be tuned: leave it out "
            "by `only`"
        )
    ordered = data.permute(sorted(range(data.ndim), key=lambda axis: -data.stride()[axis]))
    if not ordered.is_contiguous():
        raise InvalidInput(
            f"the numbers of parameter {name!r} do not lie side by side in memory; "
            "make it contiguous, or leave it out by `only`"
        )
    return Part(name, tuple(data.shape), tuple(data.stride()), ordered.view(-1))


def _bytes(values: Tensor) -> memoryview:
    return values.cpu().view(torch.uint8).numpy().data


def _precision(values: Tensor) -> torch.dtype:
    """Half-precision numbers are moved by float32 ones."""
    return values.dtype if values.dtype in DIGITS else torch.float32


def _set_scales(parts: Sequence[Part]) -> None:
    """A tensor's own root mean square; for zeros, as biases start, that of all the others."""
    scales = [part.root_mean_square() for part in parts]
    count = sum(part.values.numel() for part in parts)
    squares = sum(s * s * p.values.numel() for s, p in zip(scales, parts, strict=True))
    overall = math.sqrt(squares / count) or 1.0
    for part, scale in zip(parts, scales, strict=True):
        part.scale = scale or overall


def _add(chunk: Tensor, direction: Tensor, factor: float, unit: float | None) -> None:
    """Add the direction times the factor, rounded to the grid if there is one."""
    if unit is None:
        chunk.add_(direction, alpha=factor)
    else:
        chunk.add_(direction.mul_(factor / unit).round_(), alpha=unit)


def _put_on_grid(part: Part, unit: float | None) -> None:
    part.unit = unit
    if unit is not None:
        for chunk in part.chunks():
            chunk.div_(unit).round_().mul_(unit)


def _draw(out: Tensor, law: Law, generator: torch.Generator) -> None:
    if law == "normal":
        out.normal_(generator=generator)
        return
    # Eight signs of every byte: several times faster than a draw for each.
    drawn = torch.empty(-(-out.numel() // 8), dtype=torch.uint8, device=out.device)
    drawn.random_(0, 256, generator=generator)
    places = torch.arange(8, dtype=torch.uint8, device=out.device)
    out.copy_(((drawn[:, None] >> places) & 1).view(-1)[: out.numel()])
    out.mul_(2.0).sub_(1.0)


@lru_cache(maxsize=4)
def _seeds(seed: int, round: int, count: int) -> Any:
    """The seeds of all directions of a round; those of a run's rounds have nothing in common."""
    return np.random.SeedSequence(seed, spawn_key=(round,)).generate_state(count, np.uint64)


def _generator(seed: int, device: torch.device) -> torch.Generator:
    generator = torch.Generator(device)
    generator.manual_seed(seed)
    return generator


def _difference(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """The first difference between two sets of parameters, in words."""
    for name in [*there, *here]:
        if name not in here:
            return f"{name!r} is not among those chosen here"
        if name not in there:
            return f"{name!r} is chosen only here"
        for key, value in there[name].items():
            if here[name][key] != value:
                return f"{name!r} has {key} {value} there and {here[name][key]} here"
    return "they come in another order"
