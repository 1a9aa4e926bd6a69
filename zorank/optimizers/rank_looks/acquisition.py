"""Acquisition: which candidates of a pool to show, by the expected utility of the best option."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.float64]


def extend_by_qeubo(samples: Rows, chosen: list[int], free: NDArray[np.bool_], count: int) -> None:
    """Add candidates to `chosen` greedily, for the largest expected utility of the best shown.

    This is qEUBO (Astudillo et al., 2023) on a pool. `samples` are joint samples of the utility,
    (candidates, samples); each step adds the free candidate that maximises the mean, over samples,
    of the largest utility shown.
    """
    while len(chosen) < count and free.any():
        highest = samples[chosen].max(axis=0)
        utilities = np.maximum(samples, highest).mean(axis=1)
        best = int(np.argmax(np.where(free, utilities, -np.inf)))
        chosen.append(best)
        free[best] = False


def promise(samples: Rows, incumbent: int, fresh: list[int]) -> dict[str, float]:
    """Return the largest probability of improvement and expected improvement of a candidate."""
    if not fresh:
        return {"chance": 0.0, "gain": 0.0}
    leads = samples[fresh] - samples[incumbent]
    return {
        "chance": float((leads > 0).mean(axis=1).max()),
        "gain": float(np.maximum(leads, 0.0).mean(axis=1).max()),
    }
