"""Ask and tell: you show the candidates to whoever judges, and tell the order."""

import numpy as np

import zorank

run = zorank.Run("zo-ranksgd-memory", x0=np.array([3.0, -2.0]), seed=0)


def judge(candidates: list[np.ndarray]) -> list[int]:
    """Stands for a person who likes points near (1, 1) and names the best three."""
    return sorted(range(len(candidates)), key=lambda i: abs(candidates[i] - 1).sum())[:3]


for _ in range(40):
    slate = run.ask()
    run.tell(judge(list(slate)))

run.undo(2)  # the last two answers were a mistake: exactly as before them
print("best:", run.best().round(2), "after", len(run.history), "answers")
