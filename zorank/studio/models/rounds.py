"""Bodies and responses about the waiting round and its answers."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints, model_validator

from zorank.slates import Question
from zorank.studio.models import Name
from zorank.types import Ranking

Groups = Annotated[list[list[int] | int], Field(max_length=64)]


class GivenOrder(BaseModel):
    """Screen positions, best first; an inner list is a tie; empty is "no difference"."""

    order: Groups = Field(default_factory=list)
    worst: Groups = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _has_an_order(cls, data: Any) -> Any:
        """Refuse a misspelt field, which would be taken as "no difference"."""
        unknown = set(data) - set(cls.model_fields) if isinstance(data, dict) else set()
        if unknown and "order" not in data:
            name = sorted(map(str, unknown))[0][:40]
            raise ValueError(f"there is no field {name!r}; give the answer in the field order")
        return data

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


class ExhibitRef(BaseModel):
    """An exhibit at its screen position."""

    position: int
    url: str
    media_type: str
    current: bool = Field(description="whether it shows the best so far, in a `best` question")


class BestRef(BaseModel):
    """The best exhibit so far."""

    url: str
    media_type: str
    since: int = Field(description="the round that chose it")
    start: bool = Field(description="whether that was the pick of a start")


class JudgeOrder(BaseModel):
    """The judge's order of the waiting round."""

    name: str
    order: list[list[int]] | None = Field(
        description="screen positions, best first; null until it has scored the round"
    )
    problem: str = Field(description="why it cannot score, for the owner; else empty")


class RoundRef(BaseModel):
    """The round that waits now."""

    index: int


class ShownRound(RoundRef):
    """The round that waits for an answer, as everybody sees it."""

    key: str = Field(description="names this presentation; send it with the answer")
    question: Question
    exhibits: list[ExhibitRef]
    best: BestRef | None
    ahead: list[str] = Field(description="URLs of the probable next round, to load in advance")
    closes_at: float | None = Field(
        description="when it closes with the answers it has, in seconds since 1970, or else with "
        "the first answer after that; null without a deadline"
    )


class WaitingRound(ShownRound):
    """The round that waits for an answer, as one rater sees it."""

    judge: JudgeOrder | None
    answered_by: list[str]
    waiting_for: int = Field(description="how many more answers close the round")
    you_answered: bool


class Ahead(BaseModel):
    """The exhibits of the next round, if the draft becomes the answer."""

    ahead: list[str]


class Undone(RoundRef):
    """Rounds were undone."""

    round: WaitingRound = Field(description="the round that waits again")


class AnswerTaken(RoundRef):
    """An answer was stored."""

    closed: bool = Field(description="whether it closed its round")
    round: WaitingRound | None = Field(
        description="the round that waits now; null if it must be requested again"
    )


class Candidates(BaseModel):
    """The vectors of a round, by screen position."""

    candidates: list[list[float]]
