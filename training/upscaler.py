"""Trains the upscaler of `dream` on landscapes that were painted at 256 × 256.

python training/landscapes.py --out LARGE --count 2000 --seed 3 --size 256
python training/upscaler.py --large LARGE --state RUN/state.pt --out RUN/upscaler.pt
"""

import argparse
from pathlib import Path

import torch
from codec import Codec, as_tensor
from landscapes import painted
from network import GRID, PATCH_PIXELS, Upscaler
from schooling import school
from torch import Tensor
from torch.nn import functional

SEED = 4
BATCH, CROP = 16, 24


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--large", type=Path, required=True)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(SEED)
    codec = Codec(**torch.load(args.state)["codec"])
    large, _ = painted(args.large)
    factor = large.shape[1] // (PATCH_PIXELS * GRID)
    pictures = as_tensor(large)
    small = codec.decoded(codec.encoded(functional.avg_pool2d(pictures, factor)))
    network = Upscaler(factor=factor)

    def loss_of_batch(chance: torch.Generator) -> Tensor:
        rows = torch.randint(len(small), (BATCH,), generator=chance)
        places = torch.randint(small.shape[-1] - CROP + 1, (BATCH, 2), generator=chance).tolist()
        low, high = [], []
        for row, (y, x) in zip(rows.tolist(), places, strict=True):
            low.append(small[row, :, y : y + CROP, x : x + CROP])
            ys, xs, side = factor * y, factor * x, factor * CROP
            high.append(pictures[row, :, ys : ys + side, xs : xs + side])
        given, wanted = roughened(torch.stack(low), chance), torch.stack(high)
        made = network(given)
        edges = sum((made.diff(dim=d) - wanted.diff(dim=d)).abs().mean() for d in (2, 3))
        return (made - wanted).abs().mean() + edges

    school(network, loss_of_batch, args.steps, SEED)
    torch.save(network.state_dict(), args.out)


def roughened(pictures: Tensor, chance: torch.Generator) -> Tensor:
    """Some a little blurred and some a little noisy, as what the denoiser makes may be."""
    blur = torch.rand(len(pictures), 1, 1, 1, generator=chance).clamp(min=0.3) - 0.3
    soft = functional.avg_pool2d(functional.pad(pictures, (1, 1, 1, 1), "replicate"), 3, 1)
    noise = 0.02 * torch.rand(len(pictures), 1, 1, 1, generator=chance)
    rough = torch.randn(pictures.shape, generator=chance)
    return pictures + blur * (soft - pictures) + noise * rough


if __name__ == "__main__":
    main()
