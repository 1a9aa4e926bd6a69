"""What the paper says, and what was measured.

A factor compares two methods on the same seeds: the geometric mean of how much lower the one's
value is, with a 95% interval from Student's t over the logarithms of the pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank.errors import MissingExtra
from zorank.experiments.paper.curves import Curves
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

LEAST_VALUE = 1e-300
PAR = 0.5
"""Not more than a factor of 2 behind is "on par"."""


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and its fate.

    Attributes:
        name: of the claim.
        says: what the paper says.
        where: the problem it was measured on.
        at: when, such as "3,000 points".
        holds: whether it does; for a factor, with 95% confidence.
        measured: how many times lower the value is (above 1: as claimed), how much more reward
            there is, or a count.
        interval: the 95% interval; None if there is none.
        needed: what the factor has to exceed.
    """

    name: str
    says: str
    where: str
    at: str
    holds: bool
    measured: float
    interval: tuple[float, float] | None = None
    needed: float = 1.0

    @property
    def verdict(self) -> str:
        """✓ if it holds, ✗ if it does not, ? if these runs cannot tell."""
        if self.holds:
            return "✓"
        return "?" if self.interval is not None and self.interval[1] > self.needed else "✗"


def factor(ours: Vector, theirs: Vector) -> tuple[float, tuple[float, float]]:
    """How many times lower our values are than theirs, and the 95% interval."""
    logs = np.log(np.maximum(theirs, LEAST_VALUE)) - np.log(np.maximum(ours, LEAST_VALUE))
    mean = float(logs.mean())
    if len(logs) < 2:
        return math.exp(mean), (0.0, math.inf)
    t = load_students_t()
    half = float(t.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / math.sqrt(len(logs)))
    return math.exp(mean), (math.exp(mean - half), math.exp(mean + half))


def load_students_t() -> Any:
    """SciPy's Student distribution; an error that says what to install if it is not there."""
    try:
        from scipy.stats import t
    except ModuleNotFoundError as error:
        raise MissingExtra("an interval", "scipy", "experiments") from error
    return t


def leads(
    name: str,
    says: str,
    where: str,
    ours: Curves,
    theirs: Curves,
    marks: Iterable[float],
    by: str = "points",
    par: bool = False,
) -> list[Claim]:
    """Whether we have lower values after so many points (or calls), or are at least on par."""
    claims = []
    for mark in marks:
        measured, interval = factor(ours.at(mark, by), theirs.at(mark, by))
        needed = PAR if par else 1.0
        holds, at_mark = interval[0] > needed, f"{mark:,.0f} {by}"
        claims.append(Claim(name, says, where, at_mark, holds, measured, interval, needed))
    return claims


def gains(
    name: str, says: str, where: str, at: str, differences: ArrayLike, needed: float = 0.0
) -> Claim:
    """Whether the mean of paired differences exceeds what is needed, with 95% confidence."""
    found = np.asarray(differences, dtype=float)
    mean, half = float(found.mean()), math.inf
    if len(found) > 1:
        t = load_students_t().ppf(0.975, len(found) - 1)
        half = float(t * found.std(ddof=1) / math.sqrt(len(found)))
    interval = (mean - half, mean + half)
    return Claim(name, says, where, at, interval[0] > needed, mean, interval, needed)


def by_line(claims: Iterable[Claim]) -> dict[tuple[str, str], dict[str, Claim]]:
    """Claims as lines of a table: by name and problem, then by when they were measured."""
    lines: dict[tuple[str, str], dict[str, Claim]] = {}
    for claim in claims:
        lines.setdefault((claim.name, claim.where), {})[claim.at] = claim
    return lines
