"""Whole and categorical coordinates, and how a search moves in them.

A gene is a whole number (one coordinate) or a categorical parameter (one coordinate for each
option). A move sets some genes to other values. Moves that lost are drawn less often, which is
forgotten over time, because the other coordinates change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from zorank.types import Matrix, Vector

Move: TypeAlias = tuple[tuple[int, int], ...]
"""Pairs of a gene and its new value."""
Memory: TypeAlias = Mapping[tuple[int, int], float]
"""The weights of (gene, value) in draws; 1 if it was not tried."""

OFFSETS = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144)
"""How far whole numbers move."""


@dataclass(frozen=True)
class Gene:
    """A discrete parameter.

    Attributes:
        first: its first coordinate.
        size: the number of its values.
        ordered: whether it is a whole number, which takes one coordinate.
    """

    first: int
    size: int
    ordered: bool

    @property
    def coordinates(self) -> range:
        """Its coordinates."""
        return range(self.first, self.first + (1 if self.ordered else self.size))

    def value(self, x: Vector) -> int:
        """Return the gene's value at a point."""
        if self.ordered:
            return min(max(int(x[self.first] * self.size), 0), self.size - 1)
        return int(np.argmax(x[self.first : self.first + self.size]))

    def put(self, x: Vector, value: int) -> None:
        """Set the gene's value, in place."""
        if self.ordered:
            x[self.first] = (value + 0.5) / self.size
        else:
            x[self.first : self.first + self.size] = 0.0
            x[self.first + value] = 1.0

    def neighbours(self, value: int) -> list[tuple[int, float]]:
        """Return the other values that a move may set, with their weights."""
        if not self.ordered:
            return [(other, 1.0) for other in range(self.size) if other != value]
        steps = ((value + sign * o, o**-1.5) for o in OFFSETS for sign in (1, -1))
        return [(other, weight) for other, weight in steps if 0 <= other < self.size]


def genes_of(levels: Sequence[int], choices: Sequence[Sequence[int]]) -> tuple[Gene, ...]:
    """Return the genes that settings declare."""
    whole = [Gene(j, n, True) for j, n in enumerate(levels) if n]
    return (*whole, *(Gene(first, n, False) for first, n in choices))


def snap(x: Vector, genes: Sequence[Gene]) -> Vector:
    """Move discrete coordinates to the centres of their values, in place."""
    for gene in genes:
        gene.put(x, gene.value(x))
    return x


def spread(m: int, x: Vector, genes: Sequence[Gene], rng: np.random.Generator) -> Matrix:
    """Draw a Latin hypercube of m points, the first of which is replaced by x."""
    rows = np.empty((m, x.size))
    for j in range(x.size):
        rows[:, j] = (rng.permutation(m) + rng.uniform(size=m)) / m
    for gene in genes:
        values = rng.permutation(np.arange(m) % gene.size) if not gene.ordered else None
        for i, row in enumerate(rows):
            gene.put(row, gene.value(row) if values is None else int(values[i]))
    rows[0] = x
    return rows


def draw_move(
    x: Vector,
    genes: Sequence[Gene],
    movable: Sequence[int],
    memory: Memory,
    count: int,
    rng: np.random.Generator,
) -> Move:
    """Draw values for up to `count` different genes, by their weights."""
    move: dict[int, int] = {}
    for _ in range(count):
        options = [
            (i, value, weight * memory.get((i, value), 1.0))
            for i in movable
            if i not in move
            for value, weight in genes[i].neighbours(genes[i].value(x))
        ]
        if not options:
            break
        weights = np.array([weight for *_, weight in options])
        gene, value, _ = options[int(rng.choice(len(options), p=weights / weights.sum()))]
        move[gene] = value
    return tuple(sorted(move.items()))


def freshness(x: Vector, genes: Sequence[Gene], movable: Sequence[int], memory: Memory) -> float:
    """Return the sum of the remembered weights of single moves, relative to untried moves."""
    whole = left = 0.0
    for i in movable:
        for value, weight in genes[i].neighbours(genes[i].value(x)):
            whole += weight
            left += weight * min(memory.get((i, value), 1.0), 1.0)
    return left / whole if whole else 0.0
