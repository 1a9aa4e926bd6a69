"""A torch module is tuned in place from rankings of its outputs; no gradient is computed."""

import torch
from torch import nn

from zorank.torch import RankTrainer

torch.manual_seed(0)
x = torch.linspace(-2, 2, 64)[:, None]
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
trainer = RankTrainer(model, m=8)


def order(curves: list[torch.Tensor]) -> list[int]:
    """Rank eight curves; this judge prefers those near a sine, and could be a person."""
    errors = [float((curve - torch.sin(2 * x)).square().mean()) for curve in curves]
    return sorted(range(len(errors)), key=errors.__getitem__)


with torch.no_grad():
    print(f"error before: {(model(x) - torch.sin(2 * x)).square().mean():.3f}")
    for _ in range(300):
        curves = trainer.ask(lambda model: model(x))
        trainer.tell(order(curves))
    print(f"error after 300 rankings: {(model(x) - torch.sin(2 * x)).square().mean():.3f}")
