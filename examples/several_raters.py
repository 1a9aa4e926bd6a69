"""Several raters: each gives an order of their own; a poll adds up their comparisons."""

import numpy as np

from zorank import Ballot, Poll, Ranking, Run

# Where each rater would like to be, how many candidates they care to name, and what they count.
raters = {
    "ann": (np.zeros(8), 6, 1.0),
    "bob": (np.full(8, 0.5), 3, 0.7),
    "eve": (np.full(8, -0.2), 1, 0.5),
}
run = Run("zo-ranksgd-memory", x0=np.full(8, 2.0), seed=1)

for _ in range(60):
    slate = run.ask()
    ballots = []
    for name, (ideal, depth, weight) in raters.items():
        distances = [float(np.linalg.norm(x - ideal)) for x in slate]
        depth = 1 if slate.question == "best" else depth
        ballots.append(Ballot(name, Ranking.from_values(distances, top=depth), weight))
    run.tell(Poll(tuple(ballots)))

print("agreed on", run.best().round(2))
