"""Judges of pictures by name, and how one of a user's own becomes one. Add yours by a line here.

A judge is made from options, such as a prompt or a model's folder, and has `score(pictures)`.
Making one is quick and loads nothing heavy: a model is loaded when it first looks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from zorank.errors import InvalidInput, ZorankError, unknown_name
from zorank.oracles.clip import CLIP
from zorank.oracles.dream import DreamJudge
from zorank.oracles.pictures import Score
from zorank.protocols import Scorer

JudgeMaker: TypeAlias = Callable[..., Scorer]

JUDGES: dict[str, JudgeMaker] = {
    "clip": CLIP,
    "dream": DreamJudge,
}
"""Every judge of pictures by its name."""


@dataclass(frozen=True)
class OwnJudge:
    """A function of pictures as a judge."""

    score: Score


def make_judge(
    name: str,
    options: Mapping[str, Any] | None = None,
    makers: Mapping[str, JudgeMaker] = JUDGES,
) -> Scorer:
    """The judge of this name, made from these options."""
    if name not in makers:
        raise unknown_name("judge", name, makers)
    given = dict(options or {})
    try:
        return makers[name](**given)
    except ZorankError:
        raise
    except Exception as error:  # one of a user's own may raise anything
        said = f"{type(error).__name__}: {error}"
        raise InvalidInput(f"the judge {name} cannot be made from {given} ({said})") from error


def judge_maker(found: Any, name: str = "this object") -> JudgeMaker:
    """What makes a judge of a user's own object.

    A class is called with the options; an object with `score` is the judge itself; a function of
    pictures gets the options as further arguments.
    """
    if isinstance(found, type) and callable(getattr(found, "score", None)):
        return found
    if callable(getattr(found, "score", None)) and not isinstance(found, type):
        return lambda: found
    if callable(found) and not isinstance(found, type):
        return lambda **options: OwnJudge(partial(found, **options) if options else found)
    raise InvalidInput(
        f"{name} is no judge: it needs to be a function of pictures that returns a number for "
        f"each, or to have a method score(pictures) that does, found {found!r:.60}"
    )
