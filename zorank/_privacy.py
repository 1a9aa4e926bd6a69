"""Runs whose store keeps no values: the choice is stored with the run and cannot change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zorank import rng
from zorank.errors import InvalidInput, ReplayError
from zorank.protocols import AnyOptimizer
from zorank.run import Run
from zorank.types import as_vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

KEY = "record_values"


def values_meta(record_values: bool, optimizer: AnyOptimizer, x0: ArrayLike) -> dict[str, Any]:
    """Return the metadata that store the choice; raise if the optimizer is told values."""
    if record_values:
        return {}
    first = optimizer.ask(optimizer.init(as_vector(x0, "x0")), rng.for_round(0, 0))
    if first.question == "values":
        raise InvalidInput(
            f"{optimizer.name} is told values, so its log contains them; use a method that is "
            "told ranks, such as zo-ranksgd, or record values"
        )
    return {KEY: False}


def check_same_values(run: Run, record_values: bool) -> None:
    """Raise if a resumed run was started with the other choice."""
    stored = run.record.meta.get(KEY, True)
    if stored != record_values:
        began = "with values recorded" if stored else "without recording values"
        raise ReplayError(
            f"run {run.name!r} was started {began}; resume it in the same way, or use another name"
        )
