"""The order of candidates on screen: shuffled every round; only this module maps positions back.

People favour the first place and the middle of a screen, so a candidate's position must not depend
on how it was made. `shown[p]` is the candidate at screen position p.
"""

from __future__ import annotations

from functools import lru_cache

from zorank import rng
from zorank.types import Group, Ranking, RunRecord


def shown_order(record: RunRecord, index: int, m: int) -> Group:
    """Return the candidate at each screen position of round `index`; deterministic."""
    return _shuffled(record.seed, record.name, index, m)


@lru_cache(maxsize=1024)
def _shuffled(seed: int, name: str, index: int, m: int) -> Group:
    generator = rng.for_content(seed, name.encode(), index.to_bytes(8, "little"))
    return tuple(int(i) for i in generator.permutation(m))


def to_candidates(on_screen: Ranking, shown: Group) -> Ranking:
    """Map a ranking of screen positions to a ranking of candidates."""
    on_screen.check(len(shown))

    def back(groups: tuple[Group, ...]) -> tuple[Group, ...]:
        return tuple(tuple(shown[p] for p in group) for group in groups)

    among = None if on_screen.among is None else tuple(shown[p] for p in on_screen.among)
    return Ranking(back(on_screen.best), back(on_screen.worst), among)


def to_screen(ranking: Ranking, shown: Group) -> Ranking:
    """Map a ranking of candidates to a ranking of screen positions."""
    places = sorted(range(len(shown)), key=lambda position: shown[position])
    return to_candidates(ranking, tuple(places))
