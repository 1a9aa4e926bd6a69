import zorank
from zorank.problems import rosenbrock

oracle = zorank.oracles.ComparisonOracle(lambda a, b: rosenbrock(a) < rosenbrock(b))
run = zorank.Run("auto", [0.5, 0.5])
for _ in range(50):
    run.tell(oracle.answer(run.ask()))
print(run.best())
