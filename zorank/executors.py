"""Where candidates are evaluated: in this process, or by any concurrent.futures executor."""

from concurrent.futures import Executor

from zorank.oracles.function import Objective, check_values, evaluate
from zorank.slates import Slate
from zorank.types import Vector


def evaluate_slate(
    f: Objective, slate: Slate, executor: Executor | None = None, vectorized: bool = False
) -> Vector:
    """The value of every candidate, in the slate's order whoever finishes first."""
    if executor is None or vectorized:
        return evaluate(f, slate, vectorized)
    return check_values(list(executor.map(f, slate)), len(slate))
