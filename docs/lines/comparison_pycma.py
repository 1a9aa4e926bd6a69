from functools import cmp_to_key

import cma

from zorank.problems import rosenbrock


def compare(a, b):
    return -1 if rosenbrock(a) < rosenbrock(b) else 1


es = cma.CMAEvolutionStrategy([0.5, 0.5], 0.5, {"verbose": -9})
for _ in range(50):
    ordered = sorted(es.ask(), key=cmp_to_key(compare))
    es.tell(ordered, range(len(ordered)))
print(es.result.xfavorite)
