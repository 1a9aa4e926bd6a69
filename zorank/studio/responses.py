"""What responses hold where it is worth a word: read it at /openapi.json."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class RunShown(BaseModel):
    """One run."""

    id: str
    title: str
    renderer: str
    m: int = Field(description="how many candidates a round shows")
    rounds: int = Field(description="how many rounds are answered")
    created_at: float
    question: str
    best: str | None
    media_type: str
    role: str
    optimizer: dict[str, Any]
    raters_needed: int
    start: str | None
    words: list[str] = Field(
        description="what the model knows, in a few sentences; for the owner, from round 2 on"
    )
    judge: str | None = Field(description="who orders the pictures for people to correct")
    could_stop: bool = Field(description="whether another round would hardly be noticed")
    keepsake: str | None = Field(
        description="the file that its owner can take the best away as, if any"
    )
    note: str = Field(description="for the owner, if pictures may differ from those they saw")


class HistoryRow(BaseModel):
    """An answered round; what a method does not know, or a rater may not see, is null."""

    round: int
    question: str
    moved: bool = Field(description="whether there is a new best")
    distance: float = Field(description="of the best from the start")
    radius: float | None
    noise: float | None = Field(description="of the eye, in sd of random pictures")
    visible: float | None = Field(description="the difference slates aim for, in the same sd")
    consistency: float | None = Field(description="the share of pairs ordered rightly, 0.5 to 1")
    chance: float | None = Field(description="that the next proposal beats the best so far")
    gain: float | None = Field(description="expected of another round, in sd of random pictures")
    seconds: float
    agreement: float | None
    judge_agreement: float | None = Field(
        description="the share of the pairs people ordered that the judge orders alike"
    )
    raters: list[str]
    best: str | None


class Drift(BaseModel):
    """How a point's noise latents compare with a draw of N(0, I)."""

    round: int
    norm: float = Field(description="their length over that of a typical draw")
    mean: list[float] = Field(description="of each channel, as a z-score")
    variance: list[float] = Field(description="of each channel, as a z-score")
    largest: float = Field(description="the largest of these z-scores in size")
    unusual: bool = Field(description="whether that is no accident")


class DriftShown(BaseModel):
    """How far a run has drifted from its start; without rounds for renderers that measure none."""

    rounds: list[Drift] = Field(description="a row for the start and each new best")
    change: float | None = Field(
        description="mean change of the best picture's colours from the start's, 0 to 1"
    )
    words: str


class RaterShown(BaseModel):
    """Somebody who answered."""

    name: str
    answers: int
    agreement: float | None = Field(description="the share of comparisons others make alike")
    weight: float = Field(description="what an answer counts; 1 where the method learns it itself")


class JudgeShown(BaseModel):
    """The judge who orders the pictures, and how far people agree with it of late."""

    name: str
    agreement: float | None
    rounds: int = Field(description="how many of the last rounds this speaks of")


class History(BaseModel):
    """What happened."""

    rows: list[HistoryRow]
    raters: list[RaterShown]
    judge: JudgeShown | None = None
