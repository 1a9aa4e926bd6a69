"""Six scores for six candidates; lower is better, and only their order is used."""

import zorank
from zorank.problems import sphere

run = zorank.Run(zorank.optimizers.Auto(m=6), x0=[3.0, -2.0], seed=0)
for _ in range(40):
    run.tell(values=[sphere(x) for x in run.ask()])
print(run.best())
