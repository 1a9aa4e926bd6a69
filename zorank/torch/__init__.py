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

from zorank.errors import MissingExtra

try:
    import torch as _torch  # noqa: F401  the library, not this package
except ModuleNotFoundError as error:
    raise MissingExtra("zorank.torch", "torch", "torch") from error

from zorank.torch.trainer import RankTrainer

__all__ = ["RankTrainer"]
