"""The order of candidates on screen: shuffled every round; only this module maps positions back.

People favour the first place and the middle of a screen, so a candidate's position must not depend
on how it was made. `shown[p]` is the candidate at screen position p.
"""

from __future__ import annotations

from collections.abc import Collection
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


def without(ranking: Ranking, absent: Collection[int], m: int) -> Ranking:
    """Return a ranking of m candidates that does not compare the absent ones."""
    if not absent:
        return ranking
    compared = ranking.among if ranking.among is not None else range(m)
    among = tuple(i for i in compared if i not in absent)
    if not among:
        return Ranking.no_difference()

    def kept(groups: tuple[Group, ...]) -> tuple[Group, ...]:
        left = (tuple(i for i in group if i not in absent) for group in groups)
        return tuple(group for group in left if group)

    return Ranking(kept(ranking.best), kept(ranking.worst), among)
