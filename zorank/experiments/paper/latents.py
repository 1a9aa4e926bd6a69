"""Shared by the figures of pictures: the model, its prompts, and how pictures are stored.

Nothing was tuned on these prompts and seeds.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zorank import renderers
from zorank.dream import model, vocabulary
from zorank.experiments.picture_qualities import Picture
from zorank.renderers.interface import ResolvedRenderer, resolve
from zorank.renderers.pictures import jpeg, opened, resized
from zorank.types import Vector

STORED_SIZE = 160
"""Width and height, in pixels, of the pictures that are stored for a figure."""

PROMPTS = (
    "snowy night, large moon, lake",
    "sunset, high mountains, lake",
    "clear day, forest, blue sky",
    "night, stars, aurora",
    "desert, low hills, sun",
    "autumn, trees, fog",
    "pink sky, flowers",
    "cloudy day, snow, high mountains",
    "purple sky, moon, muted",
    "vivid sunset, small sun, orange sky",
)


def version() -> str:
    """Return the version of these sweeps: other weights of dream or its judge give other rows."""
    return f"1-{model.fingerprint()}"


@lru_cache(maxsize=2)
def renderer_of(pipeline: str | None, prompt: str) -> ResolvedRenderer:
    """Return dream with this prompt, or a diffusers pipeline."""
    if pipeline is None:
        return resolve(renderers.REGISTRY["dream"](prompt=prompt))
    return resolve(renderers.REGISTRY["diffusers"](model=pipeline, prompt=prompt))


def picture_function(renderer: ResolvedRenderer) -> Callable[[Vector], Picture]:
    """Return the function from a candidate to its picture, with values from 0 to 1.

    Pictures are small if the renderer offers small ones.
    """
    if renderer.small_picture is not None:
        return renderer.small_picture

    def picture(candidate: Vector) -> Picture:
        (exhibit,) = renderer.render([candidate])
        return (opened(exhibit.data) / 255).astype(np.float32)

    return picture


def fit_by_clip(pictures: NDArray[np.float32], prompt: str, clip: str | None) -> Vector:
    """Return how well pictures fit a prompt, from −1 to 1, according to a CLIP model."""
    from PIL import Image

    from zorank.oracles import CLIP

    judge = CLIP(prompt) if clip is None else CLIP(prompt, model=clip)
    return judge.score([Image.fromarray(np.rint(255 * p).astype(np.uint8)) for p in pictures])


def fit_by_dream(pictures: NDArray[np.float32], prompt: str) -> Vector:
    """Return how well pictures fit a prompt, from −1 to 1, according to the embedded judge."""
    small = [resized(np.rint(255 * p).astype(np.uint8), 64) for p in pictures]
    scaled: NDArray[np.float32] = (np.stack(small) / 255).astype(np.float32)
    return model.fit(scaled, vocabulary.read(prompt))


def encoded_picture(renderer: ResolvedRenderer, candidate: Vector) -> str:
    """Return a small picture of a candidate as text, for a row of results."""
    (exhibit,) = renderer.render([candidate])
    return base64.b64encode(jpeg(resized(opened(exhibit.data), STORED_SIZE))).decode()


def decoded_picture(text: str) -> NDArray[np.uint8]:
    """Return the picture of `encoded_picture`."""
    return opened(base64.b64decode(text))


def draw_picture(axes: Any, text: str, title: str = "", below: str = "") -> None:
    """Draw an encoded picture, with text above and below it."""
    axes.imshow(decoded_picture(text))
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)
    if title:
        axes.set_title(title)
    if below:
        axes.set_xlabel(below, fontsize=7.5, loc="left")
