"""Rules by which `minimize` stops before its limit of points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zorank._arrays import is_real, is_whole
from zorank.errors import InvalidInput, short
from zorank.slates import Slate
from zorank.types import Vector


@dataclass(frozen=True)
class Stopping:
    """Rules that stop a run.

    Attributes:
        patience: stop after this many rounds without a better value; None does not stop.
        xtol: stop if candidates differ from the incumbent by at most this; None does not stop.
        counts_missing: whether patience also counts rounds before the first finite value.
    """

    patience: int | None = None
    xtol: float | None = None
    counts_missing: bool = False

    def __post_init__(self) -> None:
        if self.patience is not None and not (is_whole(self.patience) and self.patience >= 1):
            raise InvalidInput(
                f"patience must be a whole number of rounds from 1, found {short(self.patience)}"
            )
        if self.xtol is not None and not (is_real(self.xtol) and 0 < self.xtol < np.inf):
            raise InvalidInput(f"xtol must be a finite number above 0, found {short(self.xtol)}")

    def impatient(self, history: Sequence[Mapping[str, Any]]) -> str | None:
        """Return why to stop after these rounds; None continues."""
        if self.patience is None or len(history) <= self.patience:
            return None
        before, now = (history[i]["best"] for i in (-1 - self.patience, -1))
        stuck = before == now and (before is not None or self.counts_missing)
        return f"no better value in {self.patience} rounds" if stuck else None

    def reason(
        self, history: Sequence[Mapping[str, Any]], slate: Slate, best: Callable[[], Vector]
    ) -> str | None:
        """Return why to stop after this slate, the last of the history; None continues."""
        if self.xtol is not None and _spread(slate, best()) <= self.xtol:
            return f"candidates differ by at most xtol = {self.xtol:g}"
        return self.impatient(history)


def _spread(slate: Slate, best: Vector) -> float:
    """Return the median over candidates of their largest distance from x in a coordinate.

    The median, because a slate may also show old candidates.
    """
    return float(np.median([np.abs(row - best).max() for row in slate]))
