"""The vocabulary of `dream` and the parser of prompts.

A prompt lists words of the vocabulary, or synonyms, in any order: "snowy night, large moon, lake".
"no" or "without" negates the next word. Stop words are skipped. An unknown word raises an error.
"""

from __future__ import annotations

import re

import numpy as np

from zorank.errors import InvalidInput
from zorank.types import Vector

WORDS = (
    "night",
    "day",
    "sunset",
    "sun",
    "moon",
    "large disc",
    "small disc",
    "cloudy",
    "clear",
    "stars",
    "aurora",
    "fog",
    "snow",
    "forest",
    "desert",
    "autumn",
    "flowers",
    "trees",
    "lake",
    "high mountains",
    "low hills",
    "bright",
    "vivid",
    "muted",
    "pink sky",
    "orange sky",
    "teal sky",
    "blue sky",
    "purple sky",
)
"""In the order of the network's inputs."""

_SYNONYMS = {
    "night": "nighttime nightly midnight dark",
    "day": "daytime daylight noon",
    "sunset": "dusk dawn sunrise evening golden",
    "sun": "sunny",
    "moon": "moonlit moonlight",
    "cloudy": "cloud clouds overcast",
    "clear": "cloudless",
    "stars": "star starry",
    "aurora": "northern-lights",
    "fog": "foggy mist misty haze hazy",
    "snow": "snowy winter wintry ice icy",
    "forest": "green woods wooded meadow",
    "desert": "dunes barren dry",
    "autumn": "autumnal fall",
    "flowers": "flower flowery bloom blooming",
    "trees": "tree firs pines",
    "lake": "water lakeside reflection pond",
    "high mountains": "mountain mountains peak peaks alpine high-mountain",
    "low hills": "hill hills plain low-hill",
    "bright": "light",
    "vivid": "colourful colorful saturated",
    "muted": "pale soft pastel subdued",
    "pink sky": "pink rose",
    "orange sky": "orange",
    "teal sky": "teal turquoise",
    "blue sky": "blue",
    "purple sky": "purple violet",
}
_DISC = {"large": "large disc", "big": "large disc", "huge": "large disc", "small": "small disc"}
_STOP_WORDS = frozenset(
    (
        "a",
        "an",
        "the",
        "and",
        "with",
        "in",
        "on",
        "over",
        "under",
        "of",
        "at",
        "by",
        "to",
        "above",
        "below",
        "behind",
        "very",
        "some",
        "few",
        "many",
        "sky",
        "landscape",
        "scene",
        "picture",
        "painting",
        "view",
        "land",
    )
)
_NEGATIONS = frozenset(("no", "without", "not"))


def read(prompt: str) -> Vector:
    """Return a vector with 1 for each word of the prompt, −1 for a negated one, 0 otherwise."""
    said: Vector = np.zeros(len(WORDS))
    sign = 1.0
    for token in _tokens(prompt):
        if token in _NEGATIONS:
            sign = -1.0
            continue
        if token in _STOP_WORDS:
            continue
        if token not in _MEANING:
            raise InvalidInput(_unknown(token, prompt))
        said[_MEANING[token]] = sign
        sign = 1.0
    return said


def _tokens(prompt: str) -> list[str]:
    """Split a prompt into words; phrases such as "high mountains" become one word."""
    text = prompt.lower().replace("northern lights", "northern-lights")
    text = re.sub(r"\b(high|tall|steep) (mountains?|peaks?)\b", "mountains", text)
    text = re.sub(r"\b(low|gentle|rolling) hills?\b", "hills", text)
    text = re.sub(r"\b(large|big|huge|small) disc\b", r"\1", text)
    return re.findall(r"[^\W\d_][\w'-]*", text)


def _meanings() -> dict[str, int]:
    meaning = {word: i for i, word in enumerate(WORDS) if " " not in word}
    for word, same in _SYNONYMS.items():
        meaning |= dict.fromkeys(same.split(), WORDS.index(word))
    meaning |= {word: WORDS.index(disc) for word, disc in _DISC.items()}
    return meaning


_MEANING = _meanings()


def _unknown(token: str, prompt: str) -> str:
    from difflib import get_close_matches  # only an error needs it: imports stay fast

    near = get_close_matches(token, _MEANING, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return (
        f"dream does not know the word {token!r} in the prompt {prompt!r:.80}.{hint} "
        f"It knows: {', '.join(WORDS)}"
    )
