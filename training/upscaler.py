"""Trains the upscaler of `dream` on landscapes of 256 × 256 pixels.

python training/landscapes.py --out LARGE --count 2000 --seed 3 --size 256
python training/upscaler.py --large LARGE --state RUN/state.pt --out RUN/upscaler.pt
"""

import torch
from codec import Codec, as_tensor
from landscapes import load_pictures
from loop import parse_arguments, train
from network import GRID, PATCH_PIXELS, Upscaler
from torch import Tensor
from torch.nn import functional

SEED = 4
BATCH, CROP = 16, 24


def main() -> None:
    args = parse_arguments(__doc__, SEED, 1500, "--large", "--state")
    codec = Codec(**torch.load(args.state)["codec"])
    large, _ = load_pictures(args.large)
    factor = large.shape[1] // (PATCH_PIXELS * GRID)
    pictures = as_tensor(large)
    small = codec.decode(codec.encode(functional.avg_pool2d(pictures, factor)))
    network = Upscaler(factor=factor)

    def loss_of_batch(generator: torch.Generator) -> Tensor:
        rows = torch.randint(len(small), (BATCH,), generator=generator)
        places = torch.randint(
            small.shape[-1] - CROP + 1, (BATCH, 2), generator=generator
        ).tolist()
        low, high = [], []
        for row, (y, x) in zip(rows.tolist(), places, strict=True):
            low.append(small[row, :, y : y + CROP, x : x + CROP])
            ys, xs, side = factor * y, factor * x, factor * CROP
            high.append(pictures[row, :, ys : ys + side, xs : xs + side])
        given, wanted = augmented(torch.stack(low), generator), torch.stack(high)
        made = network(given)
        edges = sum((made.diff(dim=d) - wanted.diff(dim=d)).abs().mean() for d in (2, 3))
        return (made - wanted).abs().mean() + edges

    train(network, loss_of_batch, args.steps, SEED)
    torch.save(network.state_dict(), args.out)


def augmented(pictures: Tensor, generator: torch.Generator) -> Tensor:
    """Blur and add noise at random, to imitate the output of the denoiser."""
    blur = torch.rand(len(pictures), 1, 1, 1, generator=generator).clamp(min=0.3) - 0.3
    soft = functional.avg_pool2d(functional.pad(pictures, (1, 1, 1, 1), "replicate"), 3, 1)
    noise = 0.02 * torch.rand(len(pictures), 1, 1, 1, generator=generator)
    rough = torch.randn(pictures.shape, generator=generator)
    return pictures + blur * (soft - pictures) + noise * rough


if __name__ == "__main__":
    main()
