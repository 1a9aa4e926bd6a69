"""The tuned weights of a module, moved in place along random directions drawn from seeds.

Directions are never stored: they are drawn again, chunk by chunk, to add or to subtract them.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256
from typing import Any

import numpy as np
import torch
from torch import Tensor

from zorank._directions import Law
from zorank.errors import InvalidInput, ReplayError
from zorank.torch import grid
from zorank.torch.grid import GridParameter, digest, working_dtype
from zorank.types import Vector


class Weights:
    """The selected parameters of a module.

    Args:
        selected: the parameters by name.
        seed: the run's seed.
        law: the distribution of the directions.
        m: the number of directions of a round.
    """

    def __init__(self, selected: Mapping[str, Tensor], seed: int, law: Law, m: int) -> None:
        self.parameters = [GridParameter.of(name, tensor) for name, tensor in selected.items()]
        self._seed, self._law, self._m = seed, law, m
        self._shown: tuple[int, int, float] | None = None
        self._copies: list[Tensor] = []
        longest = min(grid.CHUNK, max(p.values.numel() for p in self.parameters))
        kinds = {(p.values.device, working_dtype(p.values)) for p in self.parameters}
        # Allocated once, so that a move cannot run out of memory half-way.
        self._drawn = {d: torch.empty(longest, device=d) for d in {d for d, _ in kinds}}
        self._totals = {(d, t): torch.empty(longest, device=d, dtype=t) for d, t in kinds}

    # Metadata that a run stores.

    def metadata(self, radius: float, relative: bool) -> dict[str, Any]:
        """Return the parameters with scales and units, and digests of weights and draws."""
        if relative:
            grid.set_relative_scales(self.parameters)
        units = [p.unit_for(p.reach(radius)) for p in self.parameters]
        for p, unit in zip(self.parameters, units, strict=True):
            if unit is not None and radius * p.scale < unit:
                raise InvalidInput(
                    f"mu={radius:g} is too small for parameter {p.name!r}: its largest value is "
                    f"{p.largest():.3g}, and differences of {radius * p.scale:.1g} are rounded "
                    "away; use a larger mu"
                )
        return {
            "parameters": {
                p.name: {**p.description(), "scale": p.scale, "unit": unit}
                for p, unit in zip(self.parameters, units, strict=True)
            },
            "start": digest(self.values(), units),
            "draws": self.draws_digest(),
        }

    def load_scales(self, metadata: Mapping[str, Any], run: str) -> None:
        """Take the scales of a run's metadata; raise ReplayError if its parameters differ."""
        stored = metadata["parameters"]
        here = {p.name: p.description() for p in self.parameters}
        there = {
            name: {key: row[key] for key in ("shape", "stride", "dtype")}
            for name, row in stored.items()
        }
        if list(here) != list(there) or here != there:
            raise ReplayError(
                f"run {run!r} tunes other parameters: {_difference(there, here)}. "
                "Resume it with the same model and the same `only`, or use another name"
            )
        for p in self.parameters:
            p.scale = stored[p.name]["scale"]

    def values(self) -> list[Tensor]:
        """Return the flat tensors of the parameters."""
        return [p.values for p in self.parameters]

    def units(self) -> list[float | None]:
        """Return the current units."""
        return [p.unit for p in self.parameters]

    def set_units(self, units: Sequence[float | None]) -> None:
        """Round the values to multiples of these units."""
        with uninterrupted():
            for p, unit in zip(self.parameters, units, strict=True):
                p.set_unit(unit)

    def draws_digest(self) -> str:
        """Return a digest of some draws, which may differ between devices and torch releases.

        It includes the last bits of their weighted sum, as in `move`.
        """
        total = sha256()
        for device in sorted(self._drawn, key=str):
            drawn, summed = torch.empty(4099, device=device), torch.zeros(4099, device=device)
            for weight in (1 / 3, -1 / 7):
                _draw(drawn, self._law, _generator(7, device))
                summed.add_(drawn, alpha=weight)
            total.update(grid.as_bytes(summed))
        return total.hexdigest()[:16]

    # Moves.

    def perturb(self, round: int, i: int, radius: float) -> None:
        """Change the weights to candidate i of this round, until `restore`."""
        with uninterrupted(), torch.no_grad():
            self._copies = [p.values.clone() for p in self.parameters if not p.has_grid]
            self._shown = (round, i, radius)
            self._shift(*self._shown, sign=1)

    def restore(self) -> None:
        """Undo `perturb`, bit for bit."""
        with uninterrupted(), torch.no_grad():
            if self._shown is None:
                return
            self._shift(*self._shown, sign=-1)
            copied = (p for p in self.parameters if not p.has_grid)
            for p, copy in zip(copied, self._copies, strict=True):
                p.values.copy_(copy)
            self._shown, self._copies = None, []

    def move(self, round: int, coefficients: Vector, eta: float, radius: float) -> bool:
        """Move to θ − η Σ w_i ξ_i, with grids that hold candidates at this radius.

        Returns whether the same move with −η undoes it, bit for bit.
        """
        with uninterrupted(), torch.no_grad():
            if coefficients.any():
                for index, parameter in enumerate(self.parameters):
                    self._descend(index, parameter, round, coefficients, eta)
            return self._widen_grids(radius) and all(p.has_grid for p in self.parameters)

    def _shift(self, round: int, i: int, radius: float, sign: int) -> None:
        for index, parameter in enumerate(self.parameters):
            if sign < 0 and not parameter.has_grid:
                continue  # restored from its copy
            generator = self._generators(round, index, [i])[0]
            for chunk in parameter.chunks():
                drawn, total = self._buffers(chunk)
                _draw(drawn, self._law, generator)
                if total.dtype != drawn.dtype:
                    drawn = total.copy_(drawn)
                parameter.add(chunk, drawn, sign * radius * parameter.scale)

    def _descend(
        self, index: int, parameter: GridParameter, round: int, coefficients: Vector, eta: float
    ) -> None:
        used = np.flatnonzero(coefficients).tolist()
        generators = self._generators(round, index, used)
        for chunk in parameter.chunks():
            drawn, total = self._buffers(chunk)
            total.zero_()
            for i, generator in zip(used, generators, strict=True):
                _draw(drawn, self._law, generator)
                total.add_(drawn, alpha=float(coefficients[i]))
            parameter.add(chunk, total, -eta * parameter.scale)

    def _widen_grids(self, radius: float) -> bool:
        """Choose larger units where values have outgrown theirs; return whether none had."""
        reaches = [p.reach(radius) for p in self.parameters]
        outgrown = [
            (p, reach)
            for p, reach in zip(self.parameters, reaches, strict=True)
            if p.outgrown(reach)
        ]
        for p, reach in outgrown:
            p.set_unit(p.unit_for(reach))
        return not outgrown

    def _generators(self, round: int, index: int, numbers: Sequence[int]) -> list[torch.Generator]:
        count = len(self.parameters)
        seeds = _seeds(self._seed, round, self._m * count)
        device = self.parameters[index].values.device
        return [_generator(int(seeds[i * count + index]), device) for i in numbers]

    def _buffers(self, chunk: Tensor) -> tuple[Tensor, Tensor]:
        size = chunk.numel()
        return (
            self._drawn[chunk.device][:size],
            self._totals[chunk.device, working_dtype(chunk)][:size],
        )


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block, so that no weights are left half-moved."""
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


def _draw(out: Tensor, law: Law, generator: torch.Generator) -> None:
    if law == "normal":
        out.normal_(generator=generator)
        return
    # Eight signs from each byte: several times faster than one draw for each sign.
    drawn = torch.empty(-(-out.numel() // 8), dtype=torch.uint8, device=out.device)
    drawn.random_(0, 256, generator=generator)
    bits = torch.arange(8, dtype=torch.uint8, device=out.device)
    out.copy_(((drawn[:, None] >> bits) & 1).view(-1)[: out.numel()])
    out.mul_(2.0).sub_(1.0)


@lru_cache(maxsize=4)
def _seeds(seed: int, round: int, count: int) -> Any:
    """Return independent seeds for all directions of a round."""
    return np.random.SeedSequence(seed, spawn_key=(round,)).generate_state(count, np.uint64)


def _generator(seed: int, device: torch.device) -> torch.Generator:
    generator = torch.Generator(device)
    generator.manual_seed(seed)
    return generator


def _difference(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """Describe the first difference between two sets of parameters."""
    for name in [*there, *here]:
        if name not in here:
            return f"{name!r} is not selected here"
        if name not in there:
            return f"{name!r} is selected only here"
        for key, value in there[name].items():
            if here[name][key] != value:
                return f"{name!r} has {key} {value} there and {here[name][key]} here"
    return "their order differs"
