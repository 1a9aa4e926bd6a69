"""For users of Optuna: a sampler that uses only the order of the trials' values."""

import optuna

from zorank.integrations.optuna import RankSampler


def objective(trial: optuna.Trial) -> float:
    """Stands for the validation loss of a model."""
    rate = trial.suggest_float("rate", 1e-5, 1.0, log=True)
    return float(abs(rate - 0.01) + abs(trial.suggest_int("layers", 1, 9) - 3))


study = optuna.create_study(sampler=RankSampler(seed=0))
study.optimize(objective, n_trials=80)
print(study.best_params, study.best_value)
