"""Things to optimise."""

from typing import TYPE_CHECKING, Any

from zorank.problems.functions import (
    BentCigar,
    RotatedEllipsoid,
    ellipsoid,
    rastrigin,
    rosenbrock,
    sphere,
)
from zorank.problems.utilities import HiddenDirections, SineFeatures

if TYPE_CHECKING:
    from zorank.rl import LearnedPolicy, PolicyProblem, load_policy


def __getattr__(name: str) -> Any:
    """Import policies from `zorank.rl` on first use: they need all of zorank."""
    if name in ("LearnedPolicy", "PolicyProblem", "load_policy"):
        from zorank import rl

        return getattr(rl, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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
