"""Arrays and spaces as plain JSON values, exact to the last bit.

Arrays are base64 of little-endian numbers. Tags and keys are part of stored logs and must not
change.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank._recipes import ScaledShell
from zorank.slates import Box, Free, Mirror, Shell, Space
from zorank.types import Json, Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TYPES = {"float16": "<f2", "float32": "<f4", "float64": "<f8"}
_SPACES: dict[str, type] = {"free": Free, "shell": Shell, "box": Box, "mirror": Mirror}


class NoJsonForm(Exception):
    """Raised for an object that has no JSON form."""


def write_array(array: NDArray[Any]) -> dict[str, Any]:
    """Return an array as base64; only one number if all are the same, as in bounds."""
    name = array.dtype.name if array.dtype.name in _TYPES else "float64"
    numbers = np.ascontiguousarray(array, dtype=_TYPES[name])
    data = numbers.tobytes()
    first = data[: numbers.itemsize]
    if first and first * numbers.size == data:
        data = first
    return {"shape": list(array.shape), name: base64.b64encode(data).decode()}


def read_array(data: Json, ndim: int) -> NDArray[Any]:
    """Return the array that `write_array` wrote; raise ValueError if it has other dimensions."""
    name = next((name for name in _TYPES if name in data), "float64")
    numbers = np.frombuffer(base64.b64decode(data[name], validate=True), _TYPES[name])
    shape = tuple(map(read_index, data["shape"]))
    if len(shape) != ndim:
        raise ValueError(f"an array has the shape {shape}, not {ndim} dimensions")
    if numbers.size == 1:
        return np.full(shape, numbers[0], name)
    return numbers.reshape(shape).astype(name)


def narrow(x: Vector) -> NDArray[Any]:
    """Return the same numbers in half precision, if that is exact."""
    with np.errstate(over="ignore"):
        half = x.astype(np.float16)
    return half if np.array_equal(half, x) else x


def read_index(i: Any) -> int:
    """Return a position in a list; raise ValueError if it is not one."""
    if isinstance(i, bool) or not isinstance(i, int) or i < 0:
        raise ValueError(f"{i!r:.40} is not a position")
    return i


def write_space(space: Space) -> dict[str, Any]:
    """Return a space with its bounds; raise NoJsonForm for a space of another package."""
    if isinstance(space, ScaledShell):
        return {"kind": "scaled", "factor": space.factor}
    kind = next((kind for kind, of in _SPACES.items() if type(space) is of), None)
    if kind is None:
        raise NoJsonForm
    if isinstance(space, Box):
        return {
            "kind": kind,
            "lower": write_array(space.lower),
            "upper": write_array(space.upper),
        }
    return {"kind": kind}


def read_space(data: Json, dim: int) -> Space:
    """Return the space that `write_space` wrote, for candidates of this dimension."""
    kind = data["kind"]
    if kind == "scaled":
        return ScaledShell(float(data["factor"]))
    if kind in ("box", "mirror"):
        bounds = [read_array(data[key], 1) for key in ("lower", "upper")]
        if any(bound.size != dim for bound in bounds):
            raise ValueError(f"bounds are not given for {dim} coordinates")
        return Mirror(*bounds) if kind == "mirror" else Box(*bounds)
    if kind not in _SPACES:
        raise ValueError(f"the space {kind!r:.40} is unknown")
    return Free() if kind == "free" else Shell()
