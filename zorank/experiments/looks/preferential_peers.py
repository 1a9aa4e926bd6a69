"""Preferential Bayesian optimisation of BoTorch and Optuna, as optimizers.

Both search a box and receive full rankings. They are used as in their documentation, with its
settings; their random draws are seeded by the round's generator. Their models are modified in
place, so these optimizers are not pure. `pip install 'zorank[peers]'` installs both libraries.
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
from zorank.experiments.peers import load_peer
from zorank.slates import Points, Slate
from zorank.types import Answer, Ranking, Vector

Pair = tuple[int, int]
"""The better and the worse of two points."""


@dataclass(frozen=True, eq=False)
class Comparisons:
    """All points shown, (n, d), all ordered pairs of them, and the model fitted to both."""

    points: Vector
    pairs: tuple[Pair, ...] = ()
    best: int = 0
    model: Any = None


@dataclass(frozen=True, kw_only=True)
class QEUBO:
    """BoTorch's qEUBO (Astudillo et al., 2023) on its PairwiseGP, fitted by the Laplace evidence.

    A slate is the incumbent, which has the highest posterior mean of all points shown, and the
    m − 1 points that together with it have the highest expected utility of the best.

    Attributes:
        m: candidates of a slate.
        bounds: of every coordinate.
        restarts: local searches of the acquisition function.
        raw_samples: random slates that these start from.
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

    def init(self, x0: Vector) -> Comparisons:
        """Return the state before the first slate."""
        _load("botorch.models.pairwise_gp")  # raises now if the library is missing
        return Comparisons(np.zeros((0, x0.size)))

    def ask(self, state: Comparisons, rng: np.random.Generator) -> Slate:
        """Return uniform points first, then the incumbent and the points that qEUBO adds."""
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

    def tell(self, state: Comparisons, slate: Slate, answer: Answer) -> Comparisons:
        """Add all pairs of the ranking, and refit the model."""
        shown, points, places = np.asarray(slate), list(state.points), []
        for x in shown:
            known = [i for i, y in enumerate(points) if np.array_equal(x, y)]
            places.append(known[0] if known else len(points))
            if not known:
                points.append(x)
        pairs = (*state.pairs, *((places[i], places[j]) for i, j in all_pairs(answer, len(shown))))
        known_pairs = replace(state, points=np.array(points), pairs=pairs)
        return self._fitted(known_pairs) if pairs else known_pairs

    def best(self, state: Comparisons) -> Vector:
        """Return the point with the highest posterior mean among those shown."""
        return state.points[state.best] if len(state.points) else np.zeros(state.points.shape[1])

    def report(self, state: Comparisons) -> dict[str, float]:
        """Return no further values."""
        return {}

    def _fitted(self, state: Comparisons) -> Comparisons:
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
    """Return the default kernel of BoTorch's other models, with the output scale of PairwiseGP."""
    modules, priors = _load("botorch.models.utils.gpytorch_modules"), _load("gpytorch.priors")
    return _load("gpytorch.kernels").ScaleKernel(
        modules.get_covar_module_with_dim_scaled_prior(ard_num_dims=dim),
        outputscale_prior=priors.SmoothedBoxPrior(a=1e-2, b=1e2),
        outputscale_constraint=_load("gpytorch.constraints").Interval(
            lower_bound=0.5e-2, upper_bound=2e2, initial_value=1.0
        ),
    )


@dataclass(frozen=True, eq=False)
class OptunaState:
    """A study of optuna-dashboard, its trials by number, and the best so far."""

    study: Any
    dim: int
    shown: tuple[int, ...] = ()
    best: Vector | None = None


@dataclass(frozen=True, kw_only=True)
class OptunaPreferential:
    """PreferentialGPSampler of optuna-dashboard (Takeno et al., 2023): the winner and m − 1 new.

    Attributes:
        m: candidates of a slate, the number of active trials.
        bounds: of every coordinate.
    """

    name: ClassVar[str] = "optuna"
    revision: ClassVar[int] = 1

    m: int = 6
    bounds: tuple[float, float] = (-3.0, 3.0)

    def init(self, x0: Vector) -> OptunaState:
        """Create an empty study."""
        preferential = _load("optuna_dashboard.preferential")
        samplers = _load("optuna_dashboard.preferential.samplers.gp")
        _load("optuna.logging").set_verbosity(40)  # errors only
        seed = int(np.abs(x0[0]) * 1e6) % 2**31  # x0 is drawn by the seed of the session
        with _quiet(seed):
            sampler = samplers.PreferentialGPSampler(seed=seed)
            study = preferential.create_study(n_generate=self.m, sampler=sampler)
        return OptunaState(study, x0.size)

    def ask(self, state: OptunaState, rng: np.random.Generator) -> Slate:
        """Return the trials that never lost, and new ones up to m."""
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

    def tell(self, state: OptunaState, slate: Slate, answer: Answer) -> OptunaState:
        """Report every pair of the ranking."""
        active, trials = self._active(state), state.study.trials
        for i, j in all_pairs(answer, len(active)):
            state.study.report_preference(trials[active[i]], trials[active[j]])
        levels = _levels(answer, len(active))
        return replace(state, best=slate[int(np.argmin(levels))])

    def best(self, state: OptunaState) -> Vector:
        """Return the winner of the last slate, which contained the earlier winner."""
        return np.zeros(state.dim) if state.best is None else state.best

    def report(self, state: OptunaState) -> dict[str, float]:
        """Return no further values."""
        return {}

    def _active(self, state: OptunaState) -> list[int]:
        """Return the trials that never lost."""
        lost = {worse.number for _, worse in state.study.get_preferences(deepcopy=False)}
        return [trial.number for trial in state.study.trials if trial.number not in lost]

    def _missing(self, state: OptunaState) -> int:
        waiting = [t for t in state.study.trials if t.state.name == "WAITING"]
        return self.m - len(self._active(state)) + len(waiting)

    def _point(self, state: OptunaState, number: int) -> Vector:
        params = state.study.trials[number].params
        return np.array([params[f"x{i}"] for i in range(state.dim)])


def all_pairs(answer: Answer, m: int) -> list[Pair]:
    """Return every (better, worse) pair of a ranking of m."""
    levels = _levels(answer, m)
    ranked = [i for i in range(m) if levels[i] >= 0]
    return [(i, j) for i in ranked for j in ranked if levels[i] < levels[j]]


def _levels(answer: Answer, m: int) -> Vector:
    if not isinstance(answer, Ranking):
        raise InvalidInput(f"this method asks for rankings, found {type(answer).__name__}")
    return np.asarray(answer.levels(m), dtype=np.float64)


def _load(module: str) -> Any:
    """Import a module; ignore the deprecation warnings that these libraries cause in torch."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return load_peer(module, "peers")


@contextmanager
def _quiet(seed: int) -> Iterator[None]:
    """Use one thread and this seed, and ignore numerical warnings of attempts that are retried.

    BoTorch draws from the global generators of torch and NumPy, which are restored afterwards.
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
