"""The options of `zorank.integrations.pycma`, by the names of pycma."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from zorank._arrays import as_numbers, is_real, plain
from zorank.errors import InvalidInput, short, unknown_name
from zorank.optimizers.settings import check_count

WITHOUT_EFFECT = frozenset(
    (
        "AdaptSigma",
        "BoundaryHandler",
        "conditioncov_alleviate",
        "eval_final_mean",
        "is_feasible",
        "mean_shift_line_samples",
        "mindx",
        "minstd",
        "maxstd",
        "maxstd_boundrange",
        "pc_line_samples",
        "randn",
        "signals_filename",
        "stall_sigma_change_on_divergence_iterations",
        "tolconditioncov",
        "tolfacupx",
        "tolupsigma",
        "tolflatfitness",
        "tolfunrel",
        "tolxstagnation",
        "updatecovwait",
        "vv",
    )
)
"""Options of pycma about parts that zorank does not have."""

PREFIXES_WITHOUT_EFFECT = ("CMA_", "CSA_", "TPA_")
CRITERIA = ("ftarget", "max", "timeout", "tol", "verbose")
QUIET_PREFIX = "verb_"
"""Options about pycma's logger and plots; ignored without a warning."""


@dataclass(frozen=True)
class Options:
    """Options with an effect, and their defaults; those of pycma where it has them."""

    popsize: int | None = None
    seed: int = 0
    bounds: Any = None
    method: str = "auto"
    ftarget: float = -math.inf
    maxfevals: float = math.inf
    maxiter: float | None = None
    timeout: float = math.inf
    tolfun: float = 1e-11
    tolfunhist: float = 1e-12
    tolstagnation: float | None = None
    tolx: float = 1e-11
    verbose: float = 3
    verb_disp: int = 100

    def __post_init__(self) -> None:
        if self.popsize is not None:
            check_count(self, "popsize", 2)
        check_count(self, "verb_disp", 0)
        criteria = [field for field in fields(self) if field.name.startswith(CRITERIA)]
        for name in (field.name for field in criteria):
            number = plain(getattr(self, name))
            is_default = number is None and name in ("maxiter", "tolstagnation")
            if not is_default and (not is_real(number) or math.isnan(number)):
                raise InvalidInput(f"{name} must be a number, found {short(number)}")


def read_options(given: Mapping[str, Any] | None, dim: int) -> Options:
    """Return options that are given by pycma's names; warn of those without effect."""
    if not isinstance(given, Mapping | None):
        raise InvalidInput(f"options must map names to settings, found {short(given)}")
    names = {field.name for field in fields(Options)}
    taken: dict[str, Any] = {}
    idle = []
    for name, value in (given or {}).items():
        if name in names:
            taken[name] = value
        elif name in WITHOUT_EFFECT or str(name).startswith(PREFIXES_WITHOUT_EFFECT):
            idle.append(str(name))
        elif not str(name).startswith(QUIET_PREFIX):
            raise unknown_name("option of EvolutionStrategy", name, names)
    if idle:
        text = f"these options of pycma have no effect here: {', '.join(idle)}"
        warnings.warn(text, UserWarning, stacklevel=3)
    if taken.get("seed") is None:
        entropy: Any = np.random.SeedSequence().entropy
        taken["seed"] = int(entropy % 2**32)
    if "bounds" in taken:
        taken["bounds"] = _bounds(taken["bounds"], dim)
    return Options(**taken)


def _bounds(bounds: Any, dim: int) -> tuple[list[float], list[float]] | None:
    """Convert pycma's [lower, upper], each None, a number or one per coordinate."""
    if bounds is None:
        return None
    if not isinstance(bounds, (list, tuple, np.ndarray)) or len(bounds) != 2:
        raise InvalidInput(
            f"bounds must be [lower, upper], each None, a number or a list, found {short(bounds)}"
        )
    sides = []
    for side, none in zip(bounds, (-math.inf, math.inf), strict=True):
        items = side if isinstance(side, (list, tuple, np.ndarray)) else [side]
        numbers = as_numbers([none if b is None else b for b in items], "a bound")
        if numbers.shape not in ((1,), (dim,)):
            raise InvalidInput(f"a bound must be a number or {dim} of them, found {short(side)}")
        sides.append(np.broadcast_to(numbers, dim).tolist())
    lower, upper = sides
    return None if not np.isfinite([lower, upper]).any() else (lower, upper)
