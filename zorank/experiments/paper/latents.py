"""What the figures of pictures share: the model they are made with, and how they are kept.

Prompts and seeds here are not those that anything was tuned on.
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
from zorank.experiments.tastes import Picture
from zorank.renderers.interface import ResolvedRenderer, resolve
from zorank.renderers.pictures import jpeg, opened, resized
from zorank.types import Vector

VERSION = f"1-{model.fingerprint()}"
"""Other weights of dream, or of its judge, give other rows."""
KEPT_SIZE = 160
"""Pixels a side of pictures that are kept to be drawn in a figure."""

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


@lru_cache(maxsize=2)
def renderer_of(pipeline: str | None, prompt: str) -> ResolvedRenderer:
    """Dream with this prompt, or a diffusers pipeline."""
    if pipeline is None:
        return resolve(renderers.REGISTRY["dream"](prompt=prompt))
    return resolve(renderers.REGISTRY["diffusers"](model=pipeline, prompt=prompt))


def looks(renderer: ResolvedRenderer) -> Callable[[Vector], Picture]:
    """What is judged: pictures from 0 to 1, small if the renderer has small ones."""
    if renderer.small_picture is not None:
        return renderer.small_picture

    def picture(candidate: Vector) -> Picture:
        (exhibit,) = renderer.render([candidate])
        return (opened(exhibit.data) / 255).astype(np.float32)

    return picture


def fit_of(pictures: NDArray[np.float32], prompt: str) -> Vector:
    """How well pictures fit a prompt, as the embedded judge sees it: from −1 to 1."""
    small = [resized(np.rint(255 * p).astype(np.uint8), 64) for p in pictures]
    scaled: NDArray[np.float32] = (np.stack(small) / 255).astype(np.float32)
    return model.fit(scaled, vocabulary.read(prompt))


def kept(renderer: ResolvedRenderer, candidate: Vector) -> str:
    """A small picture of a candidate as text, for a row of results."""
    (exhibit,) = renderer.render([candidate])
    return base64.b64encode(jpeg(resized(opened(exhibit.data), KEPT_SIZE))).decode()


def shown(text: str) -> NDArray[np.uint8]:
    """The picture that was kept as this text."""
    return opened(base64.b64decode(text))


def frame(axes: Any, text: str, title: str = "", below: str = "") -> None:
    """Draw a kept picture, with a few words above and below it."""
    axes.imshow(shown(text))
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)
    if title:
        axes.set_title(title)
    if below:
        axes.set_xlabel(below, fontsize=7.5, loc="left")
