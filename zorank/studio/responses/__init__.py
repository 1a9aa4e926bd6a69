"""Pydantic models of the responses, as described at /openapi.json.

A new route declares its response in the module of its topic: catalog, runs, rounds or history.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class Problem(BaseModel):
    """The body of every error."""

    detail: str = Field(description="one sentence for the person at the page")


ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem} for status in (401, 403, 404, 409, 413, 422, 429, 503)
}
