"""The training loop of the small networks, and their command-line arguments."""

import argparse
from collections.abc import Callable
from pathlib import Path

import torch
from rich.progress import Progress
from torch import Tensor, nn


def parse_arguments(description: str, seed: int, steps: int, *folders: str) -> argparse.Namespace:
    """Parse paths, --out, --steps and --threads; set torch's seed and threads."""
    parser = argparse.ArgumentParser(description=description.partition("\n")[0])
    for name in (*folders, "--out"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(seed)
    return args


def train(
    network: nn.Module,
    loss_of_batch: Callable[[torch.Generator], Tensor],
    steps: int,
    seed: int,
    step_size: float = 2e-3,
) -> None:
    """Train with AdamW, warm-up and linear decay; print the mean loss of every 100 steps."""
    optimizer = torch.optim.AdamW(network.parameters(), step_size, weight_decay=0.01)
    generator = torch.Generator().manual_seed(seed)
    losses: list[float] = []
    with Progress() as progress:
        task = progress.add_task("training", total=steps)
        for step in range(steps):
            for group in optimizer.param_groups:
                group["lr"] = step_size * min((step + 1) / 100, 1 - step / steps)
            loss = loss_of_batch(generator)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
            if len(losses) == 100:
                progress.console.print(f"{step + 1} steps: {sum(losses) / 100:.4f}")
                losses.clear()
            progress.advance(task)
