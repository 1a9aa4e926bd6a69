import zorank
from zorank.problems import rosenbrock

run = zorank.Run(zorank.optimizers.Auto(m=6), [0.5, 0.5])
for _ in range(50):
    run.tell(values=[rosenbrock(x) for x in run.ask()])
print(run.best())
