"""The order in which candidates are shown: shuffled every round, mapped back here and only here.

People favour the first place and the middle of a screen, so where a candidate stands must say
nothing of how it was made. `shown[p]` is the candidate on screen position p.
"""

from __future__ import annotations

from zorank import rng
from zorank.types import Group, Ranking, RunRecord


def shown_order(record: RunRecord, index: int, m: int) -> Group:
    """The candidate at each screen position of round `index`: the same at every look."""
    generator = rng.for_content(record.seed, record.name.encode(), index.to_bytes(8, "little"))
    return tuple(int(i) for i in generator.permutation(m))


def to_candidates(on_screen: Ranking, shown: Group) -> Ranking:
    """A ranking of screen positions as a ranking of candidates."""
    on_screen.check(len(shown))

    def back(groups: tuple[Group, ...]) -> tuple[Group, ...]:
        return tuple(tuple(shown[p] for p in group) for group in groups)

    among = None if on_screen.among is None else tuple(shown[p] for p in on_screen.among)
    return Ranking(back(on_screen.best), back(on_screen.worst), among)


def to_screen(ranking: Ranking, shown: Group) -> Ranking:
    """A ranking of candidates as a ranking of screen positions."""
    places = sorted(range(len(shown)), key=lambda position: shown[position])
    return to_candidates(ranking, tuple(places))
