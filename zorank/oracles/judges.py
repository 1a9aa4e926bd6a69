"""The registry of judges of pictures.

A judge has one method, `score(pictures)`. It may also declare which packages it needs and which
renderers it fits; `zorank.protocols.Judge` lists these members and their defaults. To add a judge,
write its file and give it a line in `JUDGES`. A user's own judge needs no line: it is named as
`module:object`. Making a judge must be quick: it loads its model when it first scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zorank.errors import unknown_name
from zorank.oracles.clip import CLIP
from zorank.oracles.dream import DreamJudge
from zorank.oracles.judge_kinds import FunctionJudge, JudgeKind, JudgeMaker, judge_maker
from zorank.protocols import Scorer

JUDGES: dict[str, JudgeMaker] = {
    "clip": CLIP,
    "dream": DreamJudge,
}
"""The judges of zorank by name."""


def judge_kinds(judges: Mapping[str, Any] = JUDGES) -> dict[str, JudgeKind]:
    """Describe judges by name."""
    return {name: JudgeKind.of(name, found) for name, found in judges.items()}


def make_judge(
    name: str,
    options: Mapping[str, Any] | None = None,
    makers: Mapping[str, JudgeMaker] = JUDGES,
) -> Scorer:
    """Make the judge of this name from these options."""
    if name not in makers:
        raise unknown_name("judge", name, makers)
    return JudgeKind.of(name, makers[name]).make(dict(options or {}))


__all__ = [
    "JUDGES",
    "FunctionJudge",
    "JudgeKind",
    "JudgeMaker",
    "judge_kinds",
    "judge_maker",
    "make_judge",
]
