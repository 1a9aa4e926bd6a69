"""auto without one of its parts, or with other constants: the rows of its ablation on BBOB.

`zorank bench field --peer auto --peer "auto: no quadratic model"` runs them beside the default.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from zorank.experiments.peers import Contender, Ours
from zorank.optimizers.auto import Auto
from zorank.optimizers.auto_tuning import Tuning
from zorank.types import Vector


def gaussian(m: int, d: int, draws: np.random.Generator) -> NDArray[np.float64]:
    """Return directions as CMA-ES draws them."""
    return draws.standard_normal((m, d))


def equal_lengths(m: int, d: int, draws: np.random.Generator) -> NDArray[np.float64]:
    """Return directions of one length, not orthogonal."""
    z = draws.standard_normal((m, d))
    return np.asarray(z * math.sqrt(d) / np.linalg.norm(z, axis=1, keepdims=True))


def positive(weights: Vector, scores: Vector) -> Vector:
    """Give weight for the step only to the better half."""
    order = np.argsort(scores, kind="stable")
    logs = np.maximum(np.log((len(order) + 1) / 2) - np.log(np.arange(1, len(order) + 1)), 0)
    result = np.empty_like(logs)
    result[order] = logs if abs(weights.sum()) < 1e-9 else weights
    return np.asarray(result)


def _variant(tuning: Tuning, x0: Vector, sigma0: float, seed: int) -> Contender:
    return Ours(Auto(sigma0=sigma0).search(tuning), x0, seed)


TUNINGS: Mapping[str, Tuning] = {
    "no quadratic model": Tuning(max_model_dim=0),
    "covariance apart from the model": Tuning(model_rate=0.0),
    "Gaussian directions": Tuning(directions=gaussian),
    "equal lengths, not orthogonal": Tuning(directions=equal_lengths),
    "only the better half counts": Tuning(assign=positive),
    "no wider than the step": Tuning(width=1.0, width_if_many=1.0),
    "three times as wide": Tuning(width=3.0, width_if_many=3.0),
    "damping 1": Tuning(damping=1.0),
    "steps grow by up to e^.3": Tuning(max_growth=0.3),
}

VARIANTS: Mapping[str, Callable[[Vector, float, int], Contender]] = {
    f"auto: {name}": partial(_variant, tuning) for name, tuning in TUNINGS.items()
}
"""The variants by name: (x0, sigma0, seed) → contender."""
