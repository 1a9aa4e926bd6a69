"""The settings of methods that model all answers by a Gaussian process over candidates."""

from __future__ import annotations

from dataclasses import dataclass

from zorank.optimizers.settings import (
    Bounds,
    SpaceName,
    check_flag,
    check_number,
    check_slate_size,
    check_space,
)

MAX_CANDIDATES = 2000
"""The largest slate: the time of an answer grows with its cube."""

MAX_COORDINATE = 1e140
"""Beyond this many sigma0 a squared distance overflows."""


@dataclass(frozen=True, kw_only=True)
class ProcessSettings:
    """The settings that rank-process and rank-looks have in common.

    Attributes:
        m: number of candidates on a slate.
        k: how many of them to rank; None lets the judge decide.
        pick: whether the first slate shows draws of N(0, I) instead of x0 and its neighbours;
            "no difference" then shows other draws.
        sigma0: rough scale of the space: the distance from x0 over which the utility changes.
        space: "euclidean", or "gaussian" to keep candidates on the shell |x| = √d.
        bounds: (lower, upper), each a number or one per coordinate; candidates are clipped.
    """

    m: int = 6
    k: int | None = None
    pick: bool = False
    sigma0: float = 1.0
    space: SpaceName = "euclidean"
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        check_slate_size(self, largest=MAX_CANDIDATES)
        check_number(self, "sigma0", above=0, at_least=1 / MAX_COORDINATE, at_most=MAX_COORDINATE)
        check_flag(self, "pick")
        check_space(self)
