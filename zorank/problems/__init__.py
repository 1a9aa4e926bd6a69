"""Things to optimise."""

from zorank.problems.functions import rosenbrock, sphere
from zorank.problems.utilities import HiddenDirections, SineFeatures

__all__ = ["HiddenDirections", "SineFeatures", "rosenbrock", "sphere"]
