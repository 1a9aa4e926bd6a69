"""Responses about runs."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from zorank.slates import Question
from zorank.studio.access import Role


class RunRef(BaseModel):
    """The id of a run."""

    id: str


class RunSummary(RunRef):
    """What the list of runs and the page of a run both show."""

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


class Invitation(BaseModel):
    """A link to a run."""

    url: str


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
