"""For users of pycma: the usual loop, with zorank's search."""

from zorank.integrations.pycma import EvolutionStrategy
from zorank.problems import rosenbrock

es = EvolutionStrategy([1.3, 0.7, 0.8], 0.5, {"seed": 1})
while not es.stop():
    candidates = es.ask()
    es.tell(candidates, [rosenbrock(x) for x in candidates])
print(es.result.xbest, es.result.fbest, es.stop())
