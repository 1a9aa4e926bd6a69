"""Responses about what a new run may choose from: renderers, judges, methods."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field


class OptionField(BaseModel):
    """An option of a renderer or a judge, as a form field."""

    name: str
    type: Literal["number", "text", "choice", "photo"]
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


class FoundStart(BaseModel):
    """The start that a file of another program tells."""

    x0: str = Field(description="what a new run's x0 is set to, such as seed:1234:cuda:512x512")


class MethodInfo(BaseModel):
    """A method that a new run may use, and its settings."""

    name: str
    title: str
    help: str
    settings: list[SettingField]
    default: bool = Field(description="whether runs that name no method use it")


class SettingField(BaseModel):
    """A setting of a method, as a number field of the form."""

    name: str
    label: str
    default: float
    help: str
