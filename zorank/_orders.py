"""Reads an order of positions that a user gives: lists, tuples, arrays and iterators.

An iterator may be endless, so only MAX_ITERATED items of it are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from zorank._arrays import is_whole, refuse_masked
from zorank.errors import InvalidInput, short

Group: TypeAlias = tuple[int, ...]
"""Positions of a slate that tie."""

MAX_ITERATED = 100_000
"""The largest number of items that are read from an iterator without a length."""

MAX_CANDIDATES = 20_000_000
"""The largest slate. `auto` doubles its slates at restarts, up to 128 times."""


def read_groups(order: Iterable[int | Iterable[int]]) -> tuple[Group, ...]:
    """Return an order as groups of positions; single positions become groups of one."""
    if _is_single(order) or isinstance(order, (set, frozenset, Mapping)):
        raise InvalidInput(
            f"an order must be a list of positions, best first; found {short(order)}"
        )
    groups, left = [], _limit(order)
    for item in read_items(order, "an order"):
        group = (item,) if _is_single(item) else read_items(item, "an order")
        left -= len(group)
        if left < 0:
            raise _too_long("an order", _limit(order))
        if group:
            groups.append(tuple(_position(p) for p in group))
    return tuple(groups)


def groups_by_value(values: Sequence[float], depth: int) -> tuple[Group, ...]:
    """Return the positions of the `depth` smallest values, best first; equal values tie.

    A tie at the cut is returned as a whole. Values must be finite.
    """
    order = sorted(range(len(values)), key=values.__getitem__)
    if len(set(values)) == len(values):
        return tuple(zip(order[:depth], strict=False))
    groups: list[list[int]] = []
    before = None
    for rank, position in enumerate(order):
        if values[position] == before:
            groups[-1].append(position)
        elif rank < depth:
            groups.append([position])
        else:
            break
        before = values[position]
    return tuple(tuple(group) for group in groups)


def read_items(items: Any, what: str) -> tuple[Any, ...]:
    """Return the items of an iterable; raise InvalidInput, which names it, if it is too long."""
    refuse_masked(items, what)
    limit = _limit(items)
    try:
        too_long = isinstance(items, Sized) and len(items) > limit
    except (OverflowError, TypeError):  # such as range(10**30)
        too_long = True
    found = () if too_long else tuple(islice(items, limit + 1))
    if too_long or len(found) > limit:
        raise _too_long(what, limit)
    return found


def check_slate_size(m: Any) -> None:
    """Raise InvalidInput unless m is a number of candidates."""
    if type(m) is int and 1 <= m <= MAX_CANDIDATES:  # the usual case
        return
    if is_whole(m) and m < 1:
        raise InvalidInput("an empty slate cannot be ranked; show at least one candidate")
    if not is_whole(m) or m > MAX_CANDIDATES:
        raise InvalidInput(
            f"a slate must have a whole number of candidates up to {MAX_CANDIDATES:,}, "
            f"found {short(m)}"
        )


def check_distinct(positions: Group) -> None:
    """Raise InvalidInput if a position is named twice."""
    seen: set[int] = set()
    for p in positions:
        if p in seen:
            raise InvalidInput(
                f"position {short(p)} is named more than once; name each at most once"
            )
        seen.add(p)


def _limit(items: object) -> int:
    return MAX_CANDIDATES if isinstance(items, Sized) else MAX_ITERATED


def _too_long(what: str, limit: int) -> InvalidInput:
    return InvalidInput(
        f"{what} must have at most {limit:,} items, found more; an endless iterator cannot be read"
    )


def _is_single(item: object) -> bool:
    """Return whether an item of an order is one position, not a group of them."""
    if type(item) is int:  # the usual case, and much faster than the others
        return True
    is_scalar = isinstance(item, np.ndarray) and item.ndim == 0
    return is_scalar or isinstance(item, (str, bytes)) or not isinstance(item, Iterable)


def _position(p: Any) -> int:
    p = p.item() if isinstance(p, np.ndarray) and p.ndim == 0 else p
    if not is_whole(p):
        raise InvalidInput(f"a position must be a whole number, 0 or more, found {short(p)}")
    if p < 0:
        raise InvalidInput(f"position {short(p)} is negative; positions count from 0")
    return int(p)
