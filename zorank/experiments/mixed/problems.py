"""Test problems with real, whole and categorical parameters.

Each seed is another instance: the optimum is at a random place, so that no method gains from
where it starts. All are deterministic; smaller is better. The minimum is 0 except for
contamination, whose minimum is not known.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from zorank.spaces import Choice, Float, Int, Log, Parameter
from zorank.types import Vector

Params: TypeAlias = Mapping[str, Any]
Objective: TypeAlias = Callable[[Params], float]


def _floats(n: int, low: float, high: float) -> dict[str, Parameter]:
    return {f"x{i}": Float(low, high) for i in range(n)}


def _ints(n: int, low: int, high: int) -> dict[str, Parameter]:
    return {f"n{i}": Int(low, high) for i in range(n)}


def _choices(n: int, options: int) -> dict[str, Parameter]:
    return {f"c{i}": Choice([f"option {j}" for j in range(options)]) for i in range(n)}


def _option(params: Params, i: int) -> int:
    return int(str(params[f"c{i}"]).split()[-1])


def _numbers(params: Params) -> Vector:
    return np.array([value for name, value in params.items() if name[0] in "xn"], dtype=float)


def _target(seed: int, floats: int, reach: float, ints: int = 0, whole: int = 0) -> Vector:
    """Return a random optimum: real coordinates, then whole ones."""
    rng = np.random.default_rng([seed, 1])
    real = rng.uniform(-reach, reach, floats)
    return np.concatenate([real, rng.integers(-whole, whole, ints, endpoint=True)])


def sphere_int(seed: int) -> Objective:
    """A sphere over five real and five whole numbers."""
    target = _target(seed, 5, 4, 5, 8)
    return lambda params: float(((_numbers(params) - target) ** 2).sum())


def ellipsoid_int(seed: int) -> Objective:
    """An ellipsoid of condition 10⁴, whose axes are in random order."""
    target = _target(seed, 5, 4, 5, 8)
    scales = np.random.default_rng([seed, 2]).permutation(10 ** np.linspace(0, 4, 10))
    return lambda params: float((scales * (_numbers(params) - target) ** 2).sum())


def rotated_int(seed: int) -> Objective:
    """A rotated ellipsoid of condition 100 over six real and four whole numbers."""
    target = _target(seed, 6, 4, 4, 15)
    rotation, _ = np.linalg.qr(np.random.default_rng([seed, 3]).standard_normal((10, 10)))
    scales = 10 ** np.linspace(0, 2, 10)

    def f(params: Params) -> float:
        return float((scales * (rotation @ (_numbers(params) - target)) ** 2).sum())

    return f


def onemax_sphere(seed: int) -> Objective:
    """OneMax: each of ten bits counts by itself; and a sphere over five real numbers."""
    target = _target(seed, 5, 4)
    bits = np.random.default_rng([seed, 4]).integers(0, 2, 10)

    def f(params: Params) -> float:
        numbers = _numbers(params)
        return float(((numbers[:5] - target) ** 2).sum() + (numbers[5:] != bits).sum())

    return f


def leading_ones(seed: int) -> Objective:
    """Leading ones: only the right choices before the first wrong one count; and a sphere."""
    rng = np.random.default_rng([seed, 5])
    target, order, wanted = _target(seed, 4, 4), rng.permutation(8), rng.integers(0, 2, 8)

    def f(params: Params) -> float:
        right = (_option(params, i) == wanted[i] for i in order)
        leading = sum(itertools.takewhile(bool, right))
        return float(((_numbers(params) - target) ** 2).sum() + 8 - leading)

    return f


def rosenbrock_int(seed: int) -> Objective:
    """Rosenbrock's valley over three real and three whole numbers, at a shifted place."""
    rng = np.random.default_rng([seed, 6])
    shift = np.concatenate([rng.uniform(-1, 1, 3), rng.integers(-2, 2, 3, endpoint=True)])
    order = rng.permutation(6)

    def f(params: Params) -> float:
        x = (_numbers(params) - shift)[order]
        return float((100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum())

    return f


def rastrigin_int(seed: int) -> Objective:
    """Rastrigin's function over four real and four whole numbers."""
    target = _target(seed, 4, 3, 4, 3)

    def f(params: Params) -> float:
        x = _numbers(params) - target
        return float((x**2 + 10 * (1 - np.cos(2 * math.pi * x))).sum())

    return f


def shifted_choices(seed: int) -> Objective:
    """Four choices of four, each of which moves the optimum of one real number."""
    rng = np.random.default_rng([seed, 7])
    costs, targets = rng.uniform(0.2, 2, (4, 4)), rng.uniform(-4, 4, (4, 4))
    costs[np.arange(4), rng.integers(0, 4, 4)] = 0

    def f(params: Params) -> float:
        chosen = [_option(params, i) for i in range(4)]
        off = _numbers(params) - targets[np.arange(4), chosen]
        return float((off**2).sum() + costs[np.arange(4), chosen].sum())

    return f


def contamination(seed: int) -> Objective:
    """Choose a treatment at each of ten stages of a chain, their temperature and duration.

    After the contamination control problem (Hu et al., 2010), with more than two treatments and
    with fixed random numbers.
    """
    rng = np.random.default_rng([seed, 8])
    growth = rng.beta(1, 17 / 3, (10, 50))
    effect = np.stack([np.zeros((10, 50)), rng.beta(1, 3 / 7, (10, 50)), rng.beta(2, 2, (10, 50))])
    costs = np.stack([np.zeros(10), rng.uniform(0.15, 0.4, 10), rng.uniform(0.05, 0.2, 10)])
    best_heat, best_time = rng.uniform(0.2, 0.8, 2)

    def f(params: Params) -> float:
        strength = math.exp(-2 * (params["x0"] - best_heat) ** 2)
        strength *= math.exp(-2 * (params["x1"] - best_time) ** 2)
        share, cost = np.full(50, 0.05), 0.2 * (params["x0"] + params["x1"])
        for i in range(10):
            chosen = _option(params, i)
            kept = 1 - strength * effect[chosen, i]
            share = growth[i] * (1 - share) * kept + kept * share
            cost += costs[chosen, i] + max(0.0, float((share > 0.1).mean()) - 0.05)
        return float(cost)

    return f


TABLE = {"n0": 5, "n1": 6, "c0": 5, "c1": 3, "c2": 4, "c3": 4}


@cache
def _table(seed: int) -> dict[tuple[int, ...], float]:
    """Return a loss for each of 7,200 networks: main effects, smooth in n, and interactions."""
    rng = np.random.default_rng([seed, 9])
    sizes = list(TABLE.values())
    loss = np.zeros(sizes)
    for axis, (name, size) in enumerate(TABLE.items()):
        shape = [size if i == axis else 1 for i in range(6)]
        curve = 0.12 * (np.arange(size) - rng.uniform(0, size - 1)) ** 2
        loss = loss + (curve if name[0] == "n" else rng.normal(0, 0.6, size)).reshape(shape)
    for a, b in itertools.combinations(range(6), 2):
        shape = [size if i in (a, b) else 1 for i, size in enumerate(sizes)]
        loss = loss + rng.normal(0, 0.25, shape)
    loss = loss - loss.min()
    return {index: float(loss[index]) for index in np.ndindex(*sizes)}


def network_table(seed: int) -> Objective:
    """A table of losses of networks, with interactions of all pairs of parameters."""
    table = _table(seed)

    def f(params: Params) -> float:
        chosen = (params["n0"], params["n1"], *(_option(params, i) for i in range(4)))
        return table[chosen]

    return f


def training_response(seed: int) -> Objective:
    """A response surface of training: the best learning rate depends on all other parameters."""
    rng = np.random.default_rng([seed, 10])
    base = dict(zip(("relu", "gelu", "tanh"), rng.permutation(3) * 0.15, strict=True))
    shift = dict(zip(base, rng.normal(0, 0.4, 3), strict=True))
    depth, rate, decay, momentum = (
        rng.integers(2, 8),
        rng.uniform(-3.5, -2),
        rng.uniform(-5, -2),
        rng.uniform(0.6, 0.95),
    )

    def f(params: Params) -> float:
        off = math.log10(params["lr"]) - rate - shift[params["act"]]
        off += 0.15 * (params["layers"] - depth) - 0.3 * (params["batch"] - 6)
        off += math.log10((1 - params["momentum"]) / (1 - momentum)) * -1.0
        slope = 1.5 if off > 0 else 0.5  # too large a rate hurts more
        loss = base[params["act"]] + 0.04 * (params["layers"] - depth) ** 2 + slope * off**2
        loss += 0.1 * (math.log10(params["decay"]) - decay) ** 2
        return float(loss + 0.05 * abs(params["batch"] - 6) + (params["momentum"] - momentum) ** 2)

    return f


PROBLEMS: dict[str, tuple[dict[str, Parameter], Callable[[int], Objective]]] = {
    "sphere-int": ({**_floats(5, -5, 5), **_ints(5, -10, 10)}, sphere_int),
    "ellipsoid-int": ({**_floats(5, -5, 5), **_ints(5, -10, 10)}, ellipsoid_int),
    "rotated-int": ({**_floats(6, -5, 5), **_ints(4, -20, 20)}, rotated_int),
    "onemax-sphere": ({**_floats(5, -5, 5), **_ints(10, 0, 1)}, onemax_sphere),
    "leading-ones": ({**_floats(4, -5, 5), **_choices(8, 2)}, leading_ones),
    "rosenbrock-int": ({**_floats(3, -2.5, 2.5), **_ints(3, -4, 4)}, rosenbrock_int),
    "rastrigin-int": ({**_floats(4, -5, 5), **_ints(4, -5, 5)}, rastrigin_int),
    "shifted-choices": ({**_floats(4, -5, 5), **_choices(4, 4)}, shifted_choices),
    "contamination": ({**_floats(2, 0, 1), **_choices(10, 3)}, contamination),
    "network-table": (
        {
            name: Int(0, size - 1)
            if name[0] == "n"
            else Choice([f"option {j}" for j in range(size)])
            for name, size in TABLE.items()
        },
        network_table,
    ),
    "training": (
        {
            "lr": Log(1e-6, 1),
            "layers": Int(1, 10),
            "act": Choice(["relu", "gelu", "tanh"]),
            "momentum": Float(0, 0.99),
            "decay": Log(1e-8, 1e-1),
            "batch": Int(3, 10),
        },
        training_response,
    ),
}
"""The problems by name: the space, and the objective of a seed."""
