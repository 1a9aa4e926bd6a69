"""Recipes of candidates as plain JSON values.

A recipe refers to candidates of earlier rounds by a digest of their bytes. Tags and keys are part
of stored logs and must not change.
"""

from __future__ import annotations

import base64
import weakref
from collections.abc import Callable
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np

from zorank._array_json import (
    NoJsonForm,
    narrow,
    read_array,
    read_index,
    read_space,
    write_array,
    write_space,
)
from zorank._recipes import (
    DerivedPoints,
    GeneratorSeed,
    GradientStep,
    LoggedVector,
    RandomPoint,
    Recipe,
    StoredVector,
    rebuild,
)
from zorank.types import Json, Vector

DIGEST_BYTES = 16
"""The length of a candidate's digest."""

FindVector: TypeAlias = Callable[[bytes], Vector]
"""Returns the candidate of an earlier round, or the run's start, with this digest; or KeyError."""

STEP_NUMBERS = ("total", "share", "slope", "keep", "go")
"""The fields of a GradientStep that are single numbers."""


def digest(x: Vector) -> bytes:
    """Return a hash of a candidate's bytes; for a read-only array it is cached."""
    if x.flags.writeable:
        return _hash(x)
    if id(x) not in _digests:
        _digests[id(x)] = _hash(x)
        weakref.finalize(x, _digests.pop, id(x), None).atexit = False
    return _digests[id(x)]


_digests: dict[int, bytes] = {}


def _hash(x: Vector) -> bytes:
    return blake2b(np.ascontiguousarray(x, dtype="<f8").data, digest_size=DIGEST_BYTES).digest()


def write_recipes(design: DerivedPoints) -> dict[str, Any]:
    """Return the recipes of a design; raise NoJsonForm if one of them has none."""
    return _RecipeWriter(design).write()


class _RecipeWriter:
    """Writes recipes; one that others refer to is written once, before them."""

    def __init__(self, design: DerivedPoints) -> None:
        self._design = design
        self._written: list[dict[str, Any]] = []
        self._positions: dict[int, int] = {}

    def write(self) -> dict[str, Any]:
        rows = [self._position(recipe) for recipe in self._design.recipes]
        return {"kind": "derived", "dim": self._design.dim, "parts": self._written, "rows": rows}

    def _position(self, recipe: Recipe) -> int:
        """Return the position of a recipe among the written ones; write it if it is new."""
        if id(recipe) not in self._positions:
            written = self._write_recipe(recipe)
            self._positions[id(recipe)] = len(self._written)
            self._written.append({**written, "space": write_space(recipe.space)})
        return self._positions[id(recipe)]

    def _write_recipe(self, recipe: Recipe) -> dict[str, Any]:
        if isinstance(recipe, LoggedVector):
            return {"kind": "again", "of": _write_digests(recipe.x)}
        if isinstance(recipe, GradientStep):
            numbers = {key: getattr(recipe, key) for key in STEP_NUMBERS}
            arrays = {"of": _write_digests(*recipe.points), "pulls": write_array(recipe.pulls)}
            return {"kind": "climb", "best": recipe.best, **arrays, **numbers}
        if isinstance(recipe, StoredVector):
            return {"kind": "given", "numbers": write_array(narrow(recipe.x))}
        if recipe.seed is None:
            raise NoJsonForm
        return {
            "kind": "fresh",
            "entropy": str(recipe.seed.entropy),
            "spawn_key": list(recipe.seed.spawn_key),
            "count": recipe.count,
            "row": recipe.row,
            "radius": recipe.radius,
            "centre": None if recipe.centre is None else self._position(recipe.centre),
        }


def read_recipes(data: Json, find: FindVector) -> DerivedPoints:
    """Return the design that `write_recipes` wrote."""
    dim, recipes = int(data["dim"]), list[Recipe]()
    for written in data["parts"]:
        recipes.append(_read_recipe(written, recipes, dim, find))
    return rebuild([recipes[read_index(i)] for i in data["rows"]], dim)


def _read_recipe(data: Json, earlier: list[Recipe], dim: int, find: FindVector) -> Recipe:
    kind, space = data["kind"], read_space(data["space"], dim)
    if kind == "fresh":
        seed = GeneratorSeed(int(data["entropy"]), tuple(map(int, data["spawn_key"])))
        centre = None if data["centre"] is None else earlier[read_index(data["centre"])]
        count, row = int(data["count"]), read_index(data["row"])
        return RandomPoint(seed, count, row, float(data["radius"]), centre, space)
    if kind == "given":
        x = read_array(data["numbers"], 1).astype(np.float64)
        if x.size != dim:
            raise ValueError(f"a candidate has {x.size} numbers, not {dim}")
        return StoredVector(x, space)
    points = _read_vectors(data["of"], dim, find)
    if kind == "again":
        return LoggedVector(points[0], space)
    if kind == "climb":
        numbers: Any = {k: None if data[k] is None else float(data[k]) for k in STEP_NUMBERS}
        pulls, best = read_array(data["pulls"], 1), read_index(data["best"])
        return GradientStep(points, best, pulls, space=space, **numbers)
    raise ValueError(f"the recipe {kind!r:.40} is unknown")


def _write_digests(*points: Vector) -> str:
    """Return the digests of some candidates, one after the other."""
    return base64.b64encode(b"".join(map(digest, points))).decode()


def _read_vectors(text: str, dim: int, find: FindVector) -> tuple[Vector, ...]:
    """Return the candidates with these digests."""
    digests = base64.b64decode(text, validate=True)
    starts = range(0, len(digests), DIGEST_BYTES)
    try:
        found = tuple(find(digests[i : i + DIGEST_BYTES]) for i in starts)
    except KeyError as error:
        raise ValueError("it refers to a candidate that no earlier round has shown") from error
    if any(x.size != dim for x in found):
        raise ValueError("it refers to a candidate of another dimension")
    return found
