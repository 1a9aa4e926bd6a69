"""A sampler for Optuna that uses only the order of the trials' values.

study = optuna.create_study(sampler=zorank.integrations.optuna.RankSampler(seed=0))
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank import optimizers
from zorank._arrays import is_whole
from zorank.errors import InvalidInput, required_by, short
from zorank.protocols import AnyOptimizer
from zorank.rng import check_seed

with required_by("RankSampler", "optuna", "optuna"):
    import optuna
    from optuna.samplers import BaseSampler, RandomSampler
    from optuna.search_space import IntersectionSearchSpace
    from optuna.trial import TrialState

from zorank.integrations._optuna_rounds import KEY, Rounds, Search
from zorank.integrations._optuna_space import Coordinates

if TYPE_CHECKING:
    from optuna import Study
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial

__all__ = ["RankSampler"]

SIGMA0 = 0.2
"""The default scale of the search, as a part of each parameter's range."""


class RankSampler(BaseSampler):
    """Samples by a search from ranks; increasing transforms of the objective change nothing.

    Trials are evaluated in rounds of m. With `n_jobs`, or several trials asked for at once, m
    should be at least twice that number: a trial that is asked for while the last trials of a
    round are running is drawn around the best point, and not ranked. Pruned and failed trials are
    ranked last. Parameters that only some trials have are sampled by `independent_sampler`, as
    with Optuna's CmaEsSampler. A study in a database can be continued, also by several processes.

    Args:
        seed: the seed of the search; None draws one, which the study's trials store.
        m: the number of trials in a round; None uses the method's default.
        sigma0: the scale of the search, as a part of each parameter's range.
        x0: parameters to start from; the others start in the middle of their ranges.
        method: a name in `zorank.optimizers.REGISTRY`.
        options: further settings of the method.
        n_startup_trials: the number of completed trials before the search begins.
        independent_sampler: samples what the search does not; by default at random.
        warn_independent_sampling: log a warning once for each such parameter.
    """

    def __init__(
        self,
        *,
        seed: int | None = None,
        m: int | None = None,
        sigma0: float | None = None,
        x0: Mapping[str, Any] | None = None,
        method: str = "auto",
        options: Mapping[str, Any] | None = None,
        n_startup_trials: int = 1,
        independent_sampler: BaseSampler | None = None,
        warn_independent_sampling: bool = True,
    ) -> None:
        if not is_whole(n_startup_trials) or n_startup_trials < 0:
            raise InvalidInput(
                f"n_startup_trials must be a whole number from 0, found {short(n_startup_trials)}"
            )
        if not isinstance(x0, Mapping | None):
            raise InvalidInput(f"x0 must map names to parameters, found {short(x0)}")
        if not isinstance(options, Mapping | None):
            raise InvalidInput(f"options must map names to settings, found {short(options)}")
        if not isinstance(independent_sampler, BaseSampler | None):
            raise InvalidInput(
                f"independent_sampler must be a sampler, found {short(independent_sampler)}"
            )
        self._optimizer = _optimizer(method, dict(options or {}), m, sigma0)
        self._sigma0 = SIGMA0 if sigma0 is None else float(sigma0)
        drawn = np.random.SeedSequence().generate_state(1)[0]
        self._seed = check_seed(int(drawn) if seed is None else seed)
        self._x0 = dict(x0 or {})
        self._startup = int(n_startup_trials)
        random = RandomSampler(seed=None if seed is None else self._seed % 2**32)
        self._independent = independent_sampler or random
        self._warns = bool(warn_independent_sampling)
        self._warned: set[str] = set()
        self._rng = np.random.default_rng([self._seed, 1])
        self._space = IntersectionSearchSpace()
        self._searches: dict[tuple[str, str], Search] = {}
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lock": None, "_searches": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.RLock())

    def reseed_rng(self) -> None:
        """Draw other independent and extra samples from now on; the search keeps its seed."""
        self._independent.reseed_rng()
        self._rng = np.random.default_rng()

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Called before each trial."""
        self._independent.before_trial(study, trial)

    def after_trial(
        self,
        study: Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """Called after each trial."""
        self._independent.after_trial(study, trial, state, values)

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Return the parameters that all completed trials have, with more than one value."""
        with self._lock:
            found = self._space.calculate(study)
        return {name: d for name, d in found.items() if not d.single()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return the parameters of the next candidate."""
        _refuse_several_objectives(study)
        with self._lock:
            trials = study.get_trials(deepcopy=False)
            if not search_space or _completed(trials) < self._startup:
                return {}
            coordinates = Coordinates(search_space)
            rounds = Rounds.of(trials, coordinates.digest, self._seed)
            search = self._search(study, coordinates, rounds)
            place = search.next_place(rounds)
            if trial.system_attrs.get("fixed_params"):  # an enqueued trial evaluates other points
                place = dataclasses.replace(place, position=None)
            else:
                study._storage.set_trial_system_attr(trial._trial_id, KEY, place.to_json())
            return coordinates.decode(search.point(place, self._rng, self._sigma0))

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Sample a parameter that is not part of the search."""
        _refuse_several_objectives(study)
        if self._warns and param_name not in self._warned:
            self._warn(study, trial, param_name)
        return self._independent.sample_independent(study, trial, param_name, param_distribution)

    def _warn(self, study: Study, trial: FrozenTrial, param_name: str) -> None:
        """Log that a parameter is sampled independently, once the search has begun."""
        if _completed(study.get_trials(deepcopy=False)) >= max(self._startup, 1):
            self._warned.add(param_name)
            optuna.logging.get_logger("optuna.zorank").warning(
                f"The parameter {param_name!r} of trial {trial.number} is sampled by "
                f"{type(self._independent).__name__}, because not every completed trial has it "
                "with this distribution."
            )

    def _search(self, study: Study, coordinates: Coordinates, rounds: Rounds) -> Search:
        """Return the search of a study, a new one if its trials are not those seen before."""
        key = study.study_name, coordinates.digest
        search = self._searches.get(key)
        if search is None or not search.fits(rounds):
            sign = 1 if study.direction == optuna.study.StudyDirection.MINIMIZE else -1
            x0 = coordinates.encode(self._x0)
            search = Search(self._optimizer, coordinates, x0, rounds.seed, sign)
            self._searches[key] = search
        return search


def _optimizer(
    method: str, options: dict[str, Any], m: int | None, sigma0: float | None
) -> AnyOptimizer:
    settings = {**options, "bounds": (0.0, 1.0)}
    if m is not None:
        settings["m"] = m
    cls: Any = optimizers.REGISTRY.get(method) if isinstance(method, str) else None
    has_sigma0 = cls is not None and any(f.name == "sigma0" for f in dataclasses.fields(cls))
    if sigma0 is not None or (has_sigma0 and "sigma0" not in options):
        settings["sigma0"] = SIGMA0 if sigma0 is None else sigma0
    return optimizers.make(method, settings)


def _completed(trials: Sequence[FrozenTrial]) -> int:
    return sum(t.state == TrialState.COMPLETE for t in trials)


def _refuse_several_objectives(study: Study) -> None:
    if len(study.directions) > 1:
        raise InvalidInput(
            f"RankSampler ranks trials by one objective, but this study has "
            f"{len(study.directions)}; use NSGAIISampler or TPESampler"
        )
