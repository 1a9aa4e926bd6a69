"""Slates as plain JSON values, exact to the last bit.

A large slate whose design is `DerivedPoints` is written as its recipes. Tags and keys are part of
stored logs and must not change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

import numpy as np

from zorank._array_json import NoJsonForm, read_array, read_space, write_array, write_space
from zorank._directions import Law, SeededDirections
from zorank._recipe_json import FindVector, read_recipes, write_recipes
from zorank._recipes import DerivedPoints
from zorank.errors import InvalidInput, StoreError
from zorank.slates import Cloud, Points, Question, Ray, Slate
from zorank.types import Json, Matrix

RECIPE_SIZE = 4096
"""Derived points with more numbers than this are written as recipes."""


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
        data["looks"] = write_array(np.asarray(slate.looks, dtype=np.float64))
    if slate.promise:
        data["promise"] = {name: float(value) for name, value in slate.promise.items()}
    return {**data, "design": _write_design(slate)}


def add_looks(data: Json, looks: Matrix) -> dict[str, Any]:
    """Return the record of a slate with looks added."""
    return {**data, "looks": write_array(np.asarray(looks, dtype=np.float64))}


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
        looks = read_array(data["looks"], 2) if "looks" in data else None
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
            return write_recipes(design)
    except NoJsonForm:  # a space of another package, or a generator that is not of zorank.rng
        pass
    kind = "points" if type(design) in (Points, DerivedPoints) else "rows"
    return {"kind": kind, "rows": write_array(np.asarray(slate))}


def _write_cloud(cloud: Cloud) -> dict[str, Any]:
    xi = cloud.directions
    return {
        "kind": "cloud",
        "centre": write_array(cloud.centre),
        "radius": float(cloud.radius),
        **(
            {"seeded": _write_seeded(xi)}
            if isinstance(xi, SeededDirections)
            else {"directions": write_array(xi)}
        ),
        "space": write_space(cloud.space),
    }


def _read_cloud(data: Json, _: FindVector) -> Cloud:
    centre, dim = read_array(data["centre"], 1), data["centre"]["shape"][0]
    xi = _read_seeded(data["seeded"]) if "seeded" in data else read_array(data["directions"], 2)
    if (xi.dim if isinstance(xi, SeededDirections) else xi.shape[1]) != dim:
        raise ValueError("the directions of a cloud are not as long as its centre")
    return Cloud(centre, float(data["radius"]), xi, read_space(data["space"], dim))


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
        "centre": write_array(ray.centre),
        "direction": write_array(ray.direction),
        "steps": [float(step) for step in ray.steps],
        "others": [write_array(x) for x in ray.others],
        "space": write_space(ray.space),
    }


def _read_ray(data: Json, _: FindVector) -> Ray:
    centre, direction = (read_array(data[key], 1) for key in ("centre", "direction"))
    others = tuple(read_array(x, 1) for x in data["others"])
    if {x.size for x in (direction, *others)} != {centre.size}:
        raise ValueError("the vectors of a ray are of different lengths")
    steps = tuple(map(float, data["steps"]))
    return Ray(centre, direction, steps, others, read_space(data["space"], centre.size))


def _read_points(data: Json, _: FindVector) -> Points:
    return Points(read_array(data["rows"], 2))


_READERS: dict[str, Callable[[Json, FindVector], Any]] = {
    "points": _read_points,
    "cloud": _read_cloud,
    "ray": _read_ray,
    "derived": read_recipes,
}
