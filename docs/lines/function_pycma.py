import cma

from zorank.problems import rosenbrock

es = cma.CMAEvolutionStrategy([0.5, 0.5], 0.5, {"maxfevals": 1000, "verbose": -9})
es.optimize(rosenbrock)
print(es.result.xbest)
