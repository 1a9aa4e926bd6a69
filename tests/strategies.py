"""Hypothesis strategies for rankings, and the brute-force graph they are checked against."""

import numpy as np
from hypothesis import strategies as st

from zorank import Ballot, Poll, Ranking


@st.composite
def rankings(draw, m):
    """Any ranking of a slate of m: partial, with ties, worst groups, or of some positions only."""
    positions = draw(st.permutations(range(m)))
    shown = draw(st.integers(1, m)) if draw(st.booleans()) else m
    spoken = positions[:shown]
    named = draw(st.integers(0, shown))
    groups, group = [], []
    for p in spoken[:named]:
        group.append(p)
        if draw(st.booleans()):
            groups.append(tuple(group))
            group = []
    if group:
        groups.append(tuple(group))
    cut = draw(st.integers(0, len(groups)))
    among = None if shown == m and draw(st.booleans()) else tuple(spoken)
    return Ranking(tuple(groups[:cut]), tuple(groups[cut:]), among)


@st.composite
def slate_and_ranking(draw, largest=9):
    m = draw(st.integers(1, largest))
    return m, draw(rankings(m))


@st.composite
def polls(draw, m):
    weights = st.floats(0, 10)
    ballots = draw(st.lists(st.tuples(rankings(m), weights), min_size=1, max_size=4))
    return Poll(tuple(Ballot(f"rater {i}", r, w) for i, (r, w) in enumerate(ballots)))


def graph(ranking, m):
    """The comparison graph by brute force from the definition: A[i, j] = 1 if i beats j."""
    spoken = range(m) if ranking.among is None else ranking.among
    height = {}
    for p in spoken:
        height[p] = 0
    for level, group in enumerate(reversed(ranking.best), start=1):
        height.update(dict.fromkeys(group, level))
    for level, group in enumerate(ranking.worst, start=1):
        height.update(dict.fromkeys(group, -level))
    adjacency = np.zeros((m, m))
    for i in spoken:
        for j in spoken:
            adjacency[i, j] = height[i] > height[j]
    return adjacency
