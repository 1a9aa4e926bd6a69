"""Checks and spaces shared by the settings of all optimizers.

An optimizer calls the checks in `__post_init__`. They raise `InvalidInput` for a bad setting, and
store a good one as a plain int or float, so that the configuration is JSON.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from zorank._arrays import as_numbers, is_real, is_whole, plain
from zorank._channels import ChannelShell
from zorank.errors import InvalidInput, short
from zorank.slates import Box, Free, Shell, Space
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

SpaceName: TypeAlias = Literal["euclidean", "gaussian"]
Bounds: TypeAlias = tuple[float | Sequence[float], float | Sequence[float]]

MAX_CANDIDATES = 100_000
"""The largest slate that an optimizer draws."""
MAX_CHANNELS = 1_000_000
"""The largest number of channels of latents."""
SHARE_OF_RANGE = 0.3
"""The default of sigma0, as a share of the range between finite bounds."""
MAX_SETTING = 1e150
"""Larger steps and radii overflow when they are multiplied by a vector."""
MIN_RADIUS = 1e-200
"""A decaying radius stays positive, because estimates divide by it."""
MAX_WIDENING = 1e4
"""If a judge sees no difference in a slate widened by this factor, more width does not help."""

_LIMITS = {
    "above": operator.gt,
    "at_least": operator.ge,
    "below": operator.lt,
    "at_most": operator.le,
}


def check_count(owner: object, name: str, low: int, high: int | None = None) -> None:
    """Check that a setting is an integer from low to high."""
    value = getattr(owner, name)
    if not is_whole(value) or value < low or (high is not None and value > high):
        limit = f"from {low}" + ("" if high is None else f" to {high}")
        raise InvalidInput(f"{name} must be a whole number {limit}, found {short(value)}")
    object.__setattr__(owner, name, int(value))


def check_slate_size(owner: Any, smallest: int = 2, largest: int = MAX_CANDIDATES) -> None:
    """Check the settings m, the number of candidates, and k, how many of them to rank."""
    check_count(owner, "m", smallest, largest)
    if owner.k is not None:
        check_count(owner, "k", 1, owner.m)


def check_number(owner: object, name: str, **limits: float) -> None:
    """Check that a setting is a finite number; limits: above, at_least, below, at_most."""
    value = plain(getattr(owner, name))
    if not (
        is_real(value)
        and abs(value) < MAX_SETTING
        and all(_LIMITS[limit](value, edge) for limit, edge in limits.items())
    ):
        wanted = " and ".join(f"{k.replace('_', ' ')} {edge:g}" for k, edge in limits.items())
        raise InvalidInput(f"{name} must be a finite number {wanted}, found {short(value)}")
    object.__setattr__(owner, name, float(value))


def check_scale(owner: object, name: str) -> None:
    """Check that a setting is a positive number, or one for each coordinate."""
    value = plain(getattr(owner, name))
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, Sequence) or isinstance(value, str):
        check_number(owner, name, above=0)
        return
    numbers = [plain(number) for number in value]
    if not numbers or not all(is_real(n) and 0 < n < MAX_SETTING for n in numbers):
        raise InvalidInput(
            f"{name} must be a finite number above 0, or one for each coordinate, "
            f"found {short(value)}"
        )
    object.__setattr__(owner, name, tuple(float(number) for number in numbers))


def check_scale_size(scale: object, dim: int) -> None:
    """Raise if scales are given for another number of coordinates."""
    if isinstance(scale, Sequence) and len(scale) != dim:
        raise InvalidInput(
            f"sigma0 is given for {len(scale)} coordinates, but candidates have {dim}"
        )


def default_sigma0(bounds: Bounds | None) -> float | tuple[float, ...]:
    """Return .3 of the range of coordinates with finite bounds, 1 for the others."""
    if bounds is None:
        return 1.0
    with np.errstate(over="ignore"):
        ranges = np.subtract(*(np.asarray(b, dtype=np.float64) for b in reversed(bounds)))
    scales = np.atleast_1d(np.where(ranges < MAX_SETTING, SHARE_OF_RANGE * ranges, 1.0))
    same = bool((scales == scales[0]).all())
    return float(scales[0]) if same else tuple(scales.tolist())


def check_discrete(owner: Any) -> None:
    """Check the settings levels and choices, and store them as tuples."""
    if owner.levels is None and owner.choices is None:
        return
    if owner.bounds != (0.0, 1.0):
        raise InvalidInput(
            f"levels and choices require bounds=(0, 1), found {short(owner.bounds)}; "
            "zorank.minimize(f, space=...) sets all of them"
        )
    if not isinstance(owner.sigma0, float):
        raise InvalidInput(
            f"with levels or choices, sigma0 must be one number, found {short(owner.sigma0)}"
        )
    levels = _whole_numbers(owner, "levels", owner.levels or ())
    if any(n < 0 or n == 1 for n in levels):
        raise InvalidInput(f"levels must be 0 or from 2, found {short(levels)}")
    blocks = [_whole_numbers(owner, "choices", pair) for pair in owner.choices or ()]
    ends = 0
    for block in sorted(blocks):
        if len(block) != 2 or block[0] < ends or block[1] < 2:
            raise InvalidInput(
                "choices must be pairs of a first coordinate and a number of options from 2, "
                f"which do not overlap; found {short(owner.choices)}"
            )
        ends = sum(block)
    object.__setattr__(owner, "levels", levels)
    object.__setattr__(owner, "choices", tuple(blocks))


def _whole_numbers(owner: object, name: str, values: Any) -> tuple[int, ...]:
    if not isinstance(values, Sequence) or not all(is_whole(value) for value in values):
        raise InvalidInput(
            f"{name} must be a list of whole numbers, found {short(getattr(owner, name))}"
        )
    return tuple(int(value) for value in values)


def check_flag(owner: object, name: str) -> None:
    """Check that a setting is a bool."""
    if not isinstance(getattr(owner, name), bool):
        raise InvalidInput(f"{name} must be True or False, found {short(getattr(owner, name))}")


def check_choice(owner: object, name: str, choices: Sequence[str]) -> None:
    """Check that a setting is one of these strings."""
    value = getattr(owner, name)
    if not isinstance(value, str) or value not in choices:
        wanted = " or ".join(repr(choice) for choice in choices)
        raise InvalidInput(f"{name} must be {wanted}, found {short(value)}")


def check_channel_count(owner: Any) -> None:
    """Check the setting channels, which needs latents on the shell unless it is 0."""
    check_count(owner, "channels", 0, MAX_CHANNELS)
    if owner.channels and owner.space != "gaussian":
        raise InvalidInput(
            f"channels are those of latents in space='gaussian', found {owner.channels} channels "
            f"in space={owner.space!r}; leave channels at 0"
        )


def check_law(law: object) -> None:
    """Check that directions can be drawn from this distribution."""
    if not isinstance(law, str) or law not in ("normal", "rademacher"):
        raise InvalidInput(f"law must be 'normal' or 'rademacher', found {short(law)}")


def check_space(owner: Any) -> None:
    """Check the settings space, if there is one, and bounds."""
    space, bounds = getattr(owner, "space", "euclidean"), owner.bounds
    if not isinstance(space, str) or space not in ("euclidean", "gaussian"):
        raise InvalidInput(f"space must be 'euclidean' or 'gaussian', found {short(space)}")
    if bounds is None:
        return
    if space == "gaussian":
        raise InvalidInput("space='gaussian' has no bounds; use either bounds or space='gaussian'")
    try:
        lower, upper = (as_numbers(b, "a bound") for b in bounds)
        ordered = bool(np.all(lower < upper))
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            "bounds must be (lower, upper), each a number or a list of one number per coordinate; "
            f"found {short(bounds)}"
        ) from error
    if not ordered or lower.ndim > 1 or upper.ndim > 1:
        raise InvalidInput(
            f"every lower bound must be below its upper bound, found {short(bounds)}"
        )
    object.__setattr__(owner, "bounds", (_plain(lower), _plain(upper)))


def _plain(bound: Vector) -> float | tuple[float, ...]:
    bound = np.nan_to_num(bound)  # JSON has no infinity; use the largest float
    return float(bound) if bound.ndim == 0 else tuple(bound.tolist())


def space_of(owner: Any, x: Vector) -> Space:
    """Return the space that an optimizer's settings name, for vectors like x."""
    space: SpaceName = getattr(owner, "space", "euclidean")
    return make_space(space, owner.bounds, x.size, x.dtype, getattr(owner, "channels", 0))


def make_space(
    space: SpaceName,
    bounds: Bounds | None,
    dim: int,
    dtype: DTypeLike = np.float64,
    channels: int = 0,
) -> Space:
    """Return the space of this name, these bounds and channels, for this dimension."""
    if space == "gaussian":
        return ChannelShell.of(channels, dim) if channels else Shell()
    if bounds is None:
        return Free()
    lower, upper = (np.asarray(b, dtype=np.float64) for b in bounds)
    for bound in (lower, upper):
        if bound.ndim and bound.size != dim:
            raise InvalidInput(
                f"bounds are given for {bound.size} coordinates, but candidates have {dim}"
            )
    lower, upper = _round_inward(lower, dtype, np.inf), _round_inward(upper, dtype, -np.inf)
    return Box(np.broadcast_to(lower, dim), np.broadcast_to(upper, dim))


def _round_inward(bound: Vector, dtype: DTypeLike, towards: float) -> Vector:
    """Convert a bound to a dtype without moving it outwards."""
    with np.errstate(over="ignore"):
        rounded = bound.astype(dtype)
    outside = rounded < bound if towards > 0 else rounded > bound
    return np.where(outside, np.nextafter(rounded, rounded.dtype.type(towards)), rounded)


def starting_point(owner: Any, x0: Vector) -> Vector:
    """Return x0 placed in the owner's space; x0 itself, which is read-only, if it is R^d."""
    space = space_of(owner, x0)
    return x0 if isinstance(space, Free) else space.place(x0.copy())


def widened_radius(mu: float, widen: float, times: int) -> float:
    """Return μ · widen^times, the radius after this many answers of "no difference"."""
    widening = MAX_WIDENING
    if times * math.log(widen) < math.log(MAX_WIDENING):
        widening = widen**times
    return max(mu * widening, MIN_RADIUS)
