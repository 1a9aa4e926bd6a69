"""Routes about what a new run may use: renderers, methods, judges."""

from __future__ import annotations

from fastapi import APIRouter, Request

from zorank.renderers.picture_seeds import seed_in
from zorank.studio.dependencies import CurrentStudio, Owner
from zorank.studio.methods import METHODS
from zorank.studio.models import ERRORS
from zorank.studio.models.catalog import FoundStart, JudgeInfo, MethodInfo, RendererInfo
from zorank.studio.views import catalog as views

router = APIRouter(responses=ERRORS)

_HEAD = {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}}


@router.get("/renderers", response_model_exclude_unset=True)
def list_renderers(studio: CurrentStudio, _: Owner) -> list[RendererInfo]:
    """List the renderers and their options."""
    return [views.renderer_info(studio, kind) for kind in studio.renderers.values()]


@router.get("/methods")
def list_methods(studio: CurrentStudio, _: Owner) -> list[MethodInfo]:
    """List the methods that a new run may use."""
    return [views.method_info(method, studio.method) for method in METHODS.values()]


@router.post("/starts", openapi_extra={"requestBody": _HEAD})
async def read_start(request: Request, _: Owner) -> FoundStart:
    """Return the seed in a PNG of A1111 or ComfyUI; the body is the file, or its beginning."""
    return FoundStart(x0=str(seed_in(await request.body())))


@router.get("/judges", response_model_exclude_unset=True)
def list_judges(studio: CurrentStudio, _: Owner) -> list[JudgeInfo]:
    """List the models that can pre-sort pictures for people to correct, and their options."""
    return views.judge_infos(studio)
