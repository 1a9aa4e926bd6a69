"""Responses about answered rounds and raters."""

from __future__ import annotations

from pydantic import BaseModel, Field

from zorank.slates import Question


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
    agreement: float | None = Field(
        description="share of comparisons that others make the same way"
    )
    weight: float = Field(description="of a ballot; 1 where the optimizer learns it itself")


class JudgeAgreement(BaseModel):
    """The agreement of people and the judge in recent rounds."""

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
