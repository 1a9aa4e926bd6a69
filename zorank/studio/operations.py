"""Routes for the operator of a server: its health and its metrics."""

from __future__ import annotations

import asyncio
import logging
from functools import partial

import anyio
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse

from zorank.errors import InvalidInput
from zorank.protocols import Store
from zorank.studio import metrics
from zorank.studio.dependencies import Owner
from zorank.studio.security import HEALTH

router = APIRouter(include_in_schema=False)
PATIENCE = 2.0
"""Seconds within which the store must answer."""
UNHEALTHY = "the store does not answer; the log of the studio says why"


class HealthCheck:
    """Whether the store can be read.

    There is one check at a time, in a thread of its own: requests for it share the result, and
    neither busy threads nor a store that hangs can use up threads.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._running: asyncio.Task[bool] | None = None

    async def passes(self) -> bool:
        """Read the store, and wait for it no longer than `PATIENCE`."""
        if self._running is None or self._running.done():
            limiter = anyio.CapacityLimiter(1)
            read = partial(anyio.to_thread.run_sync, self._can_read, limiter=limiter)
            self._running = asyncio.ensure_future(read())
        running = self._running
        done, _ = await asyncio.wait([running], timeout=PATIENCE)
        return bool(done) and running.result()

    def _can_read(self) -> bool:
        try:
            self._store.snapshot("healthz")
        except InvalidInput:  # there is no such run, as expected
            return True
        except Exception as error:
            logging.getLogger("zorank").warning("the store cannot be read: %s", error)
            return False
        return True


@router.get(HEALTH)
async def show_health(request: Request) -> Response:
    """Return 200 if the store answers, else 503; no token is needed."""
    health: HealthCheck = request.app.state.health
    if await health.passes():
        return JSONResponse({"status": "ok"})
    return JSONResponse({"status": "unavailable", "detail": UNHEALTHY}, 503)


@router.get("/metrics")
async def show_metrics(request: Request, _: Owner) -> Response:
    """Return the numbers about this studio for Prometheus."""
    numbers: metrics.Metrics = request.app.state.metrics
    return PlainTextResponse(numbers.text(), media_type=metrics.CONTENT_TYPE)
