"""Requests exhibits of a run's candidates, and example pictures of renderers."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

from zorank import rng
from zorank.errors import TooManyRequests
from zorank.studio.sessions import NotFound, Session
from zorank.studio.studio import Studio
from zorank.types import Exhibit, Vector


def of(
    studio: Studio, session: Session, candidate: Vector, size: int | None = None
) -> Future[Exhibit]:
    """Render a candidate of this run, in another size if the renderer has sizes."""
    renderer = session.renderer.resized(size)
    return studio.render_pool.request(session.run.name, renderer, candidate)


def of_all(
    studio: Studio, session: Session, candidates: Sequence[Vector]
) -> list[Future[Exhibit]]:
    """Render several candidates, or none of them if one is refused."""
    futures: list[Future[Exhibit]] = []
    try:
        for candidate in candidates:
            futures.append(of(studio, session, candidate))
    except TooManyRequests:
        for future in futures:
            future.cancel()
        raise
    return futures


def sample(studio: Studio, name: str) -> Future[Exhibit]:
    """Render one fixed random point, as an example of what a renderer makes."""
    if name not in studio.renderers:
        raise NotFound(f"there is no renderer named {name!r}")
    renderer = studio.renderers[name].make()
    point = rng.for_content(0, b"sample").standard_normal(renderer.dim)
    return studio.render_pool.request(f"sample of {name}", renderer, point)
