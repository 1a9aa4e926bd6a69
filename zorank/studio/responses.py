"""Pydantic models of the responses, as described at /openapi.json.

A new route declares its response here, near the models of its topic: runs, rounds, history.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from zorank.slates import Question

Role = Literal["owner", "rater"]


class Problem(BaseModel):
    """The body of every error."""

    detail: str = Field(description="one sentence for the person at the page")


ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem} for status in (401, 403, 404, 409, 413, 422, 503)
}


# Runs


class OptionField(BaseModel):
    """An option of a renderer or a judge, as a form field."""

    name: str
    type: Literal["number", "text", "choice"]
    default: Any
    choices: list[Any] | None = Field(default=None, description="absent unless it is a choice")
    help: str
    more: bool = Field(description="whether the form hides it under More")


class RendererInfo(BaseModel):
    """A renderer and its options."""

    name: str
    title: str
    description: str
    media_type: str
    options: list[OptionField]
    sample: str | None = Field(description="URL of an example, if one is quick to render")


class JudgeInfo(BaseModel):
    """A judge and its options."""

    name: str
    title: str
    options: list[OptionField]
    kept: dict[str, Any] = Field(description="options that the form has no field for")
    renderers: list[str] = Field(description="the renderers whose pictures it can score")
    default: bool = Field(description="whether it is the studio's default judge")


class RunRef(BaseModel):
    """The id of a run."""

    id: str


class RunCard(RunRef):
    """A run in the list of runs."""

    title: str
    renderer: str
    m: int = Field(description="candidates per round")
    rounds: int = Field(description="number of answered rounds")
    created_at: float
    best: str | None
    media_type: str
    problem: str | None = Field(default=None, description="why it cannot be opened; else absent")


class RunInfo(RunRef):
    """A run as its page shows it: settings, progress, status text and links."""

    title: str
    renderer: str
    m: int = Field(description="candidates per round")
    rounds: int = Field(description="number of answered rounds")
    created_at: float
    question: Question
    best: str | None
    media_type: str
    role: Role
    optimizer: dict[str, Any]
    raters_needed: int
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


class Invitation(BaseModel):
    """A link for raters."""

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


# Rounds


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


class WaitingRound(BaseModel):
    """The round that waits for an answer."""

    index: int
    key: str = Field(description="names this presentation; send it with the answer")
    question: Question
    exhibits: list[ExhibitRef]
    best: BestRef | None
    ahead: list[str] = Field(description="URLs of the probable next round, to load in advance")
    judge: JudgeOrder | None
    answered_by: list[str]
    waiting_for: int = Field(description="how many more answers close the round")
    you_answered: bool


class Ahead(BaseModel):
    """The exhibits of the next round, should the draft become the answer."""

    ahead: list[str]


class RoundRef(BaseModel):
    """The round that waits now."""

    index: int


class AnswerTaken(RoundRef):
    """An answer was stored."""

    closed: bool = Field(description="whether it closed its round")


class Candidates(BaseModel):
    """The vectors of a round, by screen position."""

    candidates: list[list[float]]


# History


class HistoryRow(BaseModel):
    """An answered round; null where the method reports nothing or the reader is a rater."""

    round: int
    question: Question
    moved: bool = Field(description="whether there is a new best")
    distance: float = Field(description="of the best from the start")
    radius: float | None
    noise: float | None = Field(description="of the rater, in sd of random pictures")
    visible: float | None = Field(description="the difference slates aim for, in the same sd")
    consistency: float | None = Field(description="share of pairs ordered correctly, 0.5 to 1")
    chance: float | None = Field(description="that the next proposal beats the best so far")
    gain: float | None = Field(description="expected of another round, in sd of random pictures")
    seconds: float
    agreement: float | None
    judge_agreement: float | None = Field(
        description="share of the pairs people ordered that the judge orders in the same way"
    )
    raters: list[str]
    best: str | None


class RaterInfo(BaseModel):
    """A rater of the run."""

    name: str
    answers: int
    agreement: float | None = Field(description="share of comparisons that others make alike")
    weight: float = Field(description="of a ballot; 1 where the optimizer learns it itself")


class JudgeAgreement(BaseModel):
    """How far people and the judge agreed in recent rounds."""

    name: str
    agreement: float | None
    rounds: int = Field(description="number of recent rounds that were compared")


class History(BaseModel):
    """The answered rounds, the raters, and the judge."""

    rows: list[HistoryRow]
    raters: list[RaterInfo]
    judge: JudgeAgreement | None = None


class Drift(BaseModel):
    """How a point's noise latents compare with a draw of N(0, I)."""

    round: int
    norm: float = Field(description="their length over that of a typical draw")
    mean: list[float] = Field(description="of each channel, as a z-score")
    variance: list[float] = Field(description="of each channel, as a z-score")
    largest: float = Field(description="the largest absolute z-score")
    unusual: bool = Field(description="whether that is significant")


class DriftReport(BaseModel):
    """How far a run has drifted from its start; no rounds if the renderer does not measure it."""

    rounds: list[Drift] = Field(description="a row for the start and each new best")
    change: float | None = Field(
        description="mean change of the best picture's colours from the start's, 0 to 1"
    )
    words: str
