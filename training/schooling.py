"""What the trainings of the small networks share: a loop with a falling step size."""

from collections.abc import Callable

import torch
from rich.progress import Progress
from torch import Tensor, nn


def school(
    network: nn.Module,
    loss_of_batch: Callable[[torch.Generator], Tensor],
    steps: int,
    seed: int,
    step_size: float = 2e-3,
) -> None:
    """Train for so many steps, and print the mean loss of every hundred."""
    optimizer = torch.optim.AdamW(network.parameters(), step_size, weight_decay=0.01)
    chance = torch.Generator().manual_seed(seed)
    losses: list[float] = []
    with Progress() as progress:
        task = progress.add_task("training", total=steps)
        for step in range(steps):
            for group in optimizer.param_groups:
                group["lr"] = step_size * min((step + 1) / 100, 1 - step / steps)
            loss = loss_of_batch(chance)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
            if len(losses) == 100:
                progress.console.print(f"{step + 1} steps: {sum(losses) / 100:.4f}")
                losses.clear()
            progress.advance(task)
