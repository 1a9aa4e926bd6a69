"""Hypothesis strategies for rankings, and the brute-force graph they are checked against."""

import numpy as np
from hypothesis import strategies as st

from zorank import Ballot, Poll, Ranking, Slate
from zorank._directions import SeededDirections
from zorank.slates import Box, Cloud, Free, Mirror, Points, Ray, Shell


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


def arrays(shape, dtype="float64"):
    """Finite numbers of every size, and −0.0."""
    width = 32 if dtype == "float32" else 64
    size = int(np.prod(shape))
    numbers = st.floats(-(2.0**99), 2.0**99, width=width)
    whole = st.lists(numbers, min_size=size, max_size=size)
    return whole.map(lambda values: np.array(values, dtype).reshape(shape))


@st.composite
def spaces(draw, d):
    kind = draw(st.sampled_from([Free, Shell, Box, Mirror]))
    if kind in (Free, Shell):
        return kind()
    lower = draw(arrays(d) | st.just(np.broadcast_to(-1.5, d)))
    return kind(lower, lower + draw(st.floats(0.5, 1e31)))


@st.composite
def slates(draw):
    """Slates of every design with every space, question, k and looks."""
    m, d = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    dtype = draw(st.sampled_from(["float32", "float64"]))
    kind, space = draw(st.sampled_from(["points", "cloud", "seeded", "ray"])), draw(spaces(d))
    numbers = st.floats(-1e9, 1e9)
    if kind == "points":
        design = Points(draw(arrays((m, d), dtype)))
    elif kind == "cloud":
        xi = draw(arrays((m, d), dtype))
        design = Cloud(draw(arrays(d, dtype)), draw(numbers), xi, space)
    elif kind == "seeded":
        signs = tuple(draw(st.sampled_from([-1, 0, 1])) for _ in range(m))
        law = draw(st.sampled_from(["normal", "rademacher"]))
        xi = SeededDirections(draw(st.integers(0, 2**126)), tuple(range(m)), signs, d, dtype, law)
        design = Cloud(draw(arrays(d, dtype)), draw(numbers), xi, space)
    else:
        others = tuple(draw(arrays(d, dtype)) for _ in range(draw(st.integers(0, 2))))
        steps = tuple(draw(st.lists(numbers, max_size=3)))
        centre, direction = draw(arrays(d, dtype)), draw(arrays(d, dtype))
        design = Ray(centre, direction, steps, others, space)
    question = draw(st.sampled_from(["start", "rank", "best", "compare", "values"]))
    looks = draw(st.none() | arrays((len(design), draw(st.integers(1, 3)))))
    return Slate(design, question, draw(st.none() | st.integers(1, 9)), looks)


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
