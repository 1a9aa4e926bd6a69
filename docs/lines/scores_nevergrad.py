import nevergrad as ng

from zorank.problems import rosenbrock

optimizer = ng.optimizers.CMA(ng.p.Array(init=[0.5, 0.5]), budget=300, num_workers=6)
for _ in range(50):
    candidates = [optimizer.ask() for _ in range(6)]
    for candidate in candidates:
        optimizer.tell(candidate, rosenbrock(candidate.value))
print(optimizer.provide_recommendation().value)
