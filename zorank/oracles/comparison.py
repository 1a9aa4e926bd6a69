"""An oracle that compares two candidates at a time, and sorts a slate by such comparisons."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cmp_to_key

from zorank.errors import InvalidInput
from zorank.slates import Slate
from zorank.types import Ranking, Vector


@dataclass(frozen=True)
class ComparisonOracle:
    """Sorts a slate by pairwise comparisons (m − 1 of them if only the best is asked for).

    Attributes:
        compare: (a, b) → negative if a is better, positive if b is better, 0 for no difference.
        k: the maximal depth of a ranking; None ranks as deep as the slate asks for.
    """

    compare: Callable[[Vector, Vector], float]
    k: int | None = None

    def answer(self, slate: Slate) -> Ranking:
        """Return the answer to the slate's question."""
        if slate.question == "values":
            raise InvalidInput(
                "this slate asks for values, but a ComparisonOracle has no values; "
                "use a FunctionOracle"
            )
        if slate.question == "compare":
            return Ranking.from_values([self._sign(x, slate[0]) for x in slate])
        if slate.question == "best":
            return Ranking.of([self._best(slate)])
        by_verdict = cmp_to_key(self._sign)
        order = sorted(range(len(slate)), key=lambda i: by_verdict(slate[i]))
        groups: list[list[int]] = []
        for before, here in zip([None, *order], order, strict=False):
            if before is not None and self._sign(slate[before], slate[here]) == 0:
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

    def _sign(self, a: Vector, b: Vector) -> int:
        verdict = self.compare(a, b)
        return int(verdict > 0) - int(verdict < 0)


def _first(groups: list[list[int]], depth: int) -> list[list[int]]:
    """Return the groups that contain the best `depth`; a tie at the cut is kept whole."""
    kept, named = [], 0
    for group in groups:
        if named >= depth:
            break
        kept.append(group)
        named += len(group)
    return kept
