import nevergrad as ng

from zorank.problems import rosenbrock

optimizer = ng.optimizers.NGOpt(ng.p.Array(init=[0.5, 0.5]), budget=1000)
print(optimizer.minimize(rosenbrock).value)
