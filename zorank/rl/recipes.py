"""The best optimizer and settings known for each environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zorank.errors import InvalidInput, short

RECIPES: dict[str, tuple[str, dict[str, Any]]] = {
    "Swimmer": ("rank-ars", {"m": 8, "top": 3, "weigh": "winners", "step": 0.2, "mu": 0.2}),
    "Reacher": (
        "zo-ranksgd",
        {
            "m": 5,
            "step": 0.03,
            "mu": 0.1,
            "step_decay": 0.995,
            "mu_decay": 0.998,
            "line_search": 0,
        },
    ),
}
"""Optimizer and settings by environment, where the default is not the best."""

DEFAULT: tuple[str, dict[str, Any]] = ("rank-ars", {"m": 16, "top": 4, "step": 0.02, "mu": 0.03})
"""Optimizer and settings for all other environments."""

PAPER: tuple[str, dict[str, Any]] = (
    "zo-ranksgd",
    {
        "m": 5,
        "k": 5,
        "step": 0.1,
        "mu": 0.1,
        "step_decay": 0.99,
        "mu_decay": 0.99,
        "line_search": 0,
    },
)
"""The paper's setting: a (5, 5)-oracle, η = μ decayed, no line search."""

RANKED_STEPS = {"HalfCheetah": 250}
"""The number of steps that suffices to rank an episode, where it was measured."""


def recipe(env: str, m: int | None = None) -> tuple[str, dict[str, Any]]:
    """Return the best optimizer known for an environment, and its settings for slates of m."""
    method, settings = RECIPES.get(_family(env), DEFAULT)
    return method, settings_for(settings, m)


def default_ranked_steps(env: str) -> int | None:
    """Return how many steps suffice to rank an episode; None if all are needed."""
    return RANKED_STEPS.get(_family(env))


def settings_for(settings: Mapping[str, Any], m: int | None) -> dict[str, Any]:
    """Return the settings for slates of m: at most m are ranked, and m // 2 directions used."""
    if m is None:
        return dict(settings)
    if not isinstance(m, int) or isinstance(m, bool) or m < 1:
        raise InvalidInput(f"m must be a whole number of episodes, 1 or more, found {short(m)}")
    largest = {"k": m, "top": max(1, m // 2)}
    limited = {name: min(settings[name], largest[name]) for name in largest if name in settings}
    return {**settings, **limited, "m": m}


def _family(env: str) -> str:
    """Return an environment's id without its version."""
    if not isinstance(env, str):
        raise InvalidInput(f"env must be the id of an environment, found {short(env)}")
    return env.partition("-v")[0]
