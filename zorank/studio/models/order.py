"""Responses about the order of a finite set."""

from __future__ import annotations

from pydantic import BaseModel, Field


class PlaceInfo(BaseModel):
    """A place of the order and the thing that has it."""

    rank: int = Field(description="1 is the best")
    item: int = Field(description="the index of the thing")
    name: str = Field(description="for the owner, its name; else empty")
    score: float = Field(description="posterior mean of its utility; higher is better")
    sd: float = Field(description="posterior standard deviation of its utility")
    ahead: float | None = Field(
        description="the probability that it is better than the next one; null for the last"
    )
    url: str
    media_type: str


class OrderInfo(BaseModel):
    """The order of a finite set, best first."""

    places: list[PlaceInfo]
    items: int = Field(description="the number of things; there may be more than places here")
    compared: int = Field(description="how many things were compared so far")
    rounds: int
    certainty: float = Field(description="the expected share of pairs in the right order")
    level: float = Field(description="the certainty at which the order counts as settled")
    settled: bool
