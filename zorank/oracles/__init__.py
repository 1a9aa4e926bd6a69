"""Judges that answer a slate by themselves. A person answers through a run's `tell` instead."""

from zorank.oracles.comparison import ComparisonOracle
from zorank.oracles.function import FunctionOracle
from zorank.oracles.noisy import GaussianNoise, JustNoticeable, PlackettLuce, RandomSwaps

__all__ = [
    "ComparisonOracle",
    "FunctionOracle",
    "GaussianNoise",
    "JustNoticeable",
    "PlackettLuce",
    "RandomSwaps",
]
