"""Routes about what a new run may use: renderers, methods, judges."""

from __future__ import annotations

from fastapi import APIRouter

from zorank.studio.dependencies import CurrentStudio, Owner
from zorank.studio.methods import METHODS
from zorank.studio.models import ERRORS
from zorank.studio.models.catalog import JudgeInfo, MethodInfo, RendererInfo
from zorank.studio.views import catalog as views

router = APIRouter(responses=ERRORS)


@router.get("/renderers", response_model_exclude_unset=True)
def list_renderers(studio: CurrentStudio, _: Owner) -> list[RendererInfo]:
    """List the renderers and their options."""
    return [views.renderer_info(studio, kind) for kind in studio.renderers.values()]


@router.get("/methods")
def list_methods(studio: CurrentStudio, _: Owner) -> list[MethodInfo]:
    """List the methods that a new run may use."""
    return [views.method_info(method, studio.method) for method in METHODS.values()]


@router.get("/judges", response_model_exclude_unset=True)
def list_judges(studio: CurrentStudio, _: Owner) -> list[JudgeInfo]:
    """List the models that can pre-sort pictures for people to correct, and their options."""
    return views.judge_infos(studio)
