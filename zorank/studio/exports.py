"""What one takes home from the studio: an animated journey, and a slate on a page of its own."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np

from zorank.errors import InvalidInput, MissingExtra
from zorank.renderers.interface import ResolvedRenderer
from zorank.types import Exhibit, Vector

T = TypeVar("T")

FRAME_SIZE, FRAMES_BETWEEN, MOST_FRAMES = 320, 8, 160
HOLD, STEP = 900, 70
"""Milliseconds on a station, and on a frame between two."""


def journey(renderer: ResolvedRenderer, stations: Sequence[Vector]) -> bytes:
    """An animated WebP from station to station, morphing through the latents in between.

    A renderer that is slow enough to tell its progress paints the stations alone; they fade over.
    """
    try:
        from PIL import Image
    except ModuleNotFoundError as error:
        raise MissingExtra("an animated journey", "pillow", "studio") from error
    if not renderer.media_type.startswith("image/"):
        raise InvalidInput("only pictures have an animated journey")
    between = min(FRAMES_BETWEEN, max(1, MOST_FRAMES // max(len(stations) - 1, 1)))
    shares = np.linspace(0, 1, between + 2)[1:-1].tolist()
    fades = renderer.tells_progress
    frames = stations if fades else _with_between(stations, shares, _along)
    exhibits = renderer.resized(FRAME_SIZE).render(frames)
    if not exhibits[0].media_type.startswith("image/"):
        raise InvalidInput("only pictures have an animated journey")
    pictures = [Image.open(io.BytesIO(exhibit.data)).convert("RGB") for exhibit in exhibits]
    if fades:
        pictures = _with_between(pictures, shares, Image.blend)
    durations = [HOLD if i % (between + 1) == 0 else STEP for i in range(len(pictures))]
    durations[-1] = 2 * HOLD
    file = io.BytesIO()
    pictures[0].save(
        file,
        "WEBP",
        save_all=True,
        append_images=pictures[1:],
        duration=durations,
        loop=0,
        quality=80,
        method=2,
    )
    return file.getvalue()


def _with_between(
    stations: Sequence[T], shares: Sequence[float], mix: Callable[[T, T, float], T]
) -> list[T]:
    """Stations, and between each and the next what `mix` makes of both at these shares."""
    legs = ([here, *(mix(here, there, s) for s in shares)] for here, there in pairwise(stations))
    return [frame for leg in legs for frame in leg] + [stations[-1]]


def offline_page(title: str, index: int, question: str, exhibits: Sequence[Exhibit]) -> str:
    """A self-contained page on which one slate is ranked; it gives the answer as JSON."""
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
        "ONLY_ONE": json.dumps(question == "best"),
    }
    for name, value in fields.items():
        template = template.replace(f"<!--{name}-->", value)
    return template


def data_url(exhibit: Exhibit) -> str:
    """An exhibit as an address that carries it whole."""
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
    """A point between two, at a length between theirs: on the shell, if both are."""
    mixed = (1 - share) * a + share * b
    length = (1 - share) * np.linalg.norm(a) + share * np.linalg.norm(b)
    norm = np.linalg.norm(mixed)
    return np.asarray(mixed * (length / norm) if norm > 0 else mixed)
