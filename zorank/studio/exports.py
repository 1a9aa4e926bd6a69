"""Downloads: the animated journey, and one slate as an offline page."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from zorank.errors import InvalidInput, required_by
from zorank.renderers.interface import ResolvedRenderer
from zorank.types import Exhibit, Vector

if TYPE_CHECKING:
    from PIL.Image import Image

T = TypeVar("T")

FRAME_SIZE, FRAMES_BETWEEN, MOST_FRAMES = 320, 8, 160
HOLD, STEP = 900, 70
"""Milliseconds for a station, and for a frame between two stations."""


def journey(renderer: ResolvedRenderer, stations: Sequence[Vector]) -> bytes:
    """Return an animated WebP that interpolates the latents from station to station.

    A renderer that reports progress is slow: only its stations are rendered, and cross-faded.
    """
    with required_by("an animated journey", "pillow", "studio"):
        from PIL import Image
    if not renderer.media_type.startswith("image/"):
        raise InvalidInput("an animated journey needs a renderer of pictures")
    between = min(FRAMES_BETWEEN, max(1, MOST_FRAMES // max(len(stations) - 1, 1)))
    shares = np.linspace(0, 1, between + 2)[1:-1].tolist()
    fades = renderer.tells_progress
    frames = stations if fades else _with_between(stations, shares, _along)
    exhibits = renderer.resized(FRAME_SIZE).render(frames)
    if not exhibits[0].media_type.startswith("image/"):
        raise InvalidInput("an animated journey needs a renderer of pictures")
    pictures = [Image.open(io.BytesIO(exhibit.data)).convert("RGB") for exhibit in exhibits]
    if fades:
        pictures = _with_between(pictures, shares, Image.blend)
    durations = [HOLD if i % (between + 1) == 0 else STEP for i in range(len(pictures))]
    durations[-1] = 2 * HOLD
    return animation(pictures, durations)


def animation(
    pictures: Sequence[Image], durations: Sequence[int], quality: int = 80, effort: int = 2
) -> bytes:
    """Return pictures as a WebP that repeats; durations in milliseconds, effort from 0 to 6."""
    file = io.BytesIO()
    pictures[0].save(
        file,
        "WEBP",
        save_all=True,
        append_images=pictures[1:],
        duration=list(durations),
        loop=0,
        quality=quality,
        method=effort,
    )
    return file.getvalue()


def _with_between(
    stations: Sequence[T], shares: Sequence[float], mix: Callable[[T, T, float], T]
) -> list[T]:
    """Insert `mix(here, there, share)` at these shares between consecutive stations."""
    legs = ([here, *(mix(here, there, s) for s in shares)] for here, there in pairwise(stations))
    return [frame for leg in legs for frame in leg] + [stations[-1]]


def offline_page(
    title: str, index: int, key: str | None, question: str, exhibits: Sequence[Exhibit]
) -> str:
    """Return a self-contained page for ranking one slate; it shows the answer as JSON.

    The answer contains the key of the round, so that it is refused if the round shows other
    candidates by then.
    """
    template = (Path(__file__).parent / "offline.html").read_text()
    cards = "".join(
        f'<button class="card" data-position="{position}">{_embedded(exhibit)}</button>'
        for position, exhibit in enumerate(exhibits)
    )
    heading = "Which is best?" if question == "best" else "Rank the ones you like, best first"
    fields = {
        "TITLE": escape(title),
        "HEADING": heading,
        "CARDS": cards,
        "ROUND": json.dumps(index),
        "KEY": json.dumps(key),
        "ONLY_ONE": json.dumps(question == "best"),
    }
    for name, value in fields.items():
        template = template.replace(f"<!--{name}-->", value)
    return template


def data_url(exhibit: Exhibit) -> str:
    """Return an exhibit as a data URL."""
    return f"data:{exhibit.media_type};base64,{base64.b64encode(exhibit.data).decode()}"


def _embedded(exhibit: Exhibit) -> str:
    source = data_url(exhibit)
    kind = exhibit.media_type.partition("/")[0]
    if kind == "image":
        return f'<img alt="" src="{source}">'
    if kind == "video":
        return f'<video src="{source}" muted loop autoplay></video>'
    if kind == "audio":
        return f'<audio src="{source}" controls></audio>'
    return f'<iframe sandbox src="{source}"></iframe>'


def _along(a: Vector, b: Vector, share: float) -> Vector:
    """Interpolate direction and length linearly: two points of a sphere give one of the sphere."""
    mixed = (1 - share) * a + share * b
    length = (1 - share) * np.linalg.norm(a) + share * np.linalg.norm(b)
    norm = np.linalg.norm(mixed)
    return np.asarray(mixed * (length / norm) if norm > 0 else mixed)
