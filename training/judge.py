"""Trains the embedded judge of pictures and prompts, by contrast: which words go with which?

python training/judge.py --data FOLDER --out RUN/judge.pt
"""

import argparse
from pathlib import Path

import torch
from classifier import roughened
from codec import as_tensor
from landscapes import painted
from network import Judge
from schooling import school
from torch import Tensor
from torch.nn import functional

from zorank.dream.vocabulary import WORDS

SEED = 6
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
    truth = 2 * torch.from_numpy(scores) - 1
    network = Judge(len(WORDS))

    def loss_of_batch(chance: torch.Generator) -> Tensor:
        rows = torch.randint(len(pictures), (BATCH,), generator=chance)
        shown = roughened(as_tensor(pictures[rows.numpy()]), chance)
        words = prompt_for(truth[rows], chance)
        seen, meant = network.embedded(shown, words)
        fit = network.sharpness.exp() * seen @ meant.T
        # A prompt may fit several pictures of a batch: they share it, by how well it fits each.
        wanted = fitting(truth[rows], words)
        return -(wanted * functional.log_softmax(fit, 0)).sum(0).mean()

    school(network, loss_of_batch, args.steps, SEED)
    torch.save(network.state_dict(), args.out)


def prompt_for(truth: Tensor, chance: torch.Generator) -> Tensor:
    """One to six words that fit each picture, at times one that does not, said as "no"."""
    many = torch.randint(1, 7, (len(truth), 1), generator=chance)
    luck = torch.rand(truth.shape, generator=chance) * (truth > 0.3)
    kept = (luck > 0) & (luck.argsort(1, descending=True).argsort(1) < many)
    denied = (truth < -0.6) & (torch.rand(truth.shape, generator=chance) < 0.02)
    return kept.float() - denied.float()


def fitting(truth: Tensor, words: Tensor) -> Tensor:
    """(pictures, prompts): the share of a prompt that each picture of the batch gets."""
    wrong = (words.abs()[None] * (truth[:, None] - words[None]).clamp(-2, 2).abs()).sum(2)
    return torch.softmax(-4 * wrong, 0)


if __name__ == "__main__":
    main()
