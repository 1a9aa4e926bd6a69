"""Bodies and responses about runs."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field, StrictFloat, StrictInt

from zorank.errors import InvalidInput
from zorank.slates import Question
from zorank.studio.access import Role
from zorank.studio.methods import MethodSpec
from zorank.studio.models import Name
from zorank.studio.new_run import RunSettings


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

    x0: str | list[StrictFloat | StrictInt] | None = Field(
        default=None,
        description="where the run starts: a vector, or a text such as seed:1234 for the noise "
        "that other programs draw from a seed (seed:1234:cuda on an Nvidia GPU); null lets "
        "people pick; if absent, the studio's start, if it has one",
    )

    def settings(self) -> RunSettings:
        """Return the settings; an absent judge or start is not the same as null."""
        apart = {"judge", "method", "method_settings", "x0"}
        fields: dict[str, Any] = self.model_dump(exclude=apart)
        fields["start"] = (
            None if "x0" not in self.model_fields_set else "" if self.x0 is None else self.x0
        )
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


class NewBranch(BaseModel):
    """How many rounds a branch keeps; all if null."""

    round: int | None = Field(default=None, ge=0, le=10**6)
    title: str = Field(default="", max_length=120, pattern=r"^[^\x00-\x1f]*$")


class RunRef(BaseModel):
    """The id of a run."""

    id: str


class RunSummary(RunRef):
    """The fields that the list of runs and the page of a run share."""

    title: str
    renderer: str
    m: int = Field(description="candidates per round")
    rounds: int = Field(description="number of answered rounds")
    created_at: float
    best: str | None
    media_type: str


class RunCard(RunSummary):
    """A run in the list of runs."""

    problem: str | None = Field(default=None, description="why it cannot be opened; else absent")


class RunInfo(RunSummary):
    """A run as its page shows it: settings, progress, status text and links."""

    question: Question
    role: Role
    optimizer: dict[str, Any]
    you: str | None = Field(
        description="your name as a rater; null for a shared link, whose raters type theirs"
    )
    raters_needed: int
    deadline: float | None = Field(
        description="seconds from a round's first showing until it closes with what it has"
    )
    start: str | None
    words: list[str] = Field(
        description="the model's state in a few sentences; for the owner, from round 2 on"
    )
    judge: str | None = Field(description="the model that pre-sorts the pictures")
    could_stop: bool = Field(description="whether another round would gain too little to notice")
    keepsake: str | None = Field(
        description="name of the renderer's own file for the best, if it has one; for the owner"
    )
    note: str = Field(description="for the owner, if pictures may differ from earlier ones")
    items: int | None = Field(
        default=None, description="number of things, if the run orders a finite set of them"
    )


class RunExport(BaseModel):
    """A run with its log: everything that is needed to make it again."""

    name: str
    optimizer: str
    options: dict[str, Any]
    revision: int
    seed: int
    version: str
    created_at: float
    meta: dict[str, Any]
    x0: list[float]
    rounds: list[dict[str, Any]]
    best: list[float]
