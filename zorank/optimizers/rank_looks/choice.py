"""Which candidates of a pool to show beside the best so far, and what they promise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.float64]


def expected_best(samples: Rows, chosen: list[int], free: NDArray[np.bool_], count: int) -> None:
    """Add candidates to `chosen`, one by one, for the largest expected utility of the best shown.

    That is qEUBO's criterion (Astudillo et al., 2023) on a pool: each addition is the candidate
    that raises the mean, over samples of the utility, of the largest value shown.
    """
    while len(chosen) < count and free.any():
        reached = samples[chosen].max(axis=0)
        gains = np.maximum(samples, reached).mean(axis=1)
        best = int(np.argmax(np.where(free, gains, -np.inf)))
        chosen.append(best)
        free[best] = False


def promise(samples: Rows, incumbent: int, fresh: list[int]) -> dict[str, float]:
    """The best chance of one fresh candidate to beat the incumbent, and the largest gain."""
    if not fresh:
        return {"chance": 0.0, "gain": 0.0}
    leads = samples[fresh] - samples[incumbent]
    return {
        "chance": float((leads > 0).mean(axis=1).max()),
        "gain": float(np.maximum(leads, 0.0).mean(axis=1).max()),
    }
