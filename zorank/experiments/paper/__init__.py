"""The paper's figures, one file each, made by `zorank reproduce`.

To add a figure, write a module with a function from a `FigureContext` to a `Report`, and add it to
`FIGURES`. `mk.py` is a short example of curves, `continuity.py` of a sweep of its own.
"""

from __future__ import annotations

from collections.abc import Callable

from zorank.errors import unknown_name
from zorank.experiments.claims import load_special
from zorank.experiments.paper import (
    ablations,
    continuity,
    estimates,
    highdim,
    latent_judges,
    mk,
    noise,
    policies,
    simple,
    tuning,
)
from zorank.experiments.paper.context import FigureContext
from zorank.experiments.plotting import load_figure
from zorank.experiments.report import Report
from zorank.optimizers.cma_es import check_pycma

FIGURES: dict[str, Callable[[FigureContext], Report]] = {
    "tuning": tuning.reproduce,
    "simple": simple.reproduce,
    "mk": mk.reproduce,
    "highdim": highdim.reproduce,
    "noise": noise.reproduce,
    "ablations": ablations.reproduce,
    "estimates": estimates.reproduce,
    "continuity": continuity.reproduce,
    "latent-judges": latent_judges.reproduce,
    "rl": policies.reproduce,
    "rl-scobo": policies.reproduce_scobo,
}
"""Every figure by name, in the order of `zorank reproduce all`."""


def figure_names(name: str) -> list[str]:
    """Return the figures that a name stands for: one figure, or "all" of them."""
    if name == "all":
        return list(FIGURES)
    if name not in FIGURES:
        raise unknown_name("figure", name, [*FIGURES, "all"])
    return [name]


def check_extras() -> None:
    """Raise an error that names the missing extra if a figure could not be made."""
    load_figure()
    load_special()
    check_pycma()


__all__ = ["FIGURES", "FigureContext", "Report", "check_extras", "figure_names"]
