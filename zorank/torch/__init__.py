"""Tune a torch module from rankings of its outputs, in the memory that showing them takes.

    trainer = RankTrainer(model)
    outputs = trainer.ask(lambda model: model(prompt))   # one for each of m perturbed models
    trainer.tell([3, 0, [1, 5]])                         # the module itself moves

The module holds the only copy of the weights. A candidate is the module moved along a direction
that is drawn from a seed, chunk by chunk, added, shown, drawn again and taken away; an answer
moves the module along the weighted sum of the same directions. So a run's log is a seed and
rankings, as everywhere in zorank, and the weights are the fold of that log: they can be made
again from the start, or from weights that were set aside on the way (`checkpoints.py`).

That is only true if taking away gives back exactly what was there, and floating-point numbers do
not: (a + b) − b is not a. `weights.py` says what makes it exact.
"""

from zorank.errors import MissingExtra

try:
    import torch as _torch  # noqa: F401  the real one: names in a package hide no libraries
except ModuleNotFoundError as error:
    raise MissingExtra("zorank.torch", "torch", "torch") from error

from zorank.torch.trainer import RankTrainer

__all__ = ["RankTrainer"]
