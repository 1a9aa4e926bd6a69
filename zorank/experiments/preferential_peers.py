"""Preferential Bayesian optimisation of other libraries, as optimizers: BoTorch's, Optuna's.

Both search a box and are told full rankings. They are used as their documentation shows, with
settings from there; their random draws follow the round's generator. Models are changed in place,
so these are not pure. `pip install 'zorank[peers]'` brings both libraries.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from zorank.errors import InvalidInput
from zorank.experiments.baselines import uniform_slate
from zorank.experiments.peers import load_guest
from zorank.slates import Points, Slate
from zorank.types import Answer, Ranking, Vector

Pair = tuple[int, int]
"""The better and the worse of two."""


@dataclass(frozen=True, eq=False)
class Heard:
    """All points shown, (n, d), all pairs of them that were ordered, and the model of both."""

    points: Vector
    pairs: tuple[Pair, ...] = ()
    best: int = 0
    model: Any = None


@dataclass(frozen=True, kw_only=True)
class QEUBO:
    """BoTorch's qEUBO (Astudillo et al., 2023) on its PairwiseGP, fitted by Laplace's evidence.

    A slate is the incumbent, which has the highest posterior mean of all points shown, and the
    m − 1 points that together with it have the highest expected utility of the best.

    Attributes:
        m: candidates of a slate.
        bounds: of every coordinate.
        restarts: local searches of the acquisition function.
        raw_samples: random slates that these are begun from.
        scaled_prior: whether lengthscales are expected to grow with √d (Hvarfner et al., 2024), as
            in BoTorch's other models, instead of PairwiseGP's prior, which is the same for all d.
    """

    name: ClassVar[str] = "qEUBO"
    revision: ClassVar[int] = 1

    m: int = 6
    bounds: tuple[float, float] = (-3.0, 3.0)
    restarts: int = 4
    raw_samples: int = 64
    scaled_prior: bool = True

    def init(self, x0: Vector) -> Heard:
        """Nothing was shown yet."""
        _load("botorch.models.pairwise_gp")  # a missing library is told at once
        return Heard(np.zeros((0, x0.size)))

    def ask(self, state: Heard, rng: np.random.Generator) -> Slate:
        """Uniform points, or the incumbent and what qEUBO adds to it."""
        dim = state.points.shape[1]
        if state.model is None:
            return uniform_slate(self.m, dim, self.bounds, rng)
        torch = _load("torch")
        preference = _load("botorch.acquisition.preference")
        optim = _load("botorch.optim")
        incumbent = state.points[state.best]
        with _quiet(int(rng.integers(2**31))):
            acquisition = preference.qExpectedUtilityOfBestOption(
                pref_model=state.model, X_pending=torch.from_numpy(self._unit(incumbent[None]))
            )
            found, _ = optim.optimize_acqf(
                acquisition,
                bounds=torch.tensor([[0.0] * dim, [1.0] * dim], dtype=torch.float64),
                q=self.m - 1,
                num_restarts=self.restarts,
                raw_samples=self.raw_samples,
            )
        lower, upper = self.bounds
        fresh = lower + (upper - lower) * found.detach().numpy()
        return Slate(Points(np.vstack([incumbent[None], fresh])))

    def tell(self, state: Heard, slate: Slate, answer: Answer) -> Heard:
        """Add all pairs of the ranking, and fit the model anew."""
        shown, points, places = np.asarray(slate), list(state.points), []
        for x in shown:
            known = [i for i, y in enumerate(points) if np.array_equal(x, y)]
            places.append(known[0] if known else len(points))
            if not known:
                points.append(x)
        pairs = (*state.pairs, *((places[i], places[j]) for i, j in all_pairs(answer, len(shown))))
        heard = replace(state, points=np.array(points), pairs=pairs)
        return self._fitted(heard) if pairs else heard

    def best(self, state: Heard) -> Vector:
        """The point of the highest posterior mean among those shown."""
        return state.points[state.best] if len(state.points) else np.zeros(state.points.shape[1])

    def report(self, state: Heard) -> dict[str, float]:
        """Nothing beside the best."""
        return {}

    def _fitted(self, state: Heard) -> Heard:
        torch = _load("torch")
        models = _load("botorch.models.pairwise_gp")
        fit = _load("botorch.fit")
        with _quiet(len(state.pairs)):
            points = torch.from_numpy(self._unit(state.points))
            kernel = _scaled_kernel(points.shape[1]) if self.scaled_prior else None
            model = models.PairwiseGP(points, torch.tensor(state.pairs), covar_module=kernel)
            evidence = models.PairwiseLaplaceMarginalLogLikelihood(model.likelihood, model)
            fit.fit_gpytorch_mll(evidence)
            with torch.no_grad():
                mean = model.posterior(points).mean.numpy()[:, 0]
        return replace(state, best=int(np.argmax(mean)), model=model)

    def _unit(self, x: Vector) -> Vector:
        lower, upper = self.bounds
        return (x - lower) / (upper - lower)


def _scaled_kernel(dim: int) -> Any:
    """PairwiseGP's own scale around the kernel that BoTorch's other models use."""
    modules, priors = _load("botorch.models.utils.gpytorch_modules"), _load("gpytorch.priors")
    return _load("gpytorch.kernels").ScaleKernel(
        modules.get_covar_module_with_dim_scaled_prior(ard_num_dims=dim),
        outputscale_prior=priors.SmoothedBoxPrior(a=1e-2, b=1e2),
        outputscale_constraint=_load("gpytorch.constraints").Interval(
            lower_bound=0.5e-2, upper_bound=2e2, initial_value=1.0
        ),
    )


@dataclass(frozen=True, eq=False)
class Studied:
    """A study of optuna-dashboard, its trials by number, and the best so far."""

    study: Any
    dim: int
    shown: tuple[int, ...] = ()
    best: Vector | None = None


@dataclass(frozen=True, kw_only=True)
class OptunaPreferential:
    """PreferentialGPSampler of optuna-dashboard (Takeno et al., 2023): the winner and m − 1 new.

    Attributes:
        m: candidates of a slate: trials that are kept active.
        bounds: of every coordinate.
    """

    name: ClassVar[str] = "optuna"
    revision: ClassVar[int] = 1

    m: int = 6
    bounds: tuple[float, float] = (-3.0, 3.0)

    def init(self, x0: Vector) -> Studied:
        """An empty study."""
        preferential = _load("optuna_dashboard.preferential")
        samplers = _load("optuna_dashboard.preferential.samplers.gp")
        _load("optuna.logging").set_verbosity(40)  # errors only
        seed = int(np.abs(x0[0]) * 1e6) % 2**31  # x0 is drawn by the seed of the session
        with _quiet(seed):
            sampler = samplers.PreferentialGPSampler(seed=seed)
            study = preferential.create_study(n_generate=self.m, sampler=sampler)
        return Studied(study, x0.size)

    def ask(self, state: Studied, rng: np.random.Generator) -> Slate:
        """As many new trials as the study wants, beside those that never lost."""
        lower, upper = self.bounds
        names = [f"x{i}" for i in range(state.dim)]
        if not state.study.trials:
            for row in np.asarray(uniform_slate(self.m, state.dim, self.bounds, rng)).tolist():
                state.study.enqueue_trial(dict(zip(names, row, strict=True)))
        with _quiet(int(rng.integers(2**31))):
            new = self._missing(state)
            for _ in range(new):
                trial = state.study.ask()
                for name in names:
                    trial.suggest_float(name, lower, upper)
        active = self._active(state)
        return Slate(Points(np.array([self._point(state, n) for n in active])))

    def tell(self, state: Studied, slate: Slate, answer: Answer) -> Studied:
        """Report every pair of the ranking."""
        active, trials = self._active(state), state.study.trials
        for i, j in all_pairs(answer, len(active)):
            state.study.report_preference(trials[active[i]], trials[active[j]])
        levels = _levels(answer, len(active))
        return replace(state, best=slate[int(np.argmin(levels))])

    def best(self, state: Studied) -> Vector:
        """The winner of the last slate, on which the earlier winner was."""
        return np.zeros(state.dim) if state.best is None else state.best

    def report(self, state: Studied) -> dict[str, float]:
        """Nothing beside the best."""
        return {}

    def _active(self, state: Studied) -> list[int]:
        """The trials that never lost."""
        lost = {worse.number for _, worse in state.study.get_preferences(deepcopy=False)}
        return [trial.number for trial in state.study.trials if trial.number not in lost]

    def _missing(self, state: Studied) -> int:
        waiting = [t for t in state.study.trials if t.state.name == "WAITING"]
        return self.m - len(self._active(state)) + len(waiting)

    def _point(self, state: Studied, number: int) -> Vector:
        params = state.study.trials[number].params
        return np.array([params[f"x{i}"] for i in range(state.dim)])


def all_pairs(answer: Answer, m: int) -> list[Pair]:
    """Every (better, worse) that a ranking of m says."""
    levels = _levels(answer, m)
    spoken = [i for i in range(m) if levels[i] >= 0]
    return [(i, j) for i in spoken for j in spoken if levels[i] < levels[j]]


def _levels(answer: Answer, m: int) -> Vector:
    if not isinstance(answer, Ranking):
        raise InvalidInput(f"this method asks for rankings, found {type(answer).__name__}")
    return np.asarray(answer.levels(m), dtype=np.float64)


def _load(module: str) -> Any:
    """A module of these libraries, which use deprecated parts of torch when they are imported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return load_guest(module, "peers")


@contextmanager
def _quiet(seed: int) -> Iterator[None]:
    """One thread, draws from this seed, and no warnings of what these libraries retry.

    BoTorch draws from torch's and NumPy's global generators, which are left as they were.
    """
    torch = _load("torch")
    kinds = _load("botorch.exceptions.warnings")
    numerical = _load("linear_operator.utils.warnings")
    threads, drawn = torch.get_num_threads(), np.random.get_state()  # noqa: NPY002
    torch.set_num_threads(1)
    try:
        with warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
            for kind in (kinds.BotorchWarning, numerical.NumericalWarning):
                warnings.simplefilter("ignore", kind)
            torch.manual_seed(seed)
            np.random.seed(seed)  # noqa: NPY002
            yield
    finally:
        torch.set_num_threads(threads)
        np.random.set_state(drawn)  # noqa: NPY002
