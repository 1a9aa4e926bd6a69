"""Responses about photos that are chosen for new runs."""

from __future__ import annotations

from pydantic import BaseModel, Field


class KeptPhoto(BaseModel):
    """A photo that was kept."""

    option: str = Field(description="what a new run's option photo is set to")
    url: str
