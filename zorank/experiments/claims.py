"""Claims, their measurements, and whether they hold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank.errors import required_by

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


PAPER_FIELDS = ("name", "says", "where", "at", "holds", "measured", "interval", "needed")
BENCHMARK_FIELDS = ("name", "holds", "needed", "measured", "standard_error", "where", "cases")


@dataclass(frozen=True)
class Claim:
    """A claim of the paper or of a benchmark, with its measurement.

    Attributes:
        name: the claim, in a few words.
        says: the sentence of the paper; empty for a benchmark.
        where: the problem or case that it was measured on.
        at: when it was measured, such as "3,000 points"; empty for a benchmark.
        holds: whether it holds; for a claim with an interval, with 95% confidence.
        measured: a ratio of values (above 1: as claimed), a difference, or a count.
        interval: the 95% interval; None if there is none.
        needed: the bound that `measured` must exceed, or the criterion in words.
        standard_error: of `measured`; None if unknown.
        cases: for benchmarks, the measurement in each case.
        median: of the quantity whose mean is `measured`, if reported.
    """

    name: str
    says: str
    where: str
    at: str
    holds: bool
    measured: float
    interval: tuple[float, float] | None = None
    needed: float | str = 1.0
    standard_error: float | None = None
    cases: Mapping[str, Mapping[str, Any]] | None = None
    median: float | None = None

    @property
    def verdict(self) -> str:
        """✓ if it holds, ✗ if it does not, ? if the data do not decide."""
        if self.holds:
            return "✓"
        undecided = self.interval is not None and self.interval[1] > float(self.needed)
        return "?" if undecided else "✗"

    def to_json(self) -> dict[str, Any]:
        """Return JSON values: sentence, time and interval of a paper's claim, or the cases."""
        names = PAPER_FIELDS if self.cases is None else BENCHMARK_FIELDS
        median = {} if self.median is None else {"median": self.median}
        return {**{name: getattr(self, name) for name in names}, **median}


def difference_claim(
    name: str, says: str, where: str, at: str, differences: ArrayLike, needed: float = 0.0
) -> Claim:
    """Claim that the mean of paired differences exceeds `needed`, with 95% confidence."""
    found = np.asarray(differences, dtype=float)
    mean, half = float(found.mean()), math.inf
    if len(found) > 1:
        t = students_t(0.975, len(found) - 1)
        half = float(t * found.std(ddof=1) / math.sqrt(len(found)))
    interval = (mean - half, mean + half)
    return Claim(name, says, where, at, interval[0] > needed, mean, interval, needed)


def proportion_interval(count: int, total: int) -> tuple[float, float]:
    """Return the exact 95% interval of a proportion (Clopper and Pearson, 1934)."""
    beta = load_special().betaincinv
    low = float(beta(count, total - count + 1, 0.025)) if count else 0.0
    high = float(beta(count + 1, total - count, 0.975)) if count < total else 1.0
    return low, high


def by_line(claims: Iterable[Claim]) -> dict[tuple[str, str], dict[str, Claim]]:
    """Group claims into the rows of a table: by name and problem, then by time."""
    lines: dict[tuple[str, str], dict[str, Claim]] = {}
    for claim in claims:
        lines.setdefault((claim.name, claim.where), {})[claim.at] = claim
    return lines


def students_t(q: float, freedom: int) -> float:
    """Return a quantile of Student's t distribution."""
    return float(load_special().stdtrit(freedom, q))


def fishers_f(q: float, above: int, below: int) -> float:
    """Return a quantile of Fisher's F distribution with these degrees of freedom."""
    return float(load_special().fdtri(above, below, q))


def load_special() -> Any:
    """Import SciPy's special functions, or raise an error that names the missing extra.

    `scipy.stats` would give the same numbers, but takes seconds to import.
    """
    with required_by("an interval", "scipy", "experiments"):
        from scipy import special
    return special
