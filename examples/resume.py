"""A run that is resumed: the same call continues where the last one stopped, bit for bit."""

import tempfile

import zorank

with tempfile.TemporaryDirectory() as folder:
    store = zorank.stores.open_store(f"sqlite:///{folder}/runs.db")
    start = [-1.0] * 20
    for points in (500, 1000, 2000):  # as if the machine had been switched off in between
        result = zorank.minimize(
            zorank.problems.rosenbrock, start, points=points, store=store, name="valley"
        )
        print(f"{result.points} points, {result.rounds} rounds: {result.history[-1]['best']:.4g}")
