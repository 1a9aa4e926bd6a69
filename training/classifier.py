"""Trains the classifier that checks `dream`: which words fit a picture, learned from landscapes.

    python training/landscapes.py --out HELD_OUT --count 8000 --seed 2
    python training/classifier.py --data HELD_OUT --out RUN/classifier.pt

It never sees what the denoiser learned from, and the denoiser never sees it. The last tenth of its
own pictures say how far it can be trusted, word by word.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from codec import as_tensor
from landscapes import painted
from network import Eyes
from schooling import school
from torch import Tensor
from torch.nn import functional

from zorank.dream.vocabulary import WORDS

SEED = 5
BATCH = 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(SEED)
    pictures, scores = painted(args.data)
    truth = torch.from_numpy(scores)
    seen = len(pictures) * 9 // 10
    network = Eyes(len(WORDS))

    def loss_of_batch(chance: torch.Generator) -> Tensor:
        rows = torch.randint(seen, (BATCH,), generator=chance)
        shown = roughened(as_tensor(pictures[rows.numpy()]), chance)
        return functional.binary_cross_entropy_with_logits(network(shown), truth[rows])

    if args.out.exists():  # it is only measured again
        network.load_state_dict(torch.load(args.out))
    else:
        school(network, loss_of_batch, args.steps, SEED)
        torch.save(network.state_dict(), args.out)
    with torch.no_grad():
        found = torch.cat([network(as_tensor(part)) for part in batches(pictures[seen:])])
    # A sky is never all one colour: its scores end earlier.
    sure = np.where([word.endswith(" sky") for word in WORDS], 0.6, 0.9)
    missed: dict[str, float | None] = {}
    for word, said, score, least in zip(WORDS, found.T, truth[seen:].T, sure, strict=True):
        there = score > least
        missed[word] = float((said < 0)[there].float().mean()) if there.sum() >= 5 else None
        wrong = float((said > 0)[score < 0.1].float().mean())
        print(f"{word:15} misses {missed[word]} of {int(there.sum())}, sees {wrong:.3f} wrongly")
    args.out.with_suffix(".json").write_text(json.dumps(missed, indent=1))


def batches(pictures):
    return [pictures[i : i + 200] for i in range(0, len(pictures), 200)]


def roughened(pictures: Tensor, chance: torch.Generator) -> Tensor:
    """Flipped, a little blurred or noisy: it should judge what is shown and not its grain."""
    flipped = torch.rand(len(pictures), generator=chance) < 0.5
    pictures[flipped] = pictures[flipped].flip(-1)
    blur = torch.rand(len(pictures), 1, 1, 1, generator=chance)
    soft = functional.avg_pool2d(functional.pad(pictures, (1, 1, 1, 1), "replicate"), 3, 1)
    noise = 0.03 * torch.rand(len(pictures), 1, 1, 1, generator=chance)
    return (
        pictures + blur * (soft - pictures) + noise * torch.randn(pictures.shape, generator=chance)
    )


if __name__ == "__main__":
    main()
