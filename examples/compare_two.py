"""A function that says whether the first of two candidates is better, and nothing else."""

import zorank
from zorank.problems import sphere

oracle = zorank.oracles.ComparisonOracle(lambda a, b: sphere(a) < sphere(b))
run = zorank.Run("auto", x0=[3.0, -2.0], seed=0)
for _ in range(40):
    run.tell(oracle.answer(run.ask()))
print(run.best())
