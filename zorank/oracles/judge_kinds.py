"""Judges that can be chosen by name: `JudgeKind` reads what a scorer declares."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any, TypeAlias

from zorank.errors import InvalidInput, ZorankError, short
from zorank.oracles.pictures import Score
from zorank.protocols import Judge, Scorer

JudgeMaker: TypeAlias = Callable[..., Scorer]


@dataclass(frozen=True)
class JudgeKind:
    """A judge that can be chosen by name, with a value for everything that it may declare.

    Attributes:
        name: the name it is chosen by.
        maker: called with options, it makes the judge.
        requires, renderers: see `zorank.protocols.Judge`.
    """

    name: str
    maker: JudgeMaker
    requires: tuple[str, ...] = Judge.requires
    renderers: tuple[str, ...] | None = Judge.renderers

    @classmethod
    def of(cls, name: str, found: Any) -> JudgeKind:
        """Describe a class, an object with `score`, or a function of pictures.

        This is the only place that reads a judge's declarations.
        """
        return cls(
            name,
            judge_maker(found, name),
            requires=_names(name, found, "requires") or (),
            renderers=_names(name, found, "renderers"),
        )

    @property
    def reads_prompts(self) -> bool:
        """Whether the judge has an option `prompt`."""
        return "prompt" in inspect.signature(self.maker).parameters

    @property
    def missing(self) -> tuple[str, ...]:
        """The required packages that are not installed."""
        return tuple(package for package in self.requires if find_spec(package) is None)

    @property
    def is_installed(self) -> bool:
        """Whether all required packages are installed."""
        return not self.missing

    def fits(self, renderer: str, media_type: str) -> bool:
        """Whether it can score the exhibits: raster pictures of a renderer that it supports."""
        kind, _, form = media_type.partition("/")
        is_picture = kind == "image" and not form.startswith("svg")
        return is_picture and (self.renderers is None or renderer in self.renderers)

    def make(self, options: Mapping[str, Any]) -> Scorer:
        """Make the judge from options."""
        try:
            return self.maker(**options)
        except ZorankError:
            raise
        except Exception as error:  # a user's own judge may raise anything
            said = f"{type(error).__name__}: {error}"
            raise InvalidInput(
                f"the judge {self.name} cannot be made from {dict(options)} ({said})"
            ) from error


def judge_maker(found: Any, name: str = "this object") -> JudgeMaker:
    """Return the callable that makes a judge from options.

    A class is called with the options. An object with `score` is the judge itself. A function of
    pictures gets the options as further arguments.
    """
    is_class, scores = isinstance(found, type), callable(getattr(found, "score", None))
    if is_class and scores:
        maker: JudgeMaker = found
        return maker
    if scores:
        return lambda: found
    if callable(found) and not is_class:
        return lambda **options: FunctionJudge(partial(found, **options) if options else found)
    raise InvalidInput(
        f"{name} is not a judge: expected a function of pictures that returns a number for each, "
        f"or an object or a class with such a method score(pictures), found {short(found)}"
    )


@dataclass(frozen=True)
class FunctionJudge:
    """A function of pictures as a judge."""

    score: Score


def _names(name: str, found: Any, member: str) -> tuple[str, ...] | None:
    """Read a declared tuple of names, or its default."""
    declared = getattr(found, member, getattr(Judge, member))
    if declared is None:
        return None
    if not isinstance(declared, tuple) or not all(isinstance(each, str) for each in declared):
        raise InvalidInput(
            f"the judge {name} declares {member} = {short(declared)}; expected a tuple of texts, "
            'such as ("torch",) for requires or ("landscape",) for renderers'
        )
    return declared
