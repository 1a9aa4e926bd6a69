"""Things to optimise."""

from zorank.problems.functions import (
    BentCigar,
    RotatedEllipsoid,
    ellipsoid,
    rastrigin,
    rosenbrock,
    sphere,
)
from zorank.problems.utilities import HiddenDirections, SineFeatures

__all__ = [
    "BentCigar",
    "HiddenDirections",
    "RotatedEllipsoid",
    "SineFeatures",
    "ellipsoid",
    "rastrigin",
    "rosenbrock",
    "sphere",
]
