"""Slates as plain JSON values, exact to the last bit.

Arrays are base64 of little-endian numbers. A large slate whose design is `DerivedPoints` is
written as its recipes, which refer to candidates of earlier rounds by a digest of their bytes.
Tags and keys are part of stored logs and must not change.
"""

from __future__ import annotations

import base64
import weakref
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

import numpy as np

from zorank._directions import Law, SeededDirections
from zorank._recipes import (
    DerivedPoints,
    GeneratorSeed,
    GradientStep,
    LoggedVector,
    RandomPoint,
    Recipe,
    ScaledShell,
    StoredVector,
    rebuild,
)
from zorank.errors import InvalidInput, StoreError
from zorank.slates import Box, Cloud, Free, Mirror, Points, Question, Ray, Shell, Slate, Space
from zorank.types import Matrix, Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

RECIPE_SIZE = 4096
"""Derived points with more numbers than this are written as recipes."""

DIGEST_BYTES = 16
"""The length of a candidate's digest."""

Json: TypeAlias = Mapping[str, Any]
"""A JSON object."""

FindVector: TypeAlias = Callable[[bytes], Vector]
"""Returns the candidate of an earlier round, or the run's start, with this digest; or KeyError."""


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


def has_design(data: Json | None) -> bool:
    """Return whether a record has the slate's design, not only its candidates."""
    if data is None:
        return False
    design = data.get("design") if isinstance(data, Mapping) else None
    return not isinstance(design, Mapping) or design.get("kind") != "rows"


def encode(slate: Slate) -> dict[str, Any]:
    """Return the slate as plain JSON values.

    A design of another package is written as its candidates, with the kind "rows".
    """
    data: dict[str, Any] = {"question": slate.question}
    if slate.k is not None:
        data["k"] = slate.k
    if slate.looks is not None:
        data["looks"] = _write_array(np.asarray(slate.looks, dtype=np.float64))
    if slate.promise:
        data["promise"] = {name: float(value) for name, value in slate.promise.items()}
    return {**data, "design": _write_design(slate)}


def add_looks(data: Json, looks: Matrix) -> dict[str, Any]:
    """Return the record of a slate with looks added."""
    return {**data, "looks": _write_array(np.asarray(looks, dtype=np.float64))}


def decode(data: Json, find: FindVector) -> Slate:
    """Return the slate that `encode` wrote; raise StoreError if the record is damaged."""
    try:
        design = data["design"]
        kind, question, k = design["kind"], data["question"], data.get("k")
        if kind not in _READERS and kind != "rows":
            raise StoreError(
                f"a recorded slate is of the kind {kind!r:.40}, which this zorank does not know; "
                "upgrade zorank to open it"
            )
        looks = _read_array(data["looks"], 2) if "looks" in data else None
        promise = {str(name): float(value) for name, value in data.get("promise", {}).items()}
        slate = Slate(_READERS.get(kind, _read_points)(design, find), question, k, looks, promise)
        valid_k = k is None or (isinstance(k, int) and k > 0)
        if question not in get_args(Question) or not valid_k:
            raise ValueError(f"the question {question!r:.40} or its k = {k!r:.40} is unknown")
        if looks is not None and len(looks) < len(slate):
            raise ValueError(f"{len(looks)} looks are given for {len(slate)} candidates")
    except KeyError as error:
        raise _damaged(f"{error.args[0]!r:.60} is missing") from error
    except (
        TypeError,
        ValueError,
        IndexError,
        AttributeError,
        ArithmeticError,
        MemoryError,
        InvalidInput,
    ) as error:
        raise _damaged(str(error)) from error
    return slate


def _damaged(why: str) -> StoreError:
    return StoreError(f"a recorded slate is damaged: {why}")


def _write_design(slate: Slate) -> dict[str, Any]:
    design = slate.design
    try:
        if type(design) is Cloud:
            return _write_cloud(design)
        if type(design) is Ray:
            return _write_ray(design)
        if type(design) is DerivedPoints and design.rows.size > RECIPE_SIZE:
            return _RecipeWriter(design).write()
    except _NoJsonForm:  # a space of another package, or a generator that is not of zorank.rng
        pass
    kind = "points" if type(design) in (Points, DerivedPoints) else "rows"
    return {"kind": kind, "rows": _write_array(np.asarray(slate))}


class _NoJsonForm(Exception):
    """Raised for an object that has no JSON form."""


def _write_cloud(cloud: Cloud) -> dict[str, Any]:
    xi = cloud.directions
    return {
        "kind": "cloud",
        "centre": _write_array(cloud.centre),
        "radius": float(cloud.radius),
        **(
            {"seeded": _write_seeded(xi)}
            if isinstance(xi, SeededDirections)
            else {"directions": _write_array(xi)}
        ),
        "space": _write_space(cloud.space),
    }


def _read_cloud(data: Json, _: FindVector) -> Cloud:
    centre, dim = _read_array(data["centre"], 1), data["centre"]["shape"][0]
    xi = _read_seeded(data["seeded"]) if "seeded" in data else _read_array(data["directions"], 2)
    if (xi.dim if isinstance(xi, SeededDirections) else xi.shape[1]) != dim:
        raise ValueError("the directions of a cloud are not as long as its centre")
    return Cloud(centre, float(data["radius"]), xi, _read_space(data["space"], dim))


def _write_seeded(xi: SeededDirections) -> dict[str, Any]:
    drawn = {"dim": xi.dim, "dtype": xi.dtype, "law": xi.law}
    return {"key": str(xi.key), "streams": list(xi.streams), "signs": list(xi.signs), **drawn}


def _read_seeded(data: Json) -> SeededDirections:
    dtype, law = data["dtype"], data["law"]
    if dtype not in ("float32", "float64") or law not in get_args(Law):
        raise ValueError(f"directions of {law!r:.40} in {dtype!r:.40} are unknown")
    streams, signs = tuple(map(int, data["streams"])), tuple(map(int, data["signs"]))
    if len(streams) != len(signs):
        raise ValueError("a cloud has as many streams as signs")
    return SeededDirections(int(data["key"]), streams, signs, int(data["dim"]), dtype, law)


def _write_ray(ray: Ray) -> dict[str, Any]:
    return {
        "kind": "ray",
        "centre": _write_array(ray.centre),
        "direction": _write_array(ray.direction),
        "steps": [float(step) for step in ray.steps],
        "others": [_write_array(x) for x in ray.others],
        "space": _write_space(ray.space),
    }


def _read_ray(data: Json, _: FindVector) -> Ray:
    centre, direction = (_read_array(data[key], 1) for key in ("centre", "direction"))
    others = tuple(_read_array(x, 1) for x in data["others"])
    if {x.size for x in (direction, *others)} != {centre.size}:
        raise ValueError("the vectors of a ray are of different lengths")
    steps = tuple(map(float, data["steps"]))
    return Ray(centre, direction, steps, others, _read_space(data["space"], centre.size))


def _read_points(data: Json, _: FindVector) -> Points:
    return Points(_read_array(data["rows"], 2))


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
            self._written.append({**written, "space": _write_space(recipe.space)})
        return self._positions[id(recipe)]

    def _write_recipe(self, recipe: Recipe) -> dict[str, Any]:
        if isinstance(recipe, LoggedVector):
            return {"kind": "again", "of": _write_digests(recipe.x)}
        if isinstance(recipe, GradientStep):
            numbers = {key: getattr(recipe, key) for key in STEP_NUMBERS}
            arrays = {"of": _write_digests(*recipe.points), "pulls": _write_array(recipe.pulls)}
            return {"kind": "climb", "best": recipe.best, **arrays, **numbers}
        if isinstance(recipe, StoredVector):
            return {"kind": "given", "numbers": _write_array(_narrow(recipe.x))}
        if recipe.seed is None:
            raise _NoJsonForm
        return {
            "kind": "fresh",
            "entropy": str(recipe.seed.entropy),
            "spawn_key": list(recipe.seed.spawn_key),
            "count": recipe.count,
            "row": recipe.row,
            "radius": recipe.radius,
            "centre": None if recipe.centre is None else self._position(recipe.centre),
        }


STEP_NUMBERS = ("total", "share", "slope", "keep", "go")
"""The fields of a GradientStep that are single numbers."""


def _read_derived(data: Json, find: FindVector) -> DerivedPoints:
    dim, recipes = int(data["dim"]), list[Recipe]()
    for written in data["parts"]:
        recipes.append(_read_recipe(written, recipes, dim, find))
    return rebuild([recipes[_index(i)] for i in data["rows"]], dim)


def _read_recipe(data: Json, earlier: list[Recipe], dim: int, find: FindVector) -> Recipe:
    kind, space = data["kind"], _read_space(data["space"], dim)
    if kind == "fresh":
        seed = GeneratorSeed(int(data["entropy"]), tuple(map(int, data["spawn_key"])))
        centre = None if data["centre"] is None else earlier[_index(data["centre"])]
        count, row = int(data["count"]), _index(data["row"])
        return RandomPoint(seed, count, row, float(data["radius"]), centre, space)
    if kind == "given":
        x = _read_array(data["numbers"], 1).astype(np.float64)
        if x.size != dim:
            raise ValueError(f"a candidate has {x.size} numbers, not {dim}")
        return StoredVector(x, space)
    points = _read_vectors(data["of"], dim, find)
    if kind == "again":
        return LoggedVector(points[0], space)
    if kind == "climb":
        numbers = {key: None if data[key] is None else float(data[key]) for key in STEP_NUMBERS}
        pulls, best = _read_array(data["pulls"], 1), _index(data["best"])
        return GradientStep(points, best, pulls, space=space, **numbers)  # type: ignore[arg-type]
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


def _index(i: Any) -> int:
    if isinstance(i, bool) or not isinstance(i, int) or i < 0:
        raise ValueError(f"{i!r:.40} is not a position")
    return i


def _write_space(space: Space) -> dict[str, Any]:
    if isinstance(space, ScaledShell):
        return {"kind": "scaled", "factor": space.factor}
    kind = next((kind for kind, of in _SPACES.items() if type(space) is of), None)
    if kind is None:
        raise _NoJsonForm
    if isinstance(space, Box):
        return {
            "kind": kind,
            "lower": _write_array(space.lower),
            "upper": _write_array(space.upper),
        }
    return {"kind": kind}


def _read_space(data: Json, dim: int) -> Space:
    kind = data["kind"]
    if kind == "scaled":
        return ScaledShell(float(data["factor"]))
    if kind in ("box", "mirror"):
        bounds = [_read_array(data[key], 1) for key in ("lower", "upper")]
        if any(bound.size != dim for bound in bounds):
            raise ValueError(f"bounds are not given for {dim} coordinates")
        return Mirror(*bounds) if kind == "mirror" else Box(*bounds)
    if kind not in _SPACES:
        raise ValueError(f"the space {kind!r:.40} is unknown")
    return Free() if kind == "free" else Shell()


def _write_array(array: NDArray[Any]) -> dict[str, Any]:
    """Return an array as base64; only one number if all are the same, as in bounds."""
    name = array.dtype.name if array.dtype.name in _TYPES else "float64"
    numbers = np.ascontiguousarray(array, dtype=_TYPES[name])
    data = numbers.tobytes()
    first = data[: numbers.itemsize]
    if first and first * numbers.size == data:
        data = first
    return {"shape": list(array.shape), name: base64.b64encode(data).decode()}


def _read_array(data: Json, ndim: int) -> NDArray[Any]:
    name = next((name for name in _TYPES if name in data), "float64")
    numbers = np.frombuffer(base64.b64decode(data[name], validate=True), _TYPES[name])
    shape = tuple(map(_index, data["shape"]))
    if len(shape) != ndim:
        raise ValueError(f"an array has the shape {shape}, not {ndim} dimensions")
    if numbers.size == 1:
        return np.full(shape, numbers[0], name)
    return numbers.reshape(shape).astype(name)


def _narrow(x: Vector) -> NDArray[Any]:
    """Return the same numbers in half precision, if that is exact."""
    with np.errstate(over="ignore"):
        narrow = x.astype(np.float16)
    return narrow if np.array_equal(narrow, x) else x


_TYPES = {"float16": "<f2", "float32": "<f4", "float64": "<f8"}
_SPACES: dict[str, type] = {"free": Free, "shell": Shell, "box": Box, "mirror": Mirror}
_READERS: dict[str, Callable[[Json, FindVector], Any]] = {
    "points": _read_points,
    "cloud": _read_cloud,
    "ray": _read_ray,
    "derived": _read_derived,
}
