from functools import cmp_to_key

import nevergrad as ng

from zorank.problems import rosenbrock


def compare(a, b):
    return -1 if rosenbrock(a.value) < rosenbrock(b.value) else 1


array = ng.p.Array(init=[0.5, 0.5])
optimizer = ng.families.ParametrizedCMA(popsize=6)(array, budget=300, num_workers=6)
for _ in range(50):
    candidates = [optimizer.ask() for _ in range(6)]
    for rank, candidate in enumerate(sorted(candidates, key=cmp_to_key(compare))):
        optimizer.tell(candidate, rank)
print(optimizer.provide_recommendation().value)
