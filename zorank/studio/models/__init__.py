"""Pydantic models of bodies and responses, as described at /openapi.json, one module a topic."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints

Name = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=60, pattern=r"^[^\x00-\x1f]*$"
    ),
]
"""A text in one line."""


class Problem(BaseModel):
    """The body of every error."""

    detail: str = Field(description="one sentence for the person at the page")


# A model makes FastAPI build a validator for each status and route, so the others refer to it.
_PROBLEM = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
ERRORS: dict[int | str, dict[str, Any]] = {
    401: {"model": Problem},
    **{status: {"content": _PROBLEM} for status in (403, 404, 409, 413, 422, 429, 503)},
}
