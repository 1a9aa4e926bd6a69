"""Optimizers of mixed spaces, of zorank and of other libraries, behind one interface.

All search the same unit coordinates with the same σ0 = .3 of the range where they have such a
setting, and otherwise use their documented defaults.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from zorank.experiments.peers import load_cmaes, load_peer
from zorank.run import Run
from zorank.spaces import Choice, Int, SearchSpace
from zorank.types import Vector

Params = dict[str, Any]
SIGMA0 = 0.3


class MixedPeer(Protocol):
    """An optimizer that asks for the values of parameters."""

    def ask(self) -> list[Params]:
        """Return the next parameters to evaluate."""
        ...

    def tell(self, values: list[float]) -> None:
        """Receive their values, in order."""
        ...


@dataclass
class Zorank:
    """A method of zorank, which is told ranks only; its result is that of `minimize`."""

    space: SearchSpace
    seed: int
    budget: int
    method: str = "auto"

    def __post_init__(self) -> None:
        self._run = Run(self.method, space=self.space, seed=self.seed)

    def ask(self) -> list[Params]:
        """Return the candidates of the next slate."""
        self._slate = self._run.ask()
        return [self.space.decode(x) for x in self._slate]

    def tell(self, values: list[float]) -> None:
        """Rank the slate."""
        self._run.tell(self._slate.answer_from(np.array(values)))

    def best(self) -> Params:
        """Return what `minimize` returns as params."""
        return self.space.decode(self._run.best())


@dataclass
class Random:
    """Uniform draws."""

    space: SearchSpace
    seed: int
    budget: int

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)

    def ask(self) -> list[Params]:
        """Return one draw; the largest of uniform coordinates is a uniform choice."""
        return [self.space.decode(self._rng.uniform(size=self.space.dim))]

    def tell(self, values: list[float]) -> None:
        """Ignore the value."""


@dataclass
class MarginCMA:
    """CMA-ES with Margin (Hamano et al., 2022) of cmaes; options are whole numbers to it."""

    space: SearchSpace
    seed: int
    budget: int

    def __post_init__(self) -> None:
        self._sizes = [
            len(p.options) if isinstance(p, Choice) else p.levels if isinstance(p, Int) else 0
            for p in self.space.parameters.values()
        ]
        steps = np.array([1 / (n - 1) if n else 0.0 for n in self._sizes])
        dim = len(self._sizes)
        self._strategy = load_cmaes().CMAwM(
            mean=np.full(dim, 0.5),
            sigma=SIGMA0,
            bounds=np.tile([0.0, 1.0], (dim, 1)),
            steps=steps,
            seed=self.seed,
        )

    def ask(self) -> list[Params]:
        """Return a population."""
        pairs = [self._strategy.ask() for _ in range(self._strategy.population_size)]
        self._told = [told for _, told in pairs]
        return [self._params(evaluated) for evaluated, _ in pairs]

    def tell(self, values: list[float]) -> None:
        """Pass the values on."""
        self._strategy.tell(list(zip(self._told, values, strict=True)))

    def _params(self, x: Vector) -> Params:
        return {
            name: parameter.options[round(u * (n - 1))]
            if isinstance(parameter, Choice)
            else parameter.low + round(u * (n - 1))
            if isinstance(parameter, Int)
            else parameter.decode(np.array([u]))
            for (name, parameter), u, n in zip(
                self.space.parameters.items(), x.tolist(), self._sizes, strict=True
            )
        }


@dataclass
class CategoricalCMA:
    """CatCMA (Hamano et al., 2024), or CatCMA with Margin (2025), of cmaes.

    CatCMA has no whole numbers: it gets them as real numbers that are rounded, and those with two
    values as categories. Without real coordinates it gets one that does nothing.
    """

    space: SearchSpace
    seed: int
    budget: int
    margin: bool = False

    def __post_init__(self) -> None:
        parameters = self.space.parameters
        self._categories = {
            name: p.options if isinstance(p, Choice) else (p.low, p.high)
            for name, p in parameters.items()
            if isinstance(p, Choice) or (isinstance(p, Int) and p.levels == 2)
        }
        rest = {n: p for n, p in parameters.items() if n not in self._categories}
        self._whole = {n: p for n, p in rest.items() if isinstance(p, Int)} if self.margin else {}
        self._real = {n: p for n, p in rest.items() if n not in self._whole}
        sizes = [len(options) for options in self._categories.values()]
        self._strategy = self._margin(sizes) if self.margin else self._plain(sizes)

    def _plain(self, sizes: list[int]) -> Any:
        dim = max(len(self._real), 1)
        bounds = np.tile([0.0, 1.0], (dim, 1))
        start: Any = {"mean": np.full(dim, 0.5), "sigma": SIGMA0, "seed": self.seed}
        if not sizes:
            return load_cmaes().CMA(**start, bounds=bounds)
        return load_cmaes().CatCMA(**start, bounds=bounds, cat_num=np.array(sizes))

    def _margin(self, sizes: list[int]) -> Any:
        given: dict[str, Any] = {}
        if self._real:
            given["x_space"] = [[0.0, 1.0]] * len(self._real)
        if self._whole:
            given["z_space"] = [list(range(p.low, p.high + 1)) for p in self._whole.values()]
        if sizes:
            given["c_space"] = sizes
        return load_cmaes().CatCMAwM(**given, seed=self.seed)

    def ask(self) -> list[Params]:
        """Return a population."""
        size = self._strategy.population_size
        self._told = [self._strategy.ask() for _ in range(size)]
        return [self._params(told) for told in self._told]

    def tell(self, values: list[float]) -> None:
        """Pass the values on."""
        self._strategy.tell(list(zip(self._told, values, strict=True)))

    def _params(self, told: Any) -> Params:
        if self.margin:
            x, z, c = (() if part is None else part for part in (told.x, told.z, told.c))
        else:
            (x, c), z = (told, ()) if self._categories else ((told, ()), ())
        found = {
            n: p.decode(np.array([u])) for (n, p), u in zip(self._real.items(), x, strict=False)
        }
        found |= {n: round(float(v)) for n, v in zip(self._whole, z, strict=False)}
        chosen = [int(np.argmax(row)) for row in c]
        found |= {
            n: options[i]
            for (n, options), i in zip(self._categories.items(), chosen, strict=False)
        }
        return {name: found[name] for name in self.space.parameters}


@dataclass
class Optuna:
    """The default sampler of Optuna, a tree-structured Parzen estimator."""

    space: SearchSpace
    seed: int
    budget: int

    def __post_init__(self) -> None:
        optuna = load_peer("optuna", "peers")
        optuna.logging.set_verbosity(logging.ERROR)
        self._study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=self.seed))

    def ask(self) -> list[Params]:
        """Return one trial's parameters."""
        self._trial = self._study.ask()
        return [{n: self._suggest(n, p) for n, p in self.space.parameters.items()}]

    def _suggest(self, name: str, parameter: Any) -> Any:
        if isinstance(parameter, Choice):
            return self._trial.suggest_categorical(name, parameter.options)
        if isinstance(parameter, Int):
            return self._trial.suggest_int(name, parameter.low, parameter.high)
        log = parameter.kind == "log"
        return self._trial.suggest_float(name, parameter.low, parameter.high, log=log)

    def tell(self, values: list[float]) -> None:
        """Pass the value on."""
        self._study.tell(self._trial, values[0])


@dataclass
class Nevergrad:
    """NGOpt of nevergrad, which chooses its method by the space and the budget."""

    space: SearchSpace
    seed: int
    budget: int

    def __post_init__(self) -> None:
        p = load_peer("nevergrad").p

        def declare(parameter: Any) -> Any:
            if isinstance(parameter, Choice):
                return p.Choice(list(parameter.options))
            if parameter.kind == "log":
                return p.Log(lower=parameter.low, upper=parameter.high)
            scalar = p.Scalar(lower=parameter.low, upper=parameter.high)
            return scalar.set_integer_casting() if isinstance(parameter, Int) else scalar

        named = p.Dict(**{n: declare(q) for n, q in self.space.parameters.items()})
        named.random_state.seed(self.seed)
        make = load_peer("nevergrad").optimizers.registry["NGOpt"]
        self._strategy = make(parametrization=named, budget=self.budget)

    def ask(self) -> list[Params]:
        """Return one candidate."""
        self._candidate = self._strategy.ask()
        return [dict(self._candidate.value)]

    def tell(self, values: list[float]) -> None:
        """Pass the value on."""
        self._strategy.tell(self._candidate, values[0])


OURS = "auto"
PEERS: dict[str, Callable[[SearchSpace, int, int], Any]] = {
    OURS: Zorank,
    "random": Random,
    "CMAwM": MarginCMA,
    "CatCMA": CategoricalCMA,
    "CatCMAwM": lambda space, seed, budget: CategoricalCMA(space, seed, budget, margin=True),
    "TPE": Optuna,
    "NGOpt": Nevergrad,
}
"""The peers by name: (space, seed, budget) → peer."""

DEFAULT = ("auto", "random", "CMAwM", "CatCMA", "CatCMAwM")
"""The peers that need no library outside of zorank's extras."""
