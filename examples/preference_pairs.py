"""Preference pairs of a run: who preferred which candidate to which, for a model of your own."""

import numpy as np

from zorank import Run

run = Run("zo-ranksgd", x0=np.ones(4), seed=1)
for rater in ("ann", "bob") * 5:
    distances = [float(np.abs(x).sum()) for x in run.ask()]
    run.tell(np.argsort(distances)[:3].tolist(), rater=rater)
slates = [slate for _, slate, _ in run.replay()]
pairs = run.pairs()
steps = [slates[p.round][p.winner] - slates[p.round][p.loser] for p in pairs]
print(f"{len(pairs)} pairs; winners lie towards {np.sign(np.mean(steps, axis=0))}")
