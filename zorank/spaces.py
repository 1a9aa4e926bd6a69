"""Search spaces: named parameters and their coordinates in the unit cube.

`Float`, `Log` and `Int` take one coordinate each, `Choice` one for each of its options. `decode`
maps coordinates to a dict of values, `encode` is its inverse. Both are pure. What an optimizer has
to know about discrete coordinates is in `levels` and `choices`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from zorank._arrays import Vector, is_real, is_whole, plain
from zorank.errors import InvalidInput, check_names, short, unknown_name

MAX_LEVELS = 2**53
"""A float64 coordinate cannot tell more whole numbers apart."""
MAX_OPTIONS = 10_000
"""Every option of a choice is a coordinate."""


@dataclass(frozen=True)
class _Range:
    """The numbers from `low` to `high`, which take one coordinate."""

    low: float
    high: float
    kind: ClassVar[str]
    width: ClassVar[int] = 1

    def to_json(self) -> dict[str, Any]:
        """Return the declaration as plain JSON values."""
        return {self.kind: [self.low, self.high]}


@dataclass(frozen=True)
class Float(_Range):
    """A real number from `low` to `high`."""

    kind: ClassVar[str] = "float"

    def __post_init__(self) -> None:
        _check_range(self, is_real, "finite numbers", float)

    def decode(self, u: Vector) -> float:
        """Return the number at a coordinate from 0 to 1."""
        share = _share(u)
        return min(max(self.low * (1 - share) + self.high * share, self.low), self.high)

    def encode(self, value: Any) -> list[float]:
        """Return the coordinate of a number."""
        value = _check_member(self, value, is_real)
        half = self.high / 2 - self.low / 2  # halves: the range itself may overflow
        return [min(max((value / 2 - self.low / 2) / half, 0.0), 1.0) if half else 0.0]


@dataclass(frozen=True)
class Log(_Range):
    """A positive number from `low` to `high`, searched on a logarithmic scale."""

    kind: ClassVar[str] = "log"

    def __post_init__(self) -> None:
        _check_range(self, is_real, "finite numbers", float)
        if self.low <= 0:
            raise InvalidInput(
                f"Log must begin above 0, found Log({self.low:g}, {self.high:g}); use a small "
                "positive number, or Float"
            )

    def decode(self, u: Vector) -> float:
        """Return the number at a coordinate from 0 to 1."""
        share = _share(u)
        value = math.exp(math.log(self.low) * (1 - share) + math.log(self.high) * share)
        return min(max(value, self.low), self.high)

    def encode(self, value: Any) -> list[float]:
        """Return the coordinate of a number."""
        value = _check_member(self, value, is_real)
        return [math.log(value / self.low) / math.log(self.high / self.low)]


@dataclass(frozen=True)
class Int(_Range):
    """A whole number from `low` to `high`, both included."""

    low: int
    high: int
    kind: ClassVar[str] = "int"

    def __post_init__(self) -> None:
        _check_range(self, is_whole, "whole numbers", int)
        if self.levels > MAX_LEVELS:
            raise InvalidInput(
                f"Int may have at most 2**53 values, found Int({short(self.low)}, "
                f"{short(self.high)}); use Float or Log"
            )

    @property
    def levels(self) -> int:
        """The number of values."""
        return self.high - self.low + 1

    def decode(self, u: Vector) -> int:
        """Return the number whose interval, of length 1/levels, has this coordinate."""
        return self.low + min(int(_share(u) * self.levels), self.levels - 1)

    def encode(self, value: Any) -> list[float]:
        """Return the centre of a number's interval."""
        return [(_check_member(self, value, is_whole) - self.low + 0.5) / self.levels]


@dataclass(frozen=True)
class Choice:
    """One of several options without an order; texts, numbers, True, False or None."""

    options: tuple[Any, ...]
    kind: ClassVar[str] = "choice"

    def __init__(self, options: Sequence[Any]) -> None:
        if isinstance(options, str | bytes | Mapping) or not isinstance(options, Sequence):
            raise InvalidInput(f"Choice must be given a list of options, found {short(options)}")
        found = tuple(plain(option) for option in options)
        for option in found:
            finite = not isinstance(option, float) or math.isfinite(option)
            if not isinstance(option, str | bool | int | float | None) or not finite:
                raise InvalidInput(
                    "an option of Choice must be a text, a finite number, True, False or None, "
                    f"found {short(option)}; use names, and look the objects up in your function"
                )
        if len(found) < 2 or len(found) > MAX_OPTIONS:
            raise InvalidInput(
                f"Choice must have from 2 to {MAX_OPTIONS} options, found {len(found)}: "
                f"{short(list(found))}; leave a parameter with one option out of the space"
            )
        if len({(type(option), option) for option in found}) < len(found):
            raise InvalidInput(f"the options of Choice must differ, found {short(list(found))}")
        object.__setattr__(self, "options", found)

    @property
    def width(self) -> int:
        """The number of coordinates: one for each option."""
        return len(self.options)

    def decode(self, u: Vector) -> Any:
        """Return the option with the largest coordinate, the first of them if they tie."""
        return self.options[int(np.argmax(u))]

    def encode(self, value: Any) -> list[float]:
        """Return 1 for the option, 0 for the others."""
        wanted = (type(plain(value)), plain(value))
        found = [float((type(option), option) == wanted) for option in self.options]
        if not any(found):
            raise InvalidInput(f"{short(value)} is not an option of {short(list(self.options))}")
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the declaration as plain JSON values."""
        return {self.kind: list(self.options)}


Parameter: TypeAlias = Float | Log | Int | Choice
KINDS: dict[str, type[Float | Log | Int | Choice]] = {
    cls.kind: cls for cls in (Float, Log, Int, Choice)
}


class SearchSpace:
    """Named parameters, in order.

    Args:
        parameters: maps names to `Float`, `Log`, `Int` or `Choice`.
    """

    def __init__(self, parameters: Mapping[str, Parameter]) -> None:
        if not isinstance(parameters, Mapping) or not parameters:
            raise InvalidInput(
                "space must map names to Float, Log, Int or Choice, such as "
                f'{{"x": zorank.Float(0, 1)}}; found {short(parameters)}'
            )
        for name, parameter in parameters.items():
            if not isinstance(name, str) or not name:
                raise InvalidInput(f"a parameter's name must be a text, found {short(name)}")
            if not isinstance(parameter, Parameter):
                raise InvalidInput(
                    f"the parameter {name!r} must be Float, Log, Int or Choice, "
                    f"found {short(parameter)}"
                )
        self.parameters = dict(parameters)
        widths = [parameter.width for parameter in parameters.values()]
        self._ends = np.cumsum(widths).tolist()
        self._starts = [end - width for end, width in zip(self._ends, widths, strict=True)]

    @classmethod
    def of(cls, space: SearchSpace | Mapping[str, Parameter]) -> SearchSpace:
        """Return a space that is given as one or as a mapping."""
        return space if isinstance(space, SearchSpace) else cls(space)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SearchSpace) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]  # unhashable, as it defines __eq__

    def __repr__(self) -> str:
        return f"SearchSpace({self.parameters})"

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return int(self._ends[-1])

    @property
    def levels(self) -> list[int]:
        """For each coordinate, the number of values of an `Int`, or 0."""
        return [
            parameter.levels if isinstance(parameter, Int) else 0
            for parameter in self.parameters.values()
            for _ in range(parameter.width)
        ]

    @property
    def choices(self) -> list[list[int]]:
        """For each `Choice`, its first coordinate and its number of options."""
        pairs = zip(self._starts, self.parameters.values(), strict=True)
        return [[first, p.width] for first, p in pairs if isinstance(p, Choice)]

    def start(self) -> Vector:
        """Return the middle of the space: of every range, and the first option of choices."""
        x = np.full(self.dim, 0.5)
        for first, width in self.choices:
            x[first : first + width] = [1.0] + [0.0] * (width - 1)
        for j, levels in enumerate(self.levels):
            if levels:
                x[j] = ((levels - 1) // 2 + 0.5) / levels
        return x

    def decode(self, x: Vector) -> dict[str, Any]:
        """Return the parameters at a point; coordinates outside of 0 to 1 are clipped."""
        x = np.asarray(x, dtype=np.float64)
        if x.shape != (self.dim,):
            raise InvalidInput(
                f"a point of this space has {self.dim} coordinates, found shape {x.shape}"
            )
        spans = zip(self._starts, self._ends, strict=True)
        named = zip(self.parameters.items(), spans, strict=True)
        return {name: parameter.decode(x[a:b]) for (name, parameter), (a, b) in named}

    def decode_normal(self, x: Vector) -> dict[str, Any]:
        """Return the parameters at Φ(x), so that draws of N(0, I) are uniform in the space."""
        return self.decode(np.array([0.5 * (1 + math.erf(u / math.sqrt(2))) for u in x.tolist()]))

    def encode(self, params: Mapping[str, Any]) -> Vector:
        """Return the point of these parameters; all of them must be given."""
        if not isinstance(params, Mapping):
            raise InvalidInput(f"params must map names to values, found {short(params)}")
        check_names("parameter of this space", params, self.parameters)
        missing = [name for name in self.parameters if name not in params]
        if missing:
            raise InvalidInput(f"params lack {', '.join(missing)}; give a value to each parameter")
        coordinates: list[float] = []
        for name, parameter in self.parameters.items():
            try:
                coordinates += parameter.encode(params[name])
            except InvalidInput as error:
                raise InvalidInput(f"the parameter {name!r}: {error}") from error
        return np.array(coordinates)

    def to_json(self) -> list[Any]:
        """Return the space as plain JSON values, in the order of its parameters."""
        return [[name, parameter.to_json()] for name, parameter in self.parameters.items()]

    @classmethod
    def from_json(cls, data: Sequence[Any] | Mapping[str, Any]) -> SearchSpace:
        """Read what `to_json` or a file such as TOML says: {"x": {"float": [0, 1]}}."""
        pairs = data.items() if isinstance(data, Mapping) else data
        return cls({name: _read(name, declared) for name, declared in pairs})


def _read(name: str, declared: Any) -> Parameter:
    if not isinstance(declared, Mapping) or len(declared) != 1:
        raise InvalidInput(
            f"the parameter {name!r} must have one kind and its values, such as "
            f"{{float = [0, 1]}}; found {short(declared)}"
        )
    (kind, values), *_ = declared.items()
    if kind not in KINDS:
        raise unknown_name(f"kind of the parameter {name!r}", kind, KINDS)
    cls: Any = KINDS[kind]
    if cls is Choice:
        return Choice(values)
    if not isinstance(values, Sequence) or isinstance(values, str) or len(values) != 2:
        raise InvalidInput(
            f"the parameter {name!r} must have a range [low, high], found {short(values)}"
        )
    return cls(*values)  # type: ignore[no-any-return]  # cls is a class of KINDS


def _share(u: Vector) -> float:
    share = float(np.asarray(u).reshape(()) if np.ndim(u) == 0 else u[0])
    if math.isnan(share):
        raise InvalidInput("a coordinate must be a number, found nan")
    return min(max(share, 0.0), 1.0)


def _check_range(owner: Any, fits: Any, what: str, convert: Any) -> None:
    """Check that low and high are numbers of a kind, low below high, and store plain ones."""
    name, low, high = type(owner).__name__, owner.low, owner.high
    if not (fits(low) and fits(high) and math.isfinite(low) and math.isfinite(high)):
        raise InvalidInput(f"{name} must have {what}, found {name}({short(low)}, {short(high)})")
    if not low < high:
        raise InvalidInput(
            f"the range of {name} is empty: low must be below high, "
            f"found {name}({short(low)}, {short(high)})"
        )
    object.__setattr__(owner, "low", convert(low))
    object.__setattr__(owner, "high", convert(high))


def _check_member(owner: Any, value: Any, fits: Any) -> Any:
    """Return a value as a plain number; raise unless it is in the owner's range."""
    if not fits(value) or not owner.low <= value <= owner.high:
        raise InvalidInput(
            f"the value must be from {owner.low:g} to {owner.high:g}, found {short(value)}"
        )
    return plain(value)
