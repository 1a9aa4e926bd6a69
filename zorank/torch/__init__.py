"""Tune a torch module from rankings of its outputs, with little more memory than inference.

    trainer = RankTrainer(model)
    outputs = trainer.ask(lambda model: model(prompt))   # one for each of m perturbed models
    trainer.tell([3, 0, [1, 5]])                         # moves the module

The module holds the only copy of the weights. A candidate is the module plus a random direction
that is drawn from a seed in chunks: it is added, the module is shown, and it is drawn again and
subtracted. An answer moves the module along the weighted sum of the same directions. So the log of
a run is a seed and rankings, as everywhere in zorank, and the weights can be computed from it:
from the start, or from a checkpoint (`checkpoints.py`).

This requires that a subtraction exactly undoes an addition, which floating-point arithmetic does
not guarantee; `grid.py` explains how it is achieved.
"""

from zorank.errors import required_by

with required_by("zorank.torch", "torch", "torch"):
    import torch as _torch  # noqa: F401  the library, not this package

from zorank.torch.trainer import RankTrainer

__all__ = ["RankTrainer"]
