"""Bodies and responses about the people of a run, and its links."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field


class NewInvitation(BaseModel):
    """A person to invite; a viewer sees the run, and cannot answer."""

    name: str = Field(max_length=200)
    role: Literal["rater", "viewer"] = "rater"


class ForgetRater(BaseModel):
    """The person to forget; by default, a pseudonym replaces their name."""

    name: str = Field(max_length=200)
    remove: bool = Field(default=False, description="whether to remove their answers, too")


class Invitation(BaseModel):
    """A link to a run."""

    url: str


class PersonInfo(BaseModel):
    """A person who is invited to a run, or has answered in it."""

    name: str
    role: Literal["owner", "rater", "viewer", "guest"] = Field(
        description="guest: came through the shared link, or by an imported answer"
    )
    id: str | None = Field(description="of the invitation; null without one")
    url: str | None = Field(description="the link; null without an invitation")
    created_at: float | None = Field(description="when the person was invited")
    answers: int
    last_answer_at: float | None
    has_answered: bool = Field(description="whether they have answered the waiting round")
    seconds: float | None = Field(
        description="median time from a round's first showing to the answer"
    )
    agreement: float | None = Field(
        description="share of comparisons that others make the same way"
    )


class RaterExport(BaseModel):
    """All data of one person in a run."""

    run: str
    rater: str
    invitations: list[dict[str, Any]]
    answers: list[dict[str, Any]]


class RaterForgotten(BaseModel):
    """A person was forgotten."""

    pseudonym: str | None = Field(description="the name of their answers; null if removed")
    answers: int = Field(description="how many answers were renamed or removed")
    emptied: list[int] = Field(description="rounds whose answer is “no difference” now")
