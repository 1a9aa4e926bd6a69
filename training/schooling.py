"""What the trainings of the small networks share: a bounded loop with a falling step size."""

import time
from collections.abc import Callable

import torch
from rich.progress import Progress
from torch import Tensor, nn


def school(
    network: nn.Module,
    loss_of_batch: Callable[[torch.Generator], Tensor],
    minutes: float,
    seed: int,
    step_size: float = 2e-3,
) -> list[float]:
    """Train for so many minutes; the mean loss of every hundred steps."""
    optimizer = torch.optim.AdamW(network.parameters(), step_size, weight_decay=0.01)
    chance = torch.Generator().manual_seed(seed)
    losses: list[float] = []
    means: list[float] = []
    start = time.monotonic()
    with Progress() as progress:
        task = progress.add_task("training", total=minutes * 60)
        while (spent := time.monotonic() - start) < minutes * 60:
            warm = min(1.0, (len(means) * 100 + len(losses) + 1) / 100)
            for group in optimizer.param_groups:
                group["lr"] = step_size * warm * (1 - spent / (minutes * 60))
            loss = loss_of_batch(chance)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
            if len(losses) == 100:
                means.append(sum(losses) / 100)
                losses.clear()
                progress.console.print(f"{100 * len(means)} steps: {means[-1]:.4f}")
            progress.update(task, completed=spent)
    return means
