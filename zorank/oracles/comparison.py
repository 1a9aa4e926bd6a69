"""An oracle that compares two candidates at a time, and sorts a slate by such comparisons.

A comparison is a number, as in C's qsort, or a bool: "the first is better". A bool has no third
value. In a ranking this costs nothing: two neighbours tie if neither was found better. Where only
the best is asked for, the earlier of two equal candidates wins.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any

from zorank._arrays import is_real
from zorank.errors import InvalidInput, short
from zorank.slates import Slate
from zorank.types import Ranking, Vector


@dataclass(frozen=True)
class ComparisonOracle:
    """Sorts a slate by pairwise comparisons (m − 1 of them if only the best is asked for).

    Attributes:
        compare: (a, b) → negative if a is better, positive if b is better, 0 for no difference,
            such as f(a) - f(b); or a bool, True if a is better, such as f(a) < f(b).
        k: the maximal depth of a ranking; None ranks as deep as the slate asks for.
    """

    compare: Callable[[Vector, Vector], float | bool]
    k: int | None = None

    def answer(self, slate: Slate) -> Ranking:
        """Return the answer to the slate's question."""
        if slate.question == "values":
            raise InvalidInput(
                "this slate asks for values, but a ComparisonOracle has no values; "
                "use a FunctionOracle"
            )
        if slate.question == "compare":
            rest = range(1, len(slate))
            return Ranking.from_values([0, *(self._sign(slate[i], slate[0]) for i in rest)])
        if slate.question == "best":
            return Ranking.of([self._best(slate)])
        by_verdict = cmp_to_key(self._sign)
        order = sorted(range(len(slate)), key=lambda i: by_verdict(slate[i]))
        groups: list[list[int]] = []
        for before, here in zip([None, *order], order, strict=False):
            if before is not None and self._tie(slate[before], slate[here]):
                groups[-1].append(here)
            else:
                groups.append([here])
        return Ranking.of(_first(groups, slate.depth(self.k)))

    def _best(self, slate: Slate) -> list[int]:
        best = [0]
        for i in range(1, len(slate)):
            sign = self._sign(slate[i], slate[best[0]])
            if sign < 0:
                best = [i]
            elif sign == 0:
                best.append(i)
        return best

    def _tie(self, a: Vector, b: Vector) -> bool:
        """Return whether a and b tie; b is known not to be better than a."""
        verdict = self._verdict(a, b)
        return not verdict if isinstance(verdict, bool) else not (verdict > 0 or verdict < 0)

    def _sign(self, a: Vector, b: Vector) -> int:
        verdict = self._verdict(a, b)
        if isinstance(verdict, bool):
            return -1 if verdict else 1
        return int(verdict > 0) - int(verdict < 0)

    def _verdict(self, a: Vector, b: Vector) -> float | bool:
        """Return the result of `compare` as a Python number or bool."""
        found: Any = self.compare(a, b)
        try:
            verdict = found.item() if hasattr(found, "item") else found  # NumPy, torch
        except Exception:  # an array of several numbers
            verdict = None
        if not isinstance(verdict, bool) and not is_real(verdict):
            raise InvalidInput(
                "compare must return a number, negative if its first argument is better, or a "
                f"bool, True if its first argument is better; found {short(found)}"
            )
        return verdict  # type: ignore[no-any-return]  # it was checked


def _first(groups: list[list[int]], depth: int) -> list[list[int]]:
    """Return the groups that contain the best `depth`; a tie at the cut is kept whole."""
    kept, named = [], 0
    for group in groups:
        if named >= depth:
            break
        kept.append(group)
        named += len(group)
    return kept
