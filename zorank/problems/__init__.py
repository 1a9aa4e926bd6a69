"""Things to optimise."""

from zorank.problems.functions import (
    BentCigar,
    RotatedEllipsoid,
    ellipsoid,
    rastrigin,
    rosenbrock,
    sphere,
)
from zorank.problems.policies import LearnedPolicy, PolicyProblem, load_policy
from zorank.problems.utilities import HiddenDirections, SineFeatures

__all__ = [
    "BentCigar",
    "HiddenDirections",
    "LearnedPolicy",
    "PolicyProblem",
    "RotatedEllipsoid",
    "SineFeatures",
    "ellipsoid",
    "load_policy",
    "rastrigin",
    "rosenbrock",
    "sphere",
]
