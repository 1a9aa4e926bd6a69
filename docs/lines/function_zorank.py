import zorank
from zorank.problems import rosenbrock

result = zorank.minimize(rosenbrock, [0.5, 0.5], points=1000)
print(result.x)
