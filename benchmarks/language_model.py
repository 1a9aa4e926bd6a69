"""Trains a language model of letters from rankings of the losses of eight candidates.

    python benchmarks/language_model.py            # a small one, some seconds
    python benchmarks/language_model.py --large    # ten million parameters, some minutes

It reads the pages of this repository, letter by letter. No gradient is ever computed; of the
eight losses in a round only the order is used. Stop it and start it again with `--folder DIR`: it
goes on where it was, bit for bit.
"""

import argparse
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from zorank.torch import RankTrainer

PAGES = sorted((Path(__file__).parents[1] / "docs").glob("*.md"))
CONTEXT = 32


class Block(nn.Module):
    """Attention to what came before, then a layer of its own for each position."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.look, self.join = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.think = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        """(batch, time, width) → the same shape."""
        parts = self.look(self.before(x)).chunk(3, dim=-1)
        q, k, v = (p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in parts)
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.join(seen.transpose(1, 2).flatten(2))
        return x + torch.as_tensor(self.think(self.between(x)))


class Letters(nn.Module):
    """A small GPT over single letters."""

    def __init__(self, letters: int, width: int, layers: int, heads: int) -> None:
        super().__init__()
        self.letter, self.place = nn.Embedding(letters, width), nn.Embedding(CONTEXT, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.last, self.guess = nn.LayerNorm(width), nn.Linear(width, letters)

    def forward(self, text: Tensor) -> Tensor:
        """(batch, time) letters → (batch, time, letters) scores of the letter that follows."""
        x = self.letter(text) + self.place.weight[: text.shape[1]]
        return torch.as_tensor(self.guess(self.last(self.blocks(x))))


def passages(text: Tensor, count: int, seed: int) -> Tensor:
    """Some passages of a text, one letter longer than the context."""
    places = torch.Generator().manual_seed(seed)
    starts = torch.randint(len(text) - CONTEXT - 1, (count,), generator=places)
    return torch.stack([text[s : s + CONTEXT + 1] for s in starts.tolist()])


def surprise(model: nn.Module, read: Tensor) -> Tensor:
    """The mean loss of the letters to come, in nats."""
    return functional.cross_entropy(model(read[:, :-1]).flatten(0, 1), read[:, 1:].flatten())


def texts() -> tuple[Tensor, Tensor, int]:
    """Pages to learn from, passages of others that are held out, how many letters there are."""
    pages = [page.read_text() for page in PAGES]
    number = {letter: i for i, letter in enumerate(sorted(set("".join(pages))))}
    read = [torch.tensor([number[letter] for letter in page]) for page in pages]
    return torch.cat(read[:-3]), passages(torch.cat(read[-3:]), 128, seed=0), len(number)


def letters_model(letters: int, large: bool) -> Letters:
    """The model as it starts: the same one every time, which is what a resume needs."""
    torch.manual_seed(0)
    width, layers, heads = (384, 6, 6) if large else (32, 1, 4)
    return Letters(letters, width, layers, heads)


def main() -> None:
    """Train, and print the loss on pages that were never read."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--large", action="store_true", help="ten million parameters")
    options.add_argument("--rounds", type=int, default=150)
    options.add_argument("--batch", type=int, default=16)
    options.add_argument("--folder", help="where the run is kept, to go on with it later")
    given = options.parse_args()

    learned, held_out, letters = texts()
    model = letters_model(letters, given.large)
    trainer = RankTrainer(model, folder=given.folder)
    print(trainer)

    def loss(model: nn.Module) -> Tensor:
        """All candidates of a round read the same passages."""
        return surprise(model, passages(learned, given.batch, seed=trainer.rounds))

    with torch.no_grad():
        print(f"held-out loss before: {surprise(model, held_out):.3f}")
        trainer.minimize(loss, given.rounds)
        print(f"held-out loss after {trainer.rounds} rankings: {surprise(model, held_out):.3f}")


if __name__ == "__main__":
    main()
