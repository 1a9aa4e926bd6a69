"""Things to optimise."""

from zorank.problems.functions import rosenbrock, sphere

__all__ = ["rosenbrock", "sphere"]
