"""The paper's figures: one file = one figure, run by `zorank reproduce`."""

from __future__ import annotations

from collections.abc import Callable

from zorank.errors import unknown_name
from zorank.experiments.paper import (
    continuity,
    highdim,
    latent_judges,
    mk,
    noise,
    policies,
    simple,
    tuning,
)
from zorank.experiments.paper.context import Lab, Report

FIGURES: dict[str, Callable[[Lab], Report]] = {
    "tuning": tuning.reproduce,
    "simple": simple.reproduce,
    "mk": mk.reproduce,
    "highdim": highdim.reproduce,
    "noise": noise.reproduce,
    "continuity": continuity.reproduce,
    "latent-judges": latent_judges.reproduce,
    "rl": policies.reproduce,
    "rl-scobo": policies.reproduce_scobo,
}
"""Every figure by its name, in the order in which `all` makes them."""


def figures_of(name: str) -> list[str]:
    """The figures that a name stands for: itself, or all of them."""
    if name == "all":
        return list(FIGURES)
    if name not in FIGURES:
        raise unknown_name("figure", name, [*FIGURES, "all"])
    return [name]


__all__ = ["FIGURES", "Lab", "Report", "figures_of"]
