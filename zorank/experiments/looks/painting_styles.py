"""Tastes in painting styles: a hidden mixture of styles, and a perceptual distance to it.

The task is that of GimmBO (arXiv 2601.18585), with painting styles in place of LoRA adapters: a
rater has a mixture of three of 26 styles in mind, and prefers pictures that are perceptually near
to the photo painted in it. In "mix", candidates are mixtures of the same styles. In "any" and
"main", they are style vectors (100 numbers, and 20 directions in them), and the hidden one is a
weighted mean of three styles' vectors. The distance is a network's (`perceptual_distance`); the
renderer's `look` uses handmade descriptors and knows neither that network nor the distance.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zorank import rng
from zorank.errors import unknown_name
from zorank.experiments import perceptual_distance
from zorank.experiments.simulated_raters import Taste
from zorank.renderers import Style
from zorank.renderers.style import ANY, DIMS, MAIN, MIX, style_vector
from zorank.slates import Shell
from zorank.types import Vector

EYE_SIDE = 128
"""The longest side of the pictures that raters see, in pixels."""
PAINTED_SIDES = {ANY: None, MAIN: None, MIX: 256}
"""Mixtures are painted at half the renderer's size, in a quarter of the time: wider strokes."""
RANDOM_PICTURES = 200
"""The number of random paintings that tastes are standardised over."""
MIXED = 3
"""How many styles a hidden mixture has."""

PAINTERS = {name: Style(styles=name, size=EYE_SIDE) for name in DIMS}
MEANINGS = {
    ANY: "near a hidden mean of three style vectors, by a perceptual distance",
    MAIN: "the same among the 20 main directions",
    MIX: "near a hidden mixture of three styles, by a perceptual distance",
}


def hidden_shares(seed: int) -> Vector:
    """Return the shares of the 26 styles in the mixture that a rater has in mind."""
    draws = rng.for_content(seed, b"hidden mixture of styles")
    found: Vector = np.zeros(DIMS[MIX])
    found[draws.permutation(len(found))[:MIXED]] = draws.dirichlet(np.ones(MIXED))
    return found


def hidden_painting(name: str, seed: int) -> NDArray[np.uint8]:
    """Return the painting that a rater has in mind."""
    shares = hidden_shares(seed)
    if name == MIX:
        return _painted(MIX, shares)
    used = np.flatnonzero(shares)
    return _painted(ANY, shares[used] @ np.stack([_vector_of(int(n)) for n in used]))


@lru_cache(maxsize=8)
def style_taste(name: str, seed: int) -> Taste:
    """Return a taste: mean 0 and sd 1 over random paintings, smaller is better."""
    if name not in PAINTERS:
        raise unknown_name("taste", name, PAINTERS)
    hidden = perceptual_distance.features(hidden_painting(name, seed))
    values = np.array([perceptual_distance.distance(f, hidden) for f in _random_features(name)])
    return Taste(_Distance(name, hidden), float(values.mean()), float(values.std()))


@dataclass(frozen=True, eq=False)
class _Distance:
    """The distance of a candidate's painting, or of many, from the hidden one."""

    name: str
    hidden: NDArray[np.float32]
    known: dict[bytes, float] = field(default_factory=dict)

    def __call__(self, x: Vector) -> Any:
        if x.ndim == 2:
            return np.array([self(row) for row in x])
        candidate = np.ascontiguousarray(x, np.float64).tobytes()
        if candidate not in self.known:  # the best so far is judged again in every round
            found = _features(self.name, np.frombuffer(candidate))
            self.known[candidate] = perceptual_distance.distance(found, self.hidden)
        return self.known[candidate]


def _features(name: str, candidate: Vector) -> NDArray[np.float32]:
    """Return what the perceptual distance sees of a candidate's painting."""
    return perceptual_distance.features(_painted(name, PAINTERS[name].style(candidate)))


def _painted(name: str, style: Vector) -> NDArray[np.uint8]:
    return PAINTERS[name].painted(style, PAINTED_SIDES[name])


@lru_cache(maxsize=len(DIMS))
def _random_features(name: str) -> NDArray[np.float32]:
    """Return the features of random paintings, the same for every seed: 2 MB for each painting."""
    return np.stack([_features(name, x) for x in _random_candidates(name)])


def _random_candidates(name: str) -> NDArray[np.float64]:
    draws, shell = rng.for_content(0, b"random paintings"), Shell()
    rows = [shell.place(draws.standard_normal(DIMS[name])) for _ in range(RANDOM_PICTURES)]
    return np.array(rows)


@lru_cache(maxsize=DIMS[MIX])
def _vector_of(style: int) -> Vector:
    """Return the style vector of the sample photo painted in one of the 26 styles."""
    shares: Vector = np.zeros(DIMS[MIX])
    shares[style] = 1.0
    return style_vector(replace(PAINTERS[MIX], size=512).painted(shares))
