"""What requests of the interface may hold, and what their handlers are given."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Depends, HTTPException, Path, Request
from pydantic import BaseModel, Field, StringConstraints

from zorank.errors import InvalidInput
from zorank.studio.access import Access
from zorank.studio.guard import member, owner
from zorank.studio.sessions import Studio
from zorank.types import Ranking

Name = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=60, pattern=r"^[^\x00-\x1f]*$"
    ),
]
RunId = Annotated[str, Path(pattern=r"^[\w-]{1,64}$")]
Index = Annotated[int, Path(ge=0, le=10**6)]
Owner = Annotated[Access, Depends(owner)]
Member = Annotated[Access, Depends(member)]
Groups = Annotated[list[list[int] | int], Field(max_length=64)]

# A rater must never be able to pass for the owner.
OWNER_NAME = "owner"


class ChosenJudge(BaseModel):
    """A judge of pictures, and what it is made from."""

    name: Name
    options: dict[str, str | int | float | bool] = Field(default_factory=dict, max_length=32)


class NewRun(BaseModel):
    """What to make."""

    renderer: Name
    m: int = Field(default=6, ge=3, le=24)
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    options: dict[str, str | int | float | bool] = Field(default_factory=dict, max_length=32)
    title: str = Field(default="", max_length=120, pattern=r"^[^\x00-\x1f]*$")
    raters: int = Field(default=1, ge=1, le=1000)
    method: Literal["rank-looks", "rank-process"] | None = Field(
        default=None,
        description="how pictures are chosen: rank-looks also learns from what they look like, "
        "and is the default where that is known quickly; rank-process knows their numbers only",
    )
    judge: ChosenJudge | None = Field(
        default=None,
        description="what orders the pictures for people to correct; null is nobody, "
        "and if nothing is said it is the studio's judge, if it has one",
    )

    def kept(self) -> dict[str, Any]:
        """What is kept with the run only if something was said of it."""
        chosen = None if self.judge is None else self.judge.model_dump()
        return {"judge": chosen} if "judge" in self.model_fields_set else {}


class Changes(BaseModel):
    """What can be changed in a run without changing its numbers."""

    title: Name | None = None
    raters: int | None = Field(default=None, ge=1, le=1000)


class GivenOrder(BaseModel):
    """Screen positions, best first; an inner list is a tie; empty is "no difference"."""

    order: Groups = Field(default_factory=list)
    worst: Groups = Field(default_factory=list)

    def ranking(self) -> Ranking:
        """The order as a ranking of screen positions."""
        return Ranking.of(self.order, self.worst)


class GivenAnswer(GivenOrder):
    """An order, who gives it, and the showing of the round that it answers."""

    rater: Name | None = None
    key: Annotated[str, StringConstraints(max_length=64)] | None = None


class UndoRounds(BaseModel):
    """How many rounds to take back."""

    rounds: int = Field(default=1, ge=1, le=10**6)


class NewBranch(BaseModel):
    """How many rounds a branch keeps; all if nothing is said."""

    round: int | None = Field(default=None, ge=0, le=10**6)
    title: str = Field(default="", max_length=120, pattern=r"^[^\x00-\x1f]*$")


def the_studio(request: Request) -> Studio:
    """The studio behind the application."""
    studio: Studio = request.app.state.studio
    return studio


TheStudio = Annotated[Studio, Depends(the_studio)]


def existing_run(run_id: RunId, studio: TheStudio, _: Member) -> str:
    """The id of a run that exists and that the request may see."""
    # Membership is checked first: who has no token must not learn which runs there are.
    try:
        if "renderer" in studio.meta(run_id):
            return run_id
    except InvalidInput:
        pass
    raise HTTPException(404, "there is no such run; it may have been deleted")


Run = Annotated[str, Depends(existing_run)]
