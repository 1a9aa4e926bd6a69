"""What benchmarks of simulated people share: gains of a method, paired differences, claims.

Standard errors are over seeds. Methods share their seeds, so differences are taken seed by seed; a
mean over cases is taken within each seed first, as cases of one seed are not independent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Leads = Mapping[str, "NDArray[np.float64]"]
"""By case: a number for each seed, the larger the better."""


@dataclass(frozen=True, eq=False)
class Line:
    """What one method did in one case: its setting, if any, and the gains, (seeds, slates)."""

    setting: float | None
    gains: NDArray[np.float64]

    def mean(self, at: int = -1) -> float:
        """The mean gain after that answer, the last unless told."""
        return float(self.gains[:, at].mean())


L = TypeVar("L", bound=Line)


def standard_error(values: NDArray[np.float64]) -> float | None:
    """Of the mean of these; None of fewer than two."""
    if len(values) < 2:
        return None
    return float(values.std(ddof=1) / math.sqrt(len(values)))


def best_line(tried: Sequence[L], at: int = -1) -> L:
    """The one of the largest mean gain after that answer: the best setting in hindsight."""
    return max(tried, key=lambda line: line.mean(at))


def claim(name: str, leads: Leads, needed: float, *, least: bool = False) -> dict[str, Any]:
    """That a lead, in the mean over the cases or in the least of them, is at least so large."""
    by_case = {case: with_error(values) for case, values in leads.items()}
    lowest = min(by_case, key=lambda case: by_case[case]["measured"])
    found = by_case[lowest] if least else with_error(np.mean(list(leads.values()), axis=0))
    return {
        "name": name,
        "holds": found["measured"] >= needed,
        "needed": f"≥ {needed:g}",
        **found,
        "where": lowest if least else f"least {by_case[lowest]['measured']:.2f}: {lowest}",
        "cases": by_case,
    }


def with_error(values: NDArray[np.float64]) -> dict[str, Any]:
    """Their mean and its standard error, as a claim has them."""
    return {"measured": float(values.mean()), "standard_error": standard_error(values)}


def told(line: Line) -> dict[str, Any]:
    """A line as JSON: its setting, mean and error at the end, and both after every answer."""
    errors = [standard_error(line.gains[:, n]) for n in range(line.gains.shape[1])]
    return {
        "setting": line.setting,
        "gain": line.mean(),
        "standard_error": errors[-1],
        "gains": line.gains.mean(axis=0).tolist(),
        "standard_errors": errors,
    }
