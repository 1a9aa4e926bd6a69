"""Optimizers of other libraries behind one small interface, told ranks only.

Guests come from libraries that no extra of zorank brings along; `pip install nevergrad pypop7`
does. nevergrad's NGOpt is not among them: it fits models to values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from zorank import optimizers, rng
from zorank.errors import MissingExtra
from zorank.optimizers.cma_es import load_pycma
from zorank.types import Vector


class Contender(Protocol):
    """Something that asks about candidates and is told their ranks."""

    def ask(self) -> Vector:
        """The next candidates, one a row."""
        ...

    def tell(self, values: Vector) -> None:
        """Their values, of which only the order may be used."""
        ...


@dataclass
class Ours:
    """An optimizer of zorank."""

    name: str
    options: dict[str, Any]
    x0: Vector
    seed: int

    def __post_init__(self) -> None:
        self._optimizer = optimizers.make(self.name, self.options)
        self._state = self._optimizer.init(self.x0)
        self._rounds = 0

    def ask(self) -> Vector:
        """The next slate."""
        self._slate = self._optimizer.ask(self._state, rng.for_round(self.seed, self._rounds))
        return np.asarray(self._slate)

    def tell(self, values: Vector) -> None:
        """Its answer."""
        answer = self._slate.answer_from(values)
        self._state = self._optimizer.tell(self._state, self._slate, answer)
        self._rounds += 1


@dataclass
class Pycma:
    """pycma at its defaults, but for the options given."""

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
        """A population."""
        self._population = self._strategy.ask()
        return np.array(self._population)

    def tell(self, values: Vector) -> None:
        """Its ranks."""
        self._strategy.tell(self._population, ranks(values).tolist())


@dataclass
class Cmaes:
    """The package cmaes: its CMA, or its SepCMA."""

    kind: str
    x0: Vector
    sigma0: float
    seed: int

    def __post_init__(self) -> None:
        make = getattr(load_cmaes(), self.kind)
        self._strategy = make(mean=self.x0.copy(), sigma=self.sigma0, seed=self.seed)

    def ask(self) -> Vector:
        """A population."""
        size = self._strategy.population_size
        self._population = np.array([self._strategy.ask() for _ in range(size)])
        return self._population

    def tell(self, values: Vector) -> None:
        """Its ranks."""
        self._strategy.tell(list(zip(self._population, ranks(values).tolist(), strict=True)))


@dataclass
class Nevergrad:
    """An optimizer of nevergrad that asks about one candidate at a time.

    It compares candidates of different rounds, so ranks within a round cannot be told. It is told
    values; that it uses nothing but their order is what a test says.
    """

    kind: str
    x0: Vector
    sigma0: float
    seed: int

    def __post_init__(self) -> None:
        nevergrad = load_guest("nevergrad")
        space = nevergrad.p.Array(init=self.x0).set_mutation(sigma=self.sigma0)
        space.random_state.seed(self.seed)
        self._strategy = nevergrad.optimizers.registry[self.kind](parametrization=space)

    def ask(self) -> Vector:
        """One candidate."""
        self._candidate = self._strategy.ask()
        return np.array([self._candidate.value])

    def tell(self, values: Vector) -> None:
        """Its value."""
        self._strategy.tell(self._candidate, float(values[0]))


@dataclass
class LimitedMemory:
    """LM-MA-ES (Loshchilov, Glasmachers & Beyer, 2019), the one of pypop7."""

    x0: Vector
    sigma0: float
    seed: int

    def __post_init__(self) -> None:
        self._rows: list[Vector] = []
        anywhere = np.full(self.x0.size, np.inf)
        self._strategy = load_guest("pypop7.optimizers.es.lmmaes").LMMAES(
            {
                "fitness_function": self._note,
                "ndim_problem": self.x0.size,
                "lower_boundary": -anywhere,
                "upper_boundary": anywhere,
            },
            {"mean": self.x0.copy(), "sigma": self.sigma0, "seed_rng": self.seed, "verbose": 0},
        )
        self._strategy.start_time = 0.0  # as its own loop would, which is not used
        self._z, self._d, self._mean, self._s, self._tm, self._y = self._strategy.initialize()

    def _note(self, x: Vector) -> float:
        """It has no ask: its candidates are those it wants a value of."""
        self._rows.append(np.array(x))
        return 0.0

    def ask(self) -> Vector:
        """A population."""
        self._rows.clear()
        self._strategy.iterate(self._z, self._d, self._mean, self._tm, self._y)
        return np.array(self._rows)

    def tell(self, values: Vector) -> None:
        """Its ranks."""
        strategy = self._strategy
        strategy._n_generations += 1
        self._mean, self._s, self._tm = strategy._update_distribution(
            self._z, self._d, self._mean, self._s, self._tm, ranks(values)
        )


def load_guest(module: str, extra: str | None = None) -> Any:
    """A module of a guest's library; an error that says what to install if it is not there."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        library = module.partition(".")[0]
        raise MissingExtra("this comparison", library, extra) from error


def load_cmaes() -> Any:
    """The package cmaes; an error that says what to install if it is not there."""
    try:
        import cmaes
    except ModuleNotFoundError as error:
        raise MissingExtra("the comparison with CMA-ES", "cmaes", "experiments") from error
    return cmaes


def ranks(values: Vector) -> Vector:
    """The place of every value: 0 for the lowest."""
    return np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(np.float64)


def _pycma(**options: Any) -> Callable[[Vector, float, int], Contender]:
    return lambda x0, sigma0, seed: Pycma(x0, sigma0, seed, options)


PEERS: dict[str, Callable[[Vector, float, int], Contender]] = {
    "auto": lambda x0, sigma0, seed: Ours("auto", {"sigma0": sigma0}, x0, seed),
    "pycma": _pycma(),
    "pycma diagonal": _pycma(CMA_diagonal=True),
    "pycma VkD": _pycma(vkd=True),
    "cmaes CMA": lambda x0, sigma0, seed: Cmaes("CMA", x0, sigma0, seed),
    "cmaes SepCMA": lambda x0, sigma0, seed: Cmaes("SepCMA", x0, sigma0, seed),
}
"""Who takes part, by name: (x0, sigma0, seed) → contender, at documented defaults."""


def _nevergrad(kind: str) -> Callable[[Vector, float, int], Contender]:
    return lambda x0, sigma0, seed: Nevergrad(kind, x0, sigma0, seed)


GUESTS: dict[str, Callable[[Vector, float, int], Contender]] = {
    "nevergrad OnePlusOne": _nevergrad("OnePlusOne"),
    "nevergrad CMA": _nevergrad("CMA"),
    "nevergrad DE": _nevergrad("DE"),
    "pypop7 LM-MA-ES": LimitedMemory,
}
"""Who takes part only when asked to by name, in the same way."""
