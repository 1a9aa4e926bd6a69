"""Optimizers of other libraries behind one interface, with ranks only.

Some need libraries that are in no extra of zorank: `pip install nevergrad pypop7`. The NGOpt of
nevergrad is not included, because it fits models to values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from zorank import optimizers, rng
from zorank.errors import required_by
from zorank.experiments.lm_ma_es import LMMAES
from zorank.optimizers.auto import Auto
from zorank.optimizers.auto_search import AutoSearch
from zorank.optimizers.cma_es import load_pycma
from zorank.protocols import AnyOptimizer
from zorank.types import Vector


def revision_of(peer: str) -> int:
    """Return the revision of an optimizer of zorank; 0 for one of another library.

    A name may be followed by a colon and how it differs from the defaults.
    """
    name = peer.partition(":")[0]
    return optimizers.REGISTRY[name].revision if name in optimizers.REGISTRY else 0


class Contender(Protocol):
    """An optimizer that asks for the ranks of candidates."""

    def ask(self) -> Vector:
        """Return the next candidates, (n, d)."""
        ...

    def tell(self, values: Vector) -> None:
        """Receive the values of the candidates; only their order may be used."""
        ...


@dataclass
class Ours:
    """An optimizer of zorank, or auto with other constants."""

    optimizer: AnyOptimizer | AutoSearch
    x0: Vector
    seed: int

    def __post_init__(self) -> None:
        self._state = self.optimizer.init(self.x0)
        self._rounds = 0

    def ask(self) -> Vector:
        """Return the next slate."""
        self._slate = self.optimizer.ask(self._state, rng.for_round(self.seed, self._rounds))
        return np.asarray(self._slate)

    def tell(self, values: Vector) -> None:
        """Answer the slate."""
        answer = self._slate.answer_from(values)
        self._state = self.optimizer.tell(self._state, self._slate, answer)
        self._rounds += 1


@dataclass
class Pycma:
    """pycma with its defaults, except for the given options."""

    x0: Vector
    sigma0: float
    seed: int
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        cma = load_pycma()
        options = {"verbose": -9, "verb_log": 0, "seed": self.seed + 1, **self.options}
        if options.pop("vkd", False):
            options = cma.restricted_gaussian_sampler.GaussVkDSampler.extend_cma_options(options)
        self._strategy = cma.CMAEvolutionStrategy(self.x0, self.sigma0, options)

    def ask(self) -> Vector:
        """Return a population."""
        self._population = self._strategy.ask()
        return np.array(self._population)

    def tell(self, values: Vector) -> None:
        """Pass the ranks on."""
        self._strategy.tell(self._population, ranks(values).tolist())


@dataclass
class PycmaRestarts:
    """pycma with the restarts of its `fmin2`, IPOP or BIPOP (Hansen, 2009), at x0.

    Its criteria of convergence need values; the search itself uses only their order.
    """

    x0: Vector
    sigma0: float
    seed: int
    bipop: bool

    def __post_init__(self) -> None:
        self._draws = np.random.default_rng(self.seed)
        self._doublings, self._seen = 0, 0
        self._spent = {"small": 0, "large": 0}
        self._start("small", 1.0, {})
        self._popsize = int(self._search._strategy.popsize)

    def ask(self) -> Vector:
        """Return a population."""
        return self._search.ask()

    def tell(self, values: Vector) -> None:
        """Pass the values on; restart if the search has converged."""
        strategy = self._search._strategy
        strategy.tell(self._search._population, values.tolist())
        self._seen += len(values)
        self._spent[self._regime] += len(values)
        if not strategy.stop():
            return
        if self.bipop and self._spent["small"] < self._spent["large"]:
            ratio = 2 ** (self._doublings * self._draws.random() ** 2)
            size = int(self._popsize * ratio)
            limits = {"popsize": size, "maxiter": max(1, self._spent["large"] // (2 * size))}
            self._start("small", 0.01 ** self._draws.random(), limits)
        else:
            self._doublings += 1
            self._start("large", 1.0, {"popsize": self._popsize * 2**self._doublings})

    def _start(self, regime: str, scale: float, options: dict[str, Any]) -> None:
        """Begin a search at x0."""
        self._regime = regime
        self._search = Pycma(self.x0, scale * self.sigma0, self.seed + self._seen, options)


@dataclass
class Cmaes:
    """The CMA or SepCMA of the package cmaes."""

    kind: str
    x0: Vector
    sigma0: float
    seed: int
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        make = getattr(load_cmaes(), self.kind)
        start: dict[str, Any] = {"mean": self.x0.copy(), "sigma": self.sigma0, "seed": self.seed}
        self._strategy = make(**start, **self.options)

    def ask(self) -> Vector:
        """Return a population."""
        size = self._strategy.population_size
        self._population = np.array([self._strategy.ask() for _ in range(size)])
        return self._population

    def tell(self, values: Vector) -> None:
        """Pass the ranks on."""
        self._strategy.tell(list(zip(self._population, ranks(values).tolist(), strict=True)))


@dataclass
class Nevergrad:
    """An optimizer of nevergrad, which asks for one candidate at a time.

    It compares candidates of different rounds, so it receives values instead of ranks within a
    round. A test checks that it uses only their order.
    """

    kind: str
    x0: Vector
    sigma0: float
    seed: int

    def __post_init__(self) -> None:
        nevergrad = load_peer("nevergrad")
        space = nevergrad.p.Array(init=self.x0).set_mutation(sigma=self.sigma0)
        space.random_state.seed(self.seed)
        self._strategy = nevergrad.optimizers.registry[self.kind](parametrization=space)

    def ask(self) -> Vector:
        """Return one candidate."""
        self._candidate = self._strategy.ask()
        return np.array([self._candidate.value])

    def tell(self, values: Vector) -> None:
        """Pass the value on."""
        self._strategy.tell(self._candidate, float(values[0]))


@dataclass
class LimitedMemory:
    """LM-MA-ES (Loshchilov, Glasmachers & Beyer, 2019) of pypop7."""

    x0: Vector
    sigma0: float
    seed: int

    def __post_init__(self) -> None:
        self._rows: list[Vector] = []
        anywhere = np.full(self.x0.size, np.inf)
        self._strategy = load_peer("pypop7.optimizers.es.lmmaes").LMMAES(
            {
                "fitness_function": self._record,
                "ndim_problem": self.x0.size,
                "lower_boundary": -anywhere,
                "upper_boundary": anywhere,
            },
            {"mean": self.x0.copy(), "sigma": self.sigma0, "seed_rng": self.seed, "verbose": 0},
        )
        self._strategy.start_time = 0.0  # its own loop, which is not used, would set this
        self._z, self._d, self._mean, self._s, self._tm, self._y = self._strategy.initialize()

    def _record(self, x: Vector) -> float:
        """Record a candidate; pypop7 has no ask, it only calls this function."""
        self._rows.append(np.array(x))
        return 0.0

    def ask(self) -> Vector:
        """Return a population."""
        self._rows.clear()
        self._strategy.iterate(self._z, self._d, self._mean, self._tm, self._y)
        return np.array(self._rows)

    def tell(self, values: Vector) -> None:
        """Pass the ranks on."""
        strategy = self._strategy
        strategy._n_generations += 1
        self._mean, self._s, self._tm = strategy._update_distribution(
            self._z, self._d, self._mean, self._s, self._tm, ranks(values)
        )


def load_peer(module: str, extra: str | None = None) -> Any:
    """Import a module, or raise an error that says what to install."""
    with required_by("this comparison", module.partition(".")[0], extra):
        return import_module(module)


def load_cmaes() -> Any:
    """Import the package cmaes, or raise an error that says what to install."""
    with required_by("the comparison with CMA-ES", "cmaes", "experiments"):
        import cmaes
    return cmaes


def ranks(values: Vector) -> Vector:
    """Return the rank of every value: 0 for the lowest."""
    return np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(np.float64)


def _pycma(**options: Any) -> Callable[[Vector, float, int], Contender]:
    return lambda x0, sigma0, seed: Pycma(x0, sigma0, seed, options)


PEERS: dict[str, Callable[[Vector, float, int], Contender]] = {
    "auto": lambda x0, sigma0, seed: Ours(Auto(sigma0=sigma0), x0, seed),
    "pycma": _pycma(),
    "pycma diagonal": _pycma(CMA_diagonal=True),
    "pycma VkD": _pycma(vkd=True),
    "cmaes CMA": lambda x0, sigma0, seed: Cmaes("CMA", x0, sigma0, seed),
    "cmaes SepCMA": lambda x0, sigma0, seed: Cmaes("SepCMA", x0, sigma0, seed),
}
"""The default peers, by name: (x0, sigma0, seed) → contender, with documented defaults."""


def _nevergrad(kind: str) -> Callable[[Vector, float, int], Contender]:
    return lambda x0, sigma0, seed: Nevergrad(kind, x0, sigma0, seed)


LARGE: dict[str, Callable[[Vector, float, int], Contender]] = {
    **{name: PEERS[name] for name in ("auto", "pycma VkD", "cmaes SepCMA")},
    "LM-MA-ES": LMMAES,
}
"""Peers whose time and memory grow linearly with d, in the same form."""

OPTIONAL_PEERS: dict[str, Callable[[Vector, float, int], Contender]] = {
    "pycma IPOP": lambda x0, sigma0, seed: PycmaRestarts(x0, sigma0, seed, bipop=False),
    "pycma BIPOP": lambda x0, sigma0, seed: PycmaRestarts(x0, sigma0, seed, bipop=True),
    "cmaes LRA": lambda x0, sigma0, seed: Cmaes("CMA", x0, sigma0, seed, {"lr_adapt": True}),
    "nevergrad OnePlusOne": _nevergrad("OnePlusOne"),
    "nevergrad CMA": _nevergrad("CMA"),
    "nevergrad DE": _nevergrad("DE"),
    "pypop7 LM-MA-ES": LimitedMemory,
}
"""Peers that take part only if they are named, in the same form."""
