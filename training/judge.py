"""Trains the embedded judge of pictures and prompts, with a contrastive loss.

python training/judge.py --data FOLDER --out RUN/judge.pt
"""

import torch
from classifier import augmented
from codec import as_tensor
from landscapes import load_pictures
from loop import parse_arguments, train
from network import Judge
from torch import Tensor
from torch.nn import functional

from zorank.dream.vocabulary import WORDS

SEED = 6
BATCH = 64


def main() -> None:
    args = parse_arguments(__doc__, SEED, 3000, "--data")
    pictures, scores = load_pictures(args.data)
    truth = 2 * torch.from_numpy(scores) - 1
    network = Judge(len(WORDS))

    def loss_of_batch(generator: torch.Generator) -> Tensor:
        rows = torch.randint(len(pictures), (BATCH,), generator=generator)
        shown = augmented(as_tensor(pictures[rows.numpy()]), generator)
        words = prompt_for(truth[rows], generator)
        seen, meant = network.embed(shown, words)
        fit = network.sharpness.exp() * seen @ meant.T
        # A prompt may fit several pictures of a batch: its target is spread over them.
        wanted = target_probabilities(truth[rows], words)
        return -(wanted * functional.log_softmax(fit, 0)).sum(0).mean()

    train(network, loss_of_batch, args.steps, SEED)
    torch.save(network.state_dict(), args.out)


def prompt_for(truth: Tensor, generator: torch.Generator) -> Tensor:
    """Draw one to six words that fit each picture, and rarely a negated word that does not."""
    many = torch.randint(1, 7, (len(truth), 1), generator=generator)
    luck = torch.rand(truth.shape, generator=generator) * (truth > 0.3)
    kept = (luck > 0) & (luck.argsort(1, descending=True).argsort(1) < many)
    denied = (truth < -0.6) & (torch.rand(truth.shape, generator=generator) < 0.02)
    return kept.float() - denied.float()


def target_probabilities(truth: Tensor, words: Tensor) -> Tensor:
    """Return target probabilities (pictures, prompts) of the pictures for each prompt."""
    wrong = (words.abs()[None] * (truth[:, None] - words[None]).clamp(-2, 2).abs()).sum(2)
    return torch.softmax(-4 * wrong, 0)


if __name__ == "__main__":
    main()
