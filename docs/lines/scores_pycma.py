import cma

from zorank.problems import rosenbrock

es = cma.CMAEvolutionStrategy([0.5, 0.5], 0.5, {"popsize": 6, "verbose": -9})
for _ in range(50):
    candidates = es.ask()
    es.tell(candidates, [rosenbrock(x) for x in candidates])
print(es.result.xbest)
