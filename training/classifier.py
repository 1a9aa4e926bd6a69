"""Trains the classifier that checks `dream`: which words fit a picture.

    python training/landscapes.py --out HELD_OUT --count 8000 --seed 2
    python training/classifier.py --data HELD_OUT --out RUN/classifier.pt

Its training data are other landscapes than the denoiser's. The last tenth of its pictures is held
out, to measure its error rates for each word.
"""

import json

import numpy as np
import torch
from codec import as_tensor
from landscapes import load_pictures
from loop import parse_arguments, train
from network import PictureEncoder
from torch import Tensor
from torch.nn import functional

from zorank.dream.vocabulary import WORDS

SEED = 5
BATCH = 64


def main() -> None:
    args = parse_arguments(__doc__, SEED, 3000, "--data")
    pictures, scores = load_pictures(args.data)
    truth = torch.from_numpy(scores)
    seen = len(pictures) * 9 // 10
    network = PictureEncoder(len(WORDS))

    def loss_of_batch(generator: torch.Generator) -> Tensor:
        rows = torch.randint(seen, (BATCH,), generator=generator)
        shown = augmented(as_tensor(pictures[rows.numpy()]), generator)
        return functional.binary_cross_entropy_with_logits(network(shown), truth[rows])

    if args.out.exists():  # measure it again, without training
        network.load_state_dict(torch.load(args.out))
    else:
        train(network, loss_of_batch, args.steps, SEED)
        torch.save(network.state_dict(), args.out)
    with torch.no_grad():
        found = torch.cat([network(as_tensor(part)) for part in batches(pictures[seen:])])
    # A sky never has one colour only, so that its scores are lower.
    threshold = np.where([word.endswith(" sky") for word in WORDS], 0.6, 0.9)
    missed: dict[str, float | None] = {}
    for word, logits, score, least in zip(WORDS, found.T, truth[seen:].T, threshold, strict=True):
        present = score > least
        missed[word] = float((logits < 0)[present].float().mean()) if present.sum() >= 5 else None
        wrong = float((logits > 0)[score < 0.1].float().mean())
        print(f"{word:15} misses {missed[word]} of {int(present.sum())}, sees {wrong:.3f} wrongly")
    args.out.with_suffix(".json").write_text(json.dumps(missed, indent=1))


def batches(pictures):
    return [pictures[i : i + 200] for i in range(0, len(pictures), 200)]


def augmented(pictures: Tensor, generator: torch.Generator) -> Tensor:
    """Flip, blur and add noise at random, so that the classifier ignores texture."""
    flipped = torch.rand(len(pictures), generator=generator) < 0.5
    pictures[flipped] = pictures[flipped].flip(-1)
    blur = torch.rand(len(pictures), 1, 1, 1, generator=generator)
    soft = functional.avg_pool2d(functional.pad(pictures, (1, 1, 1, 1), "replicate"), 3, 1)
    noise = 0.03 * torch.rand(len(pictures), 1, 1, 1, generator=generator)
    return (
        pictures
        + blur * (soft - pictures)
        + noise * torch.randn(pictures.shape, generator=generator)
    )


if __name__ == "__main__":
    main()
