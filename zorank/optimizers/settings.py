"""What the settings of optimizers have in common: the space they name, and their checks."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from zorank.errors import InvalidInput
from zorank.slates import Box, Free, Shell, Space
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

SpaceName: TypeAlias = Literal["euclidean", "gaussian"]
Bounds: TypeAlias = tuple[float | Sequence[float], float | Sequence[float]]


def make_space(
    space: SpaceName, bounds: Bounds | None, dim: int, dtype: DTypeLike = np.float64
) -> Space:
    """The space that an optimizer's settings name, for candidates of this dimension and type."""
    if space == "gaussian":
        return Shell()
    if bounds is None:
        return Free()
    lower, upper = (np.asarray(b, dtype=np.float64) for b in bounds)
    for bound in (lower, upper):
        if bound.ndim and bound.size != dim:
            raise InvalidInput(
                f"bounds are given for {bound.size} coordinates, but candidates have {dim}"
            )
    lower, upper = _inward(lower, dtype, np.inf), _inward(upper, dtype, -np.inf)
    return Box(np.broadcast_to(lower, dim), np.broadcast_to(upper, dim))


def _inward(bound: Vector, dtype: DTypeLike, towards: float) -> Vector:
    """A bound in numbers of this type, rounded so that it is kept."""
    with np.errstate(over="ignore"):
        rounded = bound.astype(dtype)
    outside = rounded < bound if towards > 0 else rounded > bound
    return np.where(outside, np.nextafter(rounded, rounded.dtype.type(towards)), rounded)


def starting_point(space: Space, x0: Vector) -> Vector:
    """x0, put where candidates may lie; the same array if that is everywhere: it is frozen."""
    return x0 if isinstance(space, Free) else space.place(x0.copy())


def check_law(law: object) -> None:
    """Raise unless directions can be drawn from it."""
    if law not in ("normal", "rademacher"):
        raise InvalidInput(f"law must be 'normal' or 'rademacher', found {law!r:.60}")


def check_space(space: object, bounds: Bounds | None) -> Bounds | None:
    """The bounds as plain floats; an error if they or the space's name make no sense."""
    if space not in ("euclidean", "gaussian"):
        raise InvalidInput(f"space must be 'euclidean' or 'gaussian', found {space!r}")
    if bounds is None:
        return None
    if space == "gaussian":
        raise InvalidInput("bounds cut the Gaussian shell; use either bounds or space='gaussian'")
    try:
        lower, upper = (np.asarray(b, dtype=np.float64) for b in bounds)
        ordered = bool(np.all(lower < upper))
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(
            f"bounds must be (lower, upper), numbers or one per coordinate, found {bounds!r}"
        ) from error
    if not ordered or lower.ndim > 1 or upper.ndim > 1:
        raise InvalidInput(f"every lower bound must be below its upper bound, found {bounds!r}")
    return _plain(lower), _plain(upper)


SMALLEST_RADIUS = 1e-200
"""A radius that has decayed for ever must still be one to divide by."""

LARGEST_WIDENING = 1e4
"""Beyond this a judge who still sees no difference will not see one in a wider slate either."""


def widened_radius(mu: float, widen: float, times: int) -> float:
    """The radius after so many answers of "no difference"."""
    widening = LARGEST_WIDENING
    if times * math.log(widen) < math.log(LARGEST_WIDENING):
        widening = widen**times
    return max(mu * widening, SMALLEST_RADIUS)


def check_slate_size(owner: Any, smallest: int = 2) -> None:
    """Raise unless m candidates can be shown and k of them ranked."""
    check_count(owner, "m", smallest)
    if owner.k is not None:
        check_count(owner, "k", 1, owner.m)


def check_count(owner: object, name: str, low: int, high: int | None = None) -> None:
    """Raise unless the field is a whole number from low (to high)."""
    value = getattr(owner, name)
    is_count = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_count or value < low or (high is not None and value > high):
        limit = f"from {low}" + ("" if high is None else f" to {high}")
        raise InvalidInput(f"{name} must be a whole number {limit}, found {value!r}")
    object.__setattr__(owner, name, int(value))


LARGEST_SETTING = 1e150
"""Beyond this a step or a radius overflows as soon as it meets a vector."""

_LIMITS = {
    "above": operator.gt,
    "at_least": operator.ge,
    "below": operator.lt,
    "at_most": operator.le,
}


def check_number(owner: object, name: str, **limits: float) -> None:
    """Raise unless the field is a finite number within limits: above, at_least, below, at_most."""
    value = getattr(owner, name)
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not (
        is_number
        and abs(value) < LARGEST_SETTING
        and all(_LIMITS[limit](value, edge) for limit, edge in limits.items())
    ):
        wanted = " and ".join(f"{k.replace('_', ' ')} {edge:g}" for k, edge in limits.items())
        raise InvalidInput(f"{name} must be a finite number {wanted}, found {value!r}")
    object.__setattr__(owner, name, float(value))


def _plain(bound: Vector) -> float | tuple[float, ...]:
    bound = np.nan_to_num(bound)  # JSON has no infinity; the largest float does as well
    return float(bound) if bound.ndim == 0 else tuple(bound.tolist())
