"""The slates of a run's log.

A slate is recorded when it is shown, so a replay needs neither a renderer nor the arithmetic of
the version that asked. Records are JSON values (`zorank._slate_json`). They may refer to
candidates of earlier rounds by digests, which `ShownCandidates` finds. Every record is read back
before it is used.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from zorank._recipe_json import FindVector, digest
from zorank._slate_json import add_looks, decode, encode, has_design
from zorank.errors import StoreError
from zorank.slates import Points, Slate
from zorank.types import Matrix, Vector

__all__ = [
    "ShownCandidates",
    "add_looks",
    "decode",
    "digest",
    "encode",
    "has_design",
    "record",
    "same_candidates",
]


class ShownCandidates:
    """Finds the run's start and the candidates of its log by their digests."""

    def __init__(self, x0: Vector) -> None:
        self._x0 = x0
        self._rounds: dict[int, Matrix] = {}
        self.truncate(0)

    def add(self, index: int, slate: Slate) -> None:
        """Add the candidates of a round."""
        rows = slate.design.rows if isinstance(slate.design, Points) else np.asarray(slate)
        self._rounds[index] = rows
        self._not_hashed.extend(rows)

    def truncate(self, kept: int) -> None:
        """Keep only the first `kept` rounds."""
        self._rounds = {index: rows for index, rows in self._rounds.items() if index < kept}
        self._not_hashed = [self._x0, *(x for rows in self._rounds.values() for x in rows)]
        self._by_digest: dict[bytes, Vector] = {}

    def __call__(self, wanted: bytes) -> Vector:
        """Return the vector with this digest; raise KeyError if there is none."""
        while wanted not in self._by_digest and self._not_hashed:
            x = self._not_hashed.pop()
            self._by_digest[digest(x)] = x
        return self._by_digest[wanted]


def record(slate: Slate, find: FindVector) -> tuple[dict[str, Any], Slate]:
    """Return a slate's record, verified to give the same candidates, and the slate it gives."""
    data = encode(slate)
    if not has_design(data):
        return data, slate
    try:
        decoded = decode(data, find)
        if same_candidates(decoded, slate):
            return data, decoded
    except StoreError:  # a recipe refers to a vector that no earlier round has shown
        pass
    points = replace(slate, design=Points(np.asarray(slate)))
    return encode(points), points


def same_candidates(a: Slate, b: Slate) -> bool:
    """Return whether two slates have the same candidates, bit for bit."""
    same_shape = len(a) == len(b) and a.dim == b.dim
    return same_shape and all(x.tobytes() == y.tobytes() for x, y in zip(a, b, strict=True))
