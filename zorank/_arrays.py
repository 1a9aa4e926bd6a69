"""Array types, and the checks that turn user input into them.

NumPy's types say nothing about shapes, so `Vector` and `Matrix` are one type to a type checker;
the two names tell the reader which one a function expects.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from zorank.errors import InvalidInput, short

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

Vector: TypeAlias = "NDArray[np.float64]"
"""A point, a direction or other numbers: shape (n,). Large runs may hold float32 instead."""

Vectors: TypeAlias = "Iterable[Vector]"
"""Candidates, one after another, which need not be in memory together."""

Matrix: TypeAlias = "NDArray[np.float64]"
"""Rows of numbers, such as candidates: shape (n, d)."""

Vector32: TypeAlias = "NDArray[np.float32]"
"""A float32 vector: shape (n,)."""

Array32: TypeAlias = "NDArray[np.float32]"
"""Float32 numbers of any shape, such as pictures: (n, height, width, 3)."""

COPY_LIMIT = 1 << 22
"""A start with more numbers than this is frozen instead of copied: memory may not hold both."""


def as_vector(x: ArrayLike, name: str) -> Vector:
    """Return a one-dimensional, finite float64 copy of x; errors call it `name`."""
    vector = as_numbers(x, name, copy=True)
    if vector.ndim != 1 or vector.size == 0:
        raise InvalidInput(
            f"{name} must be a vector with at least one number, found shape {vector.shape}"
        )
    finite = np.isfinite(vector)
    if not finite.all():
        i = int(np.argmin(finite))
        raise InvalidInput(f"{name} must be finite, found {vector[i]} at position {i}")
    return vector


def as_numbers(x: ArrayLike, name: str, copy: bool = False) -> NDArray[np.float64]:
    """Return x as a float64 array of any shape; errors call it `name`."""
    try:
        numbers = np.asarray(x)
    except Exception as error:  # arrays of other libraries raise errors of their own
        raise InvalidInput(f"{name} must be a sequence of numbers, found {short(x)}") from error
    if numbers.dtype.kind not in "biuf":
        raise InvalidInput(f"{name} must be a sequence of real numbers, found {short(x)}")
    refuse_masked(x, name)
    with np.errstate(over="ignore"):  # a long double beyond float64 becomes infinite
        return (np.array if copy else np.asarray)(numbers, dtype=np.float64)


def is_whole(x: Any) -> bool:
    """Return whether x is a whole number of Python or NumPy; a bool is not."""
    return isinstance(x, Integral) and not isinstance(x, bool)


def is_real(x: Any) -> bool:
    """Return whether x is a real number of Python or NumPy; a bool is not."""
    return isinstance(x, Real) and not isinstance(x, bool)


def plain(x: Any) -> Any:
    """Return a scalar of NumPy as a number of Python; a float32 overflows in comparisons."""
    return x.item() if isinstance(x, np.generic) else x


def refuse_masked(x: object, name: str) -> None:
    """Raise InvalidInput if x is an array with masked numbers: NumPy would drop the mask."""
    if isinstance(x, np.ma.MaskedArray) and np.ma.is_masked(x):
        raise InvalidInput(
            f"{name} must not have masked numbers, found {short(x)}; remove them, for instance "
            "with x.compressed(), or replace them with x.filled(number)"
        )


def as_start(x0: ArrayLike, keep_float32: bool) -> Vector:
    """Return a read-only start vector: a float64 copy of x0, with two exceptions.

    A float32 array keeps its type if `keep_float32`. An array of more than COPY_LIMIT numbers is
    not copied but made read-only itself, if it needs no conversion.
    """
    dtype: Any = np.float64
    if keep_float32 and getattr(x0, "dtype", None) == np.float32:
        dtype = np.float32
    if not (isinstance(x0, np.ndarray) and x0.size > COPY_LIMIT and _usable_as_is(x0, dtype)):
        x0 = as_vector(x0, "x0").astype(dtype, copy=False)
    x0.setflags(write=False)
    return x0


def _usable_as_is(x: NDArray[Any], dtype: Any) -> bool:
    """Return whether x is a finite vector of this type that owns its memory."""
    starts = range(0, x.size, COPY_LIMIT)  # in parts, so that no large mask is made
    return (
        type(x) is np.ndarray
        and x.ndim == 1
        and x.base is None
        and x.dtype == dtype
        and all(bool(np.isfinite(x[i : i + COPY_LIMIT]).all()) for i in starts)
    )
