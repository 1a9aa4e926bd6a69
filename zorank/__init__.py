"""zorank: optimise what can be ranked but not scored.

`minimize` takes a function; `Run` is ask and tell; `protocols` is the page to read first.
"""

from zorank import estimators, optimizers, oracles, problems, protocols, stores, theory
from zorank._version import __version__
from zorank.errors import (
    InvalidInput,
    MissingExtra,
    ReplayError,
    StaleAnswer,
    StoreError,
    ZorankError,
)
from zorank.estimators import rank_gradient, rank_weights
from zorank.minimize import Result, minimize
from zorank.run import Run
from zorank.slates import Slate
from zorank.types import Ballot, Poll, Ranking, Round, Values

__all__ = [
    "Ballot",
    "InvalidInput",
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
    "minimize",
    "optimizers",
    "oracles",
    "problems",
    "protocols",
    "rank_gradient",
    "rank_weights",
    "stores",
    "theory",
]
