"""Routes about photos that the owner chooses for new runs; see `zorank.renderers.style.kept`."""

from __future__ import annotations

import threading
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from fastapi.concurrency import run_in_threadpool

from zorank.errors import InvalidInput
from zorank.renderers.style.kept import KEPT
from zorank.studio.dependencies import CurrentStudio, Owner
from zorank.studio.models import ERRORS
from zorank.studio.models.photos import KeptPhoto
from zorank.studio.sessions import NotFound

router = APIRouter(responses=ERRORS)

_BODY = {"content": {"image/*": {"schema": {"type": "string", "format": "binary"}}}}
_PHOTO: dict[int | str, dict[str, Any]] = {200: {"content": {"image/jpeg": {}}}}
_DECODING = threading.Lock()
"""Large photos take much memory while they are decoded, so that is done one at a time."""


@router.post("/photos", status_code=201, openapi_extra={"requestBody": _BODY})
async def add_photo(request: Request, studio: CurrentStudio, _: Owner) -> KeptPhoto:
    """Keep a photo (the body is a JPEG, PNG or WebP file) for runs of the renderer style.

    It is made smaller and encoded again without metadata, stays on the studio's machine, and is
    removed with the last run that uses it, or after a day without one.
    """
    content = await request.body()

    def keep() -> str:
        with _DECODING:
            return studio.photos.add(content)

    option = await run_in_threadpool(keep)
    return KeptPhoto(option=option, url=studio.urls.photo(option.removeprefix(KEPT)))


@router.get("/photos/{digest}", response_class=Response, responses=_PHOTO)
def show_photo(
    digest: Annotated[str, Path(pattern="^[0-9a-f]{32}$")], studio: CurrentStudio, _: Owner
) -> Response:
    """Return a kept photo."""
    try:
        content = studio.photos.read(KEPT + digest)
    except InvalidInput as error:
        raise NotFound("this photo is no longer kept; choose it again") from error
    return Response(content, media_type="image/jpeg")
