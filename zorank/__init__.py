"""zorank: minimise a function from rankings of candidates only.

`minimize` optimises a function in one call. `Run` is the ask-and-tell interface. Read
`zorank.protocols` first to extend the package.
"""

from typing import TYPE_CHECKING, Any

from zorank import estimators, executors, optimizers, problems, protocols, stores
from zorank._version import __version__
from zorank.errors import (
    EvaluationError,
    InvalidInput,
    LookError,
    MissingExtra,
    ReplayError,
    StaleAnswer,
    StoreError,
    ZorankError,
)
from zorank.estimators import rank_gradient, rank_weights
from zorank.items import rank_items
from zorank.minimize import Result, minimize
from zorank.run import Run
from zorank.slates import Slate
from zorank.spaces import Choice, Float, Int, Log
from zorank.types import Ballot, Exhibit, Poll, Ranking, Round, Values

if TYPE_CHECKING:
    from zorank import integrations, looks, notebook, oracles, planning, renderers, theory


def __getattr__(name: str) -> Any:
    """Import modules that many programs never need when they are first used."""
    lazy = ("integrations", "looks", "notebook", "oracles", "planning", "renderers", "theory")
    if name in lazy:
        from importlib import import_module

        return import_module(f"zorank.{name}")
    raise AttributeError(f"module 'zorank' has no attribute {name!r}")


__all__ = [
    "Ballot",
    "Choice",
    "EvaluationError",
    "Exhibit",
    "Float",
    "Int",
    "InvalidInput",
    "Log",
    "LookError",
    "MissingExtra",
    "Poll",
    "Ranking",
    "ReplayError",
    "Result",
    "Round",
    "Run",
    "Slate",
    "StaleAnswer",
    "StoreError",
    "Values",
    "ZorankError",
    "__version__",
    "estimators",
    "executors",
    "integrations",
    "looks",
    "minimize",
    "notebook",
    "optimizers",
    "oracles",
    "planning",
    "problems",
    "protocols",
    "rank_gradient",
    "rank_items",
    "rank_weights",
    "renderers",
    "stores",
    "theory",
]
