"""Pydantic models of the request bodies."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StrictFloat, StrictInt, StringConstraints

from zorank.errors import InvalidInput
from zorank.studio.methods import MethodSpec
from zorank.studio.new_run import RunSettings
from zorank.types import Ranking

Name = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=60, pattern=r"^[^\x00-\x1f]*$"
    ),
]
Groups = Annotated[list[list[int] | int], Field(max_length=64)]


class ChosenJudge(BaseModel):
    """A judge's name and options."""

    name: Name
    options: dict[str, str | int | float | bool] = Field(default_factory=dict, max_length=32)


class NewRun(BaseModel):
    """The settings of a new run."""

    renderer: Name
    m: int = Field(default=6, ge=3, le=24)
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    options: dict[str, str | int | float | bool] = Field(default_factory=dict, max_length=32)
    title: str = Field(default="", max_length=120, pattern=r"^[^\x00-\x1f]*$")
    raters: int = Field(default=1, ge=1, le=1000)
    method: Name | None = Field(
        default=None,
        description="the optimizer: rank-looks also learns from the pictures' looks, and is the "
        "default if the renderer computes them quickly; rank-process uses coordinates only; "
        "zo-ranksgd-memory is Algorithm 3 of the paper",
    )
    method_settings: dict[str, StrictInt | StrictFloat] = Field(
        default_factory=dict,
        max_length=8,
        description="settings of the method, which must be given: mu, step, gamma of "
        "zo-ranksgd-memory",
    )
    judge: ChosenJudge | None = Field(
        default=None,
        description="the model that pre-sorts the pictures; null for none; if absent, the "
        "studio's default judge, if it has one",
    )

    def settings(self) -> RunSettings:
        """Return the settings; an absent judge is not the same as null."""
        fields: dict[str, Any] = self.model_dump(exclude={"judge", "method", "method_settings"})
        if self.method is None and self.method_settings:
            raise InvalidInput("method_settings needs a method; name one, or leave both out")
        method = MethodSpec(self.method, self.method_settings) if self.method else None
        judge = None if self.judge is None else self.judge.model_dump()
        given = "judge" in self.model_fields_set
        return RunSettings(**fields, method=method, judge_meta={"judge": judge} if given else {})


class Changes(BaseModel):
    """The settings of a run that can change; those left out stay as they are."""

    title: Name | None = None
    raters: int | None = Field(default=None, ge=1, le=1000)
    deadline: float | None = Field(
        default=None,
        ge=1,
        le=30 * 24 * 3600,
        allow_inf_nan=False,
        description="seconds from a round's first showing until it closes with the answers it "
        "has, at least one; null for no deadline",
    )


class NewInvitation(BaseModel):
    """A person to invite; a viewer sees the run, and cannot answer."""

    name: str = Field(max_length=200)
    role: Literal["rater", "viewer"] = "rater"


class ForgetRater(BaseModel):
    """The person to forget; by default, a pseudonym replaces their name."""

    name: str = Field(max_length=200)
    remove: bool = Field(default=False, description="whether to remove their answers, too")


class GivenOrder(BaseModel):
    """Screen positions, best first; an inner list is a tie; empty is "no difference"."""

    order: Groups = Field(default_factory=list)
    worst: Groups = Field(default_factory=list)

    def ranking(self) -> Ranking:
        """Return the order as a ranking of screen positions."""
        return Ranking.of(self.order, self.worst)


class GivenAnswer(GivenOrder):
    """An order, the rater's name, and the key of the round as it was shown."""

    rater: Name | None = None
    key: Annotated[str, StringConstraints(max_length=64)] | None = None


class UndoRounds(BaseModel):
    """How many rounds to undo."""

    rounds: int = Field(default=1, ge=1, le=10**6)


class NewBranch(BaseModel):
    """How many rounds a branch keeps; all if null."""

    round: int | None = Field(default=None, ge=0, le=10**6)
    title: str = Field(default="", max_length=120, pattern=r"^[^\x00-\x1f]*$")
