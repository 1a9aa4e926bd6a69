"""The tastes of the study of looks, in pictures or in a box, by name and seed.

Pictures are expensive and many tastes see the same candidates, so each process caches rendered
pictures by the candidate's bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from zorank import rng
from zorank.errors import unknown_name
from zorank.experiments.looks import faces
from zorank.experiments.looks.boxes import box_taste
from zorank.experiments.looks.held_out_tastes import HELD_OUT_KINDS
from zorank.experiments.looks.painting_styles import PAINTERS, style_taste
from zorank.experiments.looks.picture_tastes import (
    NUMBER_KINDS,
    SKETCHED_KINDS,
    Kind,
    Reference,
    Utility,
)
from zorank.experiments.picture_qualities import Picture, taste_in_pictures
from zorank.experiments.simulated_raters import Taste
from zorank.looks import PLANS, LookPlan, for_renderer
from zorank.protocols import Looks
from zorank.renderers import Landscape
from zorank.renderers.style import ANY, MAIN, MIX
from zorank.slates import Shell
from zorank.types import Vector

LANDSCAPE, DREAM, PEERS = "landscape", "dream", "peers"
STYLE, FACES = "style", "faces"
EYE = Landscape(size=64)
"""The renderer whose pictures the simulated rater sees."""
RANDOM_PICTURES = 400
"""The number of random landscapes that tastes are standardised over."""
CACHED_PICTURES = 4096
PLAN_OF = {LANDSCAPE: PLANS[0.05], DREAM: PLANS[0.25], FACES: PLANS[0.05]}
"""The number of looks, as the studio plans it on an ordinary machine."""
STYLE_PLANS = {ANY: PLANS[0.25], MAIN: PLANS[0.25], MIX: PLANS[0.05]}

KINDS: dict[str, Kind] = {**SKETCHED_KINDS, **HELD_OUT_KINDS, **NUMBER_KINDS}
"""The tastes in landscapes, by name."""


def taste_of(part: str, name: str, dim: int, seed: int) -> Taste:
    """Return a taste, standardised over random candidates."""
    if part == PEERS:
        return box_taste(name, dim, seed)
    if part == STYLE:
        return style_taste(name, seed)
    if part == FACES:
        return faces.taste(dim)
    return dream_taste(seed) if part == DREAM else landscape_taste(name, seed)


@lru_cache(maxsize=64)
def landscape_taste(name: str, seed: int) -> Taste:
    """Return a taste of `KINDS` in landscapes: mean 0, sd 1, smaller is better."""
    if name not in KINDS:
        raise unknown_name("taste", name, KINDS)
    utility = KINDS[name].make(seed, reference())
    values = -utility(reference().pictures, reference().candidates)
    return Taste(_PictureLoss(utility), float(values.mean()), float(values.std()))


@lru_cache(maxsize=1)
def reference() -> Reference:
    """Return random landscapes, the same for every taste and seed."""
    draws, shell = rng.for_content(0, b"random landscapes"), Shell()
    x = np.array([shell.place(draws.standard_normal(EYE.dim)) for _ in range(RANDOM_PICTURES)])
    pictures = np.stack([EYE.picture(row) for row in x])
    return Reference((pictures / np.float32(255)).astype(np.float32), x)


@dataclass(frozen=True, eq=False)
class _PictureLoss:
    """Minus the utility of the landscapes of one candidate, (d,), or of many, (n, d)."""

    utility: Utility

    def __call__(self, x: Vector) -> Any:
        rows = np.atleast_2d(x)
        pictures = np.stack([_landscape(row.tobytes()) for row in rows])
        values = -self.utility((pictures / np.float32(255)).astype(np.float32), rows)
        return values if x.ndim == 2 else float(values[0])


@lru_cache(maxsize=CACHED_PICTURES)
def _landscape(candidate: bytes) -> Any:
    return EYE.picture(np.frombuffer(candidate))


def dream_prompt(seed: int) -> str:
    """Return the prompt of a rater with this seed."""
    from zorank.experiments.paper.latents import PROMPTS

    return PROMPTS[seed % len(PROMPTS)]


def dream_taste(seed: int) -> Taste:
    """Return a taste of four of eight qualities in pictures of the seed's prompt."""
    from zorank.experiments.paper.latents import renderer_of

    prompt = dream_prompt(seed)
    return taste_in_pictures(_dreams(prompt), renderer_of(None, prompt).dim, seed)


@lru_cache(maxsize=2)
def _dreams(prompt: str) -> Callable[[Vector], Picture]:
    from zorank.experiments.paper.latents import picture_function, renderer_of

    small = picture_function(renderer_of(None, prompt))

    @lru_cache(maxsize=CACHED_PICTURES // 2)
    def cached(candidate: bytes) -> Picture:
        return small(np.frombuffer(candidate))

    return lambda x: cached(np.ascontiguousarray(x, dtype=np.float64).tobytes())


def plan_of(part: str, name: str) -> LookPlan | None:
    """Return how many looks a run has; None in a box."""
    return STYLE_PLANS[name] if part == STYLE else PLAN_OF.get(part)


@lru_cache(maxsize=2)
def looks_of(part: str, name: str, seed: int) -> Looks | None:
    """Return the looks of candidates in a run with this taste and seed; None in a box."""
    plan = plan_of(part, name)
    if plan is None:
        return None
    own: dict[str, Any] = {
        STYLE: lambda: PAINTERS[name],
        FACES: lambda: faces.Faces(faces.DIMS[name]),
    }
    renderer = own.get(part, Landscape)()
    if part == DREAM:
        from zorank.experiments.paper.latents import renderer_of

        renderer = renderer_of(None, dream_prompt(seed))
    return for_renderer(renderer, seed, plan)
