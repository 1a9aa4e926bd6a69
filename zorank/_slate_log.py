"""A slate as the log keeps it: plain JSON values, exact to the last bit.

What was shown is written down when it is shown, so replaying a log needs neither a renderer nor
the arithmetic of the version that asked. Arrays are base64 of little-endian numbers. A slate of
many numbers whose design is `Derived` is written as its recipe, which names candidates of earlier
rounds by a digest of their bytes. `record` reads every recipe back before it is relied on.
"""

from __future__ import annotations

import base64
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

import numpy as np

from zorank._directions import Law, Seeded
from zorank._recipes import Again, Climb, Derived, Fresh, Given, Part, Scaled, Seed, make_again
from zorank.errors import InvalidInput, StoreError
from zorank.slates import Box, Cloud, Free, Mirror, Points, Question, Ray, Shell, Slate, Space
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_NUMBERS = 4096
"""A derived slate of more numbers than this is written as its recipe."""

DIGEST = 16
"""Bytes of a candidate's digest."""

Record: TypeAlias = Mapping[str, Any]
Earlier: TypeAlias = Callable[[bytes], Vector]
"""Finds a candidate of an earlier round, or the run's start, by its digest; else a KeyError."""


def digest(x: Vector) -> bytes:
    """What names a candidate: a hash of its bytes. Of a frozen array it is found once."""
    if x.flags.writeable:
        return _hash(x)
    if id(x) not in _digests:
        _digests[id(x)] = _hash(x)
        weakref.finalize(x, _digests.pop, id(x), None).atexit = False
    return _digests[id(x)]


_digests: dict[int, bytes] = {}


def _hash(x: Vector) -> bytes:
    return blake2b(np.ascontiguousarray(x, dtype="<f8").data, digest_size=DIGEST).digest()


class ShownCandidates:
    """The candidates of a log so far and the run's start, found by their digests."""

    def __init__(self, x0: Vector) -> None:
        self._x0 = x0
        self._rounds: dict[int, NDArray[np.float64]] = {}
        self.truncate(0)

    def add(self, index: int, slate: Slate) -> None:
        """Take in the candidates of a round."""
        held = slate.design.rows if isinstance(slate.design, Points) else np.asarray(slate)
        self._rounds[index] = held
        self._unread.extend(held)

    def truncate(self, kept: int) -> None:
        """Forget all rounds but the first."""
        self._rounds = {index: rows for index, rows in self._rounds.items() if index < kept}
        self._unread = [self._x0, *(x for rows in self._rounds.values() for x in rows)]
        self._found: dict[bytes, Vector] = {}

    def __call__(self, name: bytes) -> Vector:
        """The vector of this digest; a KeyError if there is none."""
        while name not in self._found and self._unread:
            x = self._unread.pop()
            self._found[digest(x)] = x
        return self._found[name]


def record(slate: Slate, earlier: Earlier) -> tuple[dict[str, Any], Slate]:
    """The slate's record, known to give the same candidates again, and the slate it gives."""
    data = encode(slate)
    if not has_design(data):
        return data, slate
    try:
        again = decode(data, earlier)
        if same_candidates(again, slate):
            return data, again
    except StoreError:  # a recipe of vectors that no earlier round has shown
        pass
    points = replace(slate, design=Points(np.asarray(slate)))
    return encode(points), points


def same_candidates(a: Slate, b: Slate) -> bool:
    """Whether two slates show the same candidates, bit for bit."""
    alike = len(a) == len(b) and a.dim == b.dim
    return alike and all(x.tobytes() == y.tobytes() for x, y in zip(a, b, strict=True))


def has_design(data: Record | None) -> bool:
    """Whether a record holds all that an optimizer needs back, not the candidates alone."""
    if data is None:
        return False
    design = data.get("design") if isinstance(data, Mapping) else None
    return not isinstance(design, Mapping) or design.get("kind") != "rows"


def encode(slate: Slate) -> dict[str, Any]:
    """The slate as plain JSON values.

    A design that is not one of zorank's own is kept as its candidates, under the kind "rows".
    """
    data: dict[str, Any] = {"question": slate.question}
    if slate.k is not None:
        data["k"] = slate.k
    if slate.looks is not None:
        data["looks"] = _array(np.asarray(slate.looks, dtype=np.float64))
    if slate.promise:
        data["promise"] = {name: float(value) for name, value in slate.promise.items()}
    return {**data, "design": _design(slate)}


def add_looks(data: Record, looks: NDArray[np.float64]) -> dict[str, Any]:
    """The record of a slate whose candidates have been looked at since."""
    return {**data, "looks": _array(np.asarray(looks, dtype=np.float64))}


def decode(data: Record, earlier: Earlier) -> Slate:
    """The slate that `encode` wrote; a StoreError if the record is damaged."""
    try:
        design = data["design"]
        kind, question, k = design["kind"], data["question"], data.get("k")
        if kind not in _READERS and kind != "rows":
            raise StoreError(
                f"a recorded slate is of the kind {kind!r:.40}, which this zorank does not know; "
                "upgrade zorank to open it"
            )
        looks = _to_array(data["looks"], 2) if "looks" in data else None
        promise = {str(name): float(value) for name, value in data.get("promise", {}).items()}
        slate = Slate(_READERS.get(kind, _to_points)(design, earlier), question, k, looks, promise)
        whole = k is None or (isinstance(k, int) and k > 0)
        if question not in get_args(Question) or not whole:
            raise ValueError(f"the question {question!r:.40} or its k = {k!r:.40} is unknown")
        if looks is not None and len(looks) < len(slate):
            raise ValueError(f"{len(looks)} looks are given for {len(slate)} candidates")
    except KeyError as error:
        raise _damaged(f"{error.args[0]!r:.60} is not found") from error
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


def _design(slate: Slate) -> dict[str, Any]:
    design = slate.design
    try:
        if type(design) is Cloud:
            return _cloud(design)
        if type(design) is Ray:
            return _ray(design)
        if type(design) is Derived and design.rows.size > MOST_NUMBERS:
            return _Writer(design).recipe()
    except _Unknown:  # a space of the user's own, or a generator that is not of zorank.rng
        pass
    kind = "points" if type(design) in (Points, Derived) else "rows"
    return {"kind": kind, "rows": _array(np.asarray(slate))}


class _Unknown(Exception):
    """What has no form in a record."""


def _cloud(cloud: Cloud) -> dict[str, Any]:
    xi = cloud.directions
    return {
        "kind": "cloud",
        "centre": _array(cloud.centre),
        "radius": float(cloud.radius),
        **({"seeded": _seeded(xi)} if isinstance(xi, Seeded) else {"directions": _array(xi)}),
        "space": _space(cloud.space),
    }


def _to_cloud(data: Record, _: Earlier) -> Cloud:
    centre, dim = _to_array(data["centre"], 1), data["centre"]["shape"][0]
    xi = _to_seeded(data["seeded"]) if "seeded" in data else _to_array(data["directions"], 2)
    if (xi.dim if isinstance(xi, Seeded) else xi.shape[1]) != dim:
        raise ValueError("the directions of a cloud are not as long as its centre")
    return Cloud(centre, float(data["radius"]), xi, _to_space(data["space"], dim))


def _seeded(xi: Seeded) -> dict[str, Any]:
    drawn = {"dim": xi.dim, "dtype": xi.dtype, "law": xi.law}
    return {"key": str(xi.key), "streams": list(xi.streams), "signs": list(xi.signs), **drawn}


def _to_seeded(data: Record) -> Seeded:
    dtype, law = data["dtype"], data["law"]
    if dtype not in ("float32", "float64") or law not in get_args(Law):
        raise ValueError(f"directions of {law!r:.40} in {dtype!r:.40} are unknown")
    streams, signs = tuple(map(int, data["streams"])), tuple(map(int, data["signs"]))
    if len(streams) != len(signs):
        raise ValueError("a cloud has as many streams as signs")
    return Seeded(int(data["key"]), streams, signs, int(data["dim"]), dtype, law)


def _ray(ray: Ray) -> dict[str, Any]:
    return {
        "kind": "ray",
        "centre": _array(ray.centre),
        "direction": _array(ray.direction),
        "steps": [float(step) for step in ray.steps],
        "others": [_array(x) for x in ray.others],
        "space": _space(ray.space),
    }


def _to_ray(data: Record, _: Earlier) -> Ray:
    centre, direction = (_to_array(data[key], 1) for key in ("centre", "direction"))
    others = tuple(_to_array(x, 1) for x in data["others"])
    if {x.size for x in (direction, *others)} != {centre.size}:
        raise ValueError("the vectors of a ray are of different lengths")
    steps = tuple(map(float, data["steps"]))
    return Ray(centre, direction, steps, others, _to_space(data["space"], centre.size))


def _to_points(data: Record, _: Earlier) -> Points:
    return Points(_to_array(data["rows"], 2))


class _Writer:
    """Writes a recipe; a part that others refer to is written once, before them."""

    def __init__(self, design: Derived) -> None:
        self._design = design
        self._parts: list[dict[str, Any]] = []
        self._places: dict[int, int] = {}

    def recipe(self) -> dict[str, Any]:
        rows = [self._place(part) for part in self._design.parts]
        return {"kind": "derived", "dim": self._design.dim, "parts": self._parts, "rows": rows}

    def _place(self, part: Part) -> int:
        if id(part) not in self._places:
            written = self._write(part)
            self._places[id(part)] = len(self._parts)
            self._parts.append({**written, "space": _space(part.space)})
        return self._places[id(part)]

    def _write(self, part: Part) -> dict[str, Any]:
        if isinstance(part, Again):
            return {"kind": "again", "of": _names(part.x)}
        if isinstance(part, Climb):
            numbers = {key: getattr(part, key) for key in CLIMB}
            named = {"of": _names(*part.points), "pulls": _array(part.pulls)}
            return {"kind": "climb", "best": part.best, **named, **numbers}
        if isinstance(part, Given):
            return {"kind": "given", "numbers": _array(_narrow(part.x))}
        if part.seed is None:
            raise _Unknown
        return {
            "kind": "fresh",
            "entropy": str(part.seed.entropy),
            "spawn_key": list(part.seed.spawn_key),
            "count": part.count,
            "row": part.row,
            "radius": part.radius,
            "centre": None if part.centre is None else self._place(part.centre),
        }


CLIMB = ("total", "share", "slope", "keep", "go")


def _to_derived(data: Record, earlier: Earlier) -> Derived:
    dim, parts = int(data["dim"]), list[Part]()
    for part in data["parts"]:
        parts.append(_to_part(part, parts, dim, earlier))
    return make_again([parts[_index(i)] for i in data["rows"]], dim)


def _to_part(data: Record, parts: list[Part], dim: int, earlier: Earlier) -> Part:
    kind, space = data["kind"], _to_space(data["space"], dim)
    if kind == "fresh":
        seed = Seed(int(data["entropy"]), tuple(map(int, data["spawn_key"])))
        centre = None if data["centre"] is None else parts[_index(data["centre"])]
        count, row = int(data["count"]), _index(data["row"])
        return Fresh(seed, count, row, float(data["radius"]), centre, space)
    if kind == "given":
        x = _to_array(data["numbers"], 1).astype(np.float64)
        if x.size != dim:
            raise ValueError(f"a candidate has {x.size} numbers, not {dim}")
        return Given(x, space)
    points = _to_points_named(data["of"], dim, earlier)
    if kind == "again":
        return Again(points[0], space)
    if kind == "climb":
        numbers = {key: None if data[key] is None else float(data[key]) for key in CLIMB}
        pulls, best = _to_array(data["pulls"], 1), _index(data["best"])
        return Climb(points, best, pulls, space=space, **numbers)  # type: ignore[arg-type]
    raise ValueError(f"a candidate made by {kind!r:.40} is unknown")


def _names(*points: Vector) -> str:
    """The digests of some candidates, one after the other."""
    return base64.b64encode(b"".join(map(digest, points))).decode()


def _to_points_named(text: str, dim: int, earlier: Earlier) -> tuple[Vector, ...]:
    names = base64.b64decode(text, validate=True)
    try:
        found = tuple(earlier(names[i : i + DIGEST]) for i in range(0, len(names), DIGEST))
    except KeyError as error:
        raise ValueError("it refers to a candidate that no earlier round has shown") from error
    if any(x.size != dim for x in found):
        raise ValueError("it refers to a candidate of another dimension")
    return found


def _index(i: Any) -> int:
    if isinstance(i, bool) or not isinstance(i, int) or i < 0:
        raise ValueError(f"{i!r:.40} is not a position")
    return i


def _space(space: Space) -> dict[str, Any]:
    if isinstance(space, Scaled):
        return {"kind": "scaled", "factor": space.factor}
    kind = next((kind for kind, of in _SPACES.items() if type(space) is of), None)
    if kind is None:
        raise _Unknown
    if isinstance(space, Box):
        return {"kind": kind, "lower": _array(space.lower), "upper": _array(space.upper)}
    return {"kind": kind}


def _to_space(data: Record, dim: int) -> Space:
    kind = data["kind"]
    if kind == "scaled":
        return Scaled(float(data["factor"]))
    if kind in ("box", "mirror"):
        bounds = [_to_array(data[key], 1) for key in ("lower", "upper")]
        if any(bound.size != dim for bound in bounds):
            raise ValueError(f"bounds are not given for {dim} coordinates")
        return Mirror(*bounds) if kind == "mirror" else Box(*bounds)
    if kind not in _SPACES:
        raise ValueError(f"the space {kind!r:.40} is unknown")
    return Free() if kind == "free" else Shell()


def _array(array: NDArray[Any]) -> dict[str, Any]:
    """Numbers as base64; of an array whose numbers are all the same, such as bounds, only one."""
    name = array.dtype.name if array.dtype.name in _TYPES else "float64"
    kept = np.ascontiguousarray(array, dtype=_TYPES[name])
    data = kept.tobytes()
    one = data[: kept.itemsize]
    if one and one * kept.size == data:
        data = one
    return {"shape": list(array.shape), name: base64.b64encode(data).decode()}


def _to_array(data: Record, ndim: int) -> NDArray[Any]:
    name = next((name for name in _TYPES if name in data), "float64")
    numbers = np.frombuffer(base64.b64decode(data[name], validate=True), _TYPES[name])
    shape = tuple(map(_index, data["shape"]))
    if len(shape) != ndim:
        raise ValueError(f"an array has the shape {shape}, not {ndim} dimensions")
    if numbers.size == 1:
        return np.full(shape, numbers[0], name)
    return numbers.reshape(shape).astype(name)


def _narrow(x: Vector) -> NDArray[Any]:
    """The same numbers in half precision, if that holds them exactly."""
    with np.errstate(over="ignore"):
        narrow = x.astype(np.float16)
    return narrow if np.array_equal(narrow, x) else x


_TYPES = {"float16": "<f2", "float32": "<f4", "float64": "<f8"}
_SPACES: dict[str, type] = {"free": Free, "shell": Shell, "box": Box, "mirror": Mirror}
_READERS: dict[str, Callable[[Record, Earlier], Any]] = {
    "points": _to_points,
    "cloud": _to_cloud,
    "ray": _to_ray,
    "derived": _to_derived,
}
