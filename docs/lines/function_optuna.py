import numpy as np
import optuna

from zorank.problems import rosenbrock


def objective(trial):
    return rosenbrock(np.array([trial.suggest_float(n, -2, 2) for n in "xy"]))


study = optuna.create_study()
study.optimize(objective, n_trials=100)
print(study.best_params)
