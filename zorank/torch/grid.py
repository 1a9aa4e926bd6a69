"""Parameters on a grid, on which additions are exact and can be undone bit for bit.

In floating-point arithmetic (a + b) − b may differ from a, because a + b is rounded. Over
thousands of candidates the error accumulates, and a replay of the log, which shows no candidates,
would end at other weights. Therefore all values of a float32 tensor, and all increments, are
multiples of one unit, a power of two. Sums of such values are exact while they stay below 2^24
units (float64: 2^53), so that each increment can be subtracted exactly.

The unit is about 2^-22 of the largest value, which leaves a factor of 4 for growth. When half of
that is used, a larger unit is chosen. This happens only after an answer, so that a replay chooses
it too. Weights are rounded to their units once, at the start: by at most 2^-23 of the tensor's
largest value.

Half-precision values have too few digits for such a grid. Such a tensor is copied before a
candidate is shown, and restored from the copy.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import repeat
from typing import Any

import torch
from torch import Tensor

from zorank.errors import InvalidInput

CHUNK = 1 << 20
"""How many values of a direction are in memory at a time."""

DIGITS = {torch.float32: 24, torch.float64: 53}
"""The binary digits of the types that have a grid."""

HEADROOM = 2
"""The binary digits that are left for growth."""

TAIL = 9.0
"""A bound on normal draws: torch makes them from uniform numbers of at most 32 bits."""

SMALLEST_UNIT = 2.0**-120
"""Small enough for any weights, and large enough that its multiples are normal float32 numbers."""


@dataclass
class GridParameter:
    """A parameter as a flat tensor in storage order, with its scale and the unit of its grid."""

    name: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    values: Tensor
    scale: float = 1.0
    unit: float | None = None

    @classmethod
    def of(cls, name: str, parameter: Tensor) -> GridParameter:
        """View a parameter; refuse types and memory layouts that cannot be tuned."""
        data = parameter.detach()
        if data.is_meta or not data.is_floating_point() or data.element_size() < 2:
            raise InvalidInput(
                f"parameter {name!r} is {str(data.dtype).removeprefix('torch.')} on "
                f"{data.device}; only floating-point parameters of at least 16 bits in memory can "
                "be tuned: exclude it by `only`"
            )
        ordered = data.permute(sorted(range(data.ndim), key=lambda axis: -data.stride()[axis]))
        if not ordered.is_contiguous():
            raise InvalidInput(
                f"parameter {name!r} is not contiguous in memory; make it contiguous, or exclude "
                "it by `only`"
            )
        return cls(name, tuple(data.shape), tuple(data.stride()), ordered.view(-1))

    @property
    def has_grid(self) -> bool:
        """Whether the type has enough digits for a grid."""
        return self.values.dtype in DIGITS

    def description(self) -> dict[str, Any]:
        """Return shape, stride and type as JSON values."""
        dtype = str(self.values.dtype).removeprefix("torch.")
        return {"shape": list(self.shape), "stride": list(self.stride), "dtype": dtype}

    def chunks(self) -> Iterable[Tensor]:
        """Iterate over views of up to CHUNK values."""
        return torch.split(self.values, CHUNK)

    def largest(self) -> float:
        """Return the largest magnitude; NaN if any value is NaN."""
        edges = [edge.item() for chunk in self.chunks() for edge in torch.aminmax(chunk)]
        return math.nan if any(map(math.isnan, edges)) else float(max(map(abs, edges)))

    def root_mean_square(self) -> float:
        """Return the root mean square of the values."""
        norms = [torch.linalg.vector_norm(c, dtype=torch.float64).item() for c in self.chunks()]
        return math.hypot(*norms) / math.sqrt(self.values.numel())

    def reach(self, radius: float) -> float:
        """Return a bound on the values of candidates at this radius."""
        largest = self.largest()
        if not math.isfinite(largest):
            raise InvalidInput(
                f"parameter {self.name!r} contains non-finite values; start from finite weights, "
                "or use a smaller step if they diverged"
            )
        return largest + TAIL * radius * self.scale

    def unit_for(self, reach: float) -> float | None:
        """Return the unit for values up to `reach`, with headroom."""
        if not self.has_grid:
            return None
        digits = DIGITS[self.values.dtype] - HEADROOM
        return max(2.0 ** (math.ceil(math.log2(reach)) - digits), SMALLEST_UNIT)

    def outgrown(self, reach: float) -> bool:
        """Whether values up to `reach` use more than half of the headroom."""
        if self.unit is None:
            return False
        return reach > 2.0 ** (DIGITS[self.values.dtype] - 1) * self.unit

    def set_unit(self, unit: float | None) -> None:
        """Round the values to multiples of a unit."""
        self.unit = unit
        if unit is not None:
            for chunk in self.chunks():
                chunk.div_(unit).round_().mul_(unit)

    def add(self, chunk: Tensor, direction: Tensor, factor: float) -> None:
        """Add factor · direction to a chunk, rounded to the grid; may overwrite the direction."""
        if self.unit is None:
            chunk.add_(direction, alpha=factor)
        else:
            chunk.add_(direction.mul_(factor / self.unit).round_(), alpha=self.unit)


def set_relative_scales(parameters: Sequence[GridParameter]) -> None:
    """Set each scale to the tensor's root mean square, or that of all tensors if it is 0."""
    scales = [p.root_mean_square() for p in parameters]
    count = sum(p.values.numel() for p in parameters)
    squares = sum(s * s * p.values.numel() for s, p in zip(scales, parameters, strict=True))
    overall = math.sqrt(squares / count) or 1.0
    for parameter, scale in zip(parameters, scales, strict=True):
        parameter.scale = scale or overall


def digest(values: Iterable[Tensor], units: Iterable[float | None] | None = None) -> str:
    """Return the SHA-256 of flat tensors, rounded to units if given."""
    total = sha256()
    grids = repeat(None) if units is None else units
    for tensor, unit in zip(values, grids, strict=units is not None):
        for chunk in torch.split(tensor, CHUNK):
            rounded = chunk if unit is None else (chunk / unit).round_().mul_(unit)
            total.update(as_bytes(rounded))
    return total.hexdigest()


def as_bytes(values: Tensor) -> memoryview:
    """Return the bytes of a flat tensor."""
    return values.cpu().view(torch.uint8).numpy().data


def working_dtype(values: Tensor) -> torch.dtype:
    """Return the type of increments: float32 for half precision, else the tensor's own."""
    return values.dtype if values.dtype in DIGITS else torch.float32
