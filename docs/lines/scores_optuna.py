import numpy as np
import optuna

from zorank.problems import rosenbrock

space = {name: optuna.distributions.FloatDistribution(-2, 2) for name in ("x", "y")}
study = optuna.create_study()
for _ in range(20):
    trials = [study.ask(space) for _ in range(6)]
    for trial in trials:
        study.tell(trial, rosenbrock(np.array(list(trial.params.values()))))
print(study.best_params)
