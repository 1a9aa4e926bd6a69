"""Trains the denoiser of `dream`. It can be stopped at any time; the same command resumes it.

    python training/train.py --data FOLDER --out FOLDER --minutes 120

Every few minutes it writes `state.pt` (a checkpoint), a line of `curve.csv`, and a grid of
unselected samples, `samples-STEP.png`, with a row for each prompt. The learning rate is constant,
and an exponential moving average of the weights is used, so a run can have any length. --cooldown
decays the learning rate linearly to zero; use it for the last run. To train on from the packaged
weights (`packaged.py`) for some hours at most, choose a smaller --step-size. --stress is the least
chance that a word that is hard to learn is given if it fits the picture.
"""

import argparse
import csv
import itertools
import time
from copy import deepcopy
from pathlib import Path

import numpy as np
import torch
from codec import Codec, as_bytes, as_tensor
from landscapes import STRESSED, load_pictures
from network import COMPONENTS, GRID, Denoiser
from PIL import Image
from torch import Tensor

from zorank.dream.vocabulary import WORDS

SEED = 20261116
BATCH = 32
STEP_SIZE = 1e-3
WARM_UP = 100
EASIEST = 0.1  # the smallest noise level in the weight of the loss
PROMPTS = (
    ("night", "moon", "large disc", "lake", "snow"),
    ("sunset", "sun", "high mountains"),
    ("day", "clear", "lake", "forest", "blue sky"),
    ("night", "stars", "aurora", "clear"),
    ("desert", "day", "low hills", "sun"),
    ("autumn", "fog", "trees", "cloudy"),
    ("pink sky", "flowers", "vivid", "day"),
    (),
)


class Training:
    """The state of the training, as a checkpoint stores it."""

    def __init__(self, codec: Codec, full: Tensor) -> None:
        torch.manual_seed(SEED)
        self.codec, self.full = codec, full
        self.network = Denoiser(len(WORDS))
        self.network.spread.copy_(codec.spread)
        self.mean = deepcopy(self.network).requires_grad_(False)
        self.optimizer = torch.optim.AdamW(
            self.network.parameters(), STEP_SIZE, betas=(0.9, 0.99), weight_decay=0.01, fused=True
        )
        self.noise = torch.Generator().manual_seed(SEED)
        self.step = 0
        self.stress = 0.0
        self.seconds = 0.0

    def save(self, file: Path) -> None:
        state = {
            "codec": self.codec.__dict__,
            "full": self.full,
            "network": self.network.state_dict(),
            "mean": self.mean.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "noise": self.noise.get_state(),
            "step": self.step,
            "seconds": self.seconds,
        }
        partial = file.with_suffix(".part")
        torch.save(state, partial)
        partial.rename(file)

    @classmethod
    def load(cls, file: Path) -> "Training":
        state = torch.load(file)
        training = cls(Codec(**state["codec"]), state["full"])
        training.network.load_state_dict(state["network"])
        training.mean.load_state_dict(state["mean"])
        training.optimizer.load_state_dict(state["optimizer"])
        training.noise.set_state(state["noise"])
        training.step, training.seconds = state["step"], state["seconds"]
        return training

    def take_step(self, pictures: np.ndarray, scores: Tensor, size: float) -> float:
        """Make one step on a random batch, and return its loss."""
        rows = torch.randint(len(pictures), (BATCH,), generator=self.noise)
        shown = as_tensor(pictures[rows.numpy()])
        flipped = torch.rand(BATCH, generator=self.noise) < 0.5
        shown[flipped] = shown[flipped].flip(-1)
        clean = self.codec.encode(shown)
        words = self.random_words(scores[rows])
        # Colours are decided at high noise, edges at medium noise.
        cleanness = torch.sigmoid(1.5 * torch.randn(BATCH, generator=self.noise) - 0.4)
        t = cleanness[:, None, None, None]
        noisy = (1 - t) * torch.randn(clean.shape, generator=self.noise) + t * clean
        guess = self.network(noisy, cleanness, words)
        loss = (((guess - clean) / (1 - t).clamp(min=EASIEST)) ** 2).mean()
        for group in self.optimizer.param_groups:
            group["lr"] = size * min(1.0, (self.step + 1) / WARM_UP)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        self.step += 1
        keep = min(0.9995, (1 + self.step) / (10 + self.step))
        torch._foreach_lerp_(
            list(self.mean.parameters()), list(self.network.parameters()), 1 - keep
        )
        return loss.item()

    def random_words(self, scores: Tensor) -> Tensor:
        """Draw the words given for each picture: a random subset, often only words that fit."""
        truth = 2 * (scores / self.full).clamp(max=1) - 1
        many = len(scores)
        chances = torch.tensor([1.0, 0.6, 0.25, 0.1, 0.0])
        which = torch.multinomial(
            torch.tensor([0.15, 0.25, 0.3, 0.2, 0.1]), many, True, generator=self.noise
        )
        chance = chances[which][:, None]
        stressed = torch.tensor([word in STRESSED for word in WORDS]) & (truth > 0)
        chance = torch.where(stressed & (chance > 0), chance.clamp(min=self.stress), chance)
        kept = torch.rand(truth.shape, generator=self.noise) < chance
        only_true = torch.rand(many, 1, generator=self.noise) < 0.6
        return truth * kept * ~(only_true & (truth < 0))


def usual_scores(scores: np.ndarray) -> Tensor:
    """Return for each word the score that counts as a full yes."""
    return torch.from_numpy(np.quantile(scores, 0.98, axis=0)).float()


def encode_prompt(prompt: tuple[str, ...]) -> Tensor:
    return torch.tensor([float(word in prompt) for word in WORDS])


@torch.no_grad()
def sample(
    network: Denoiser, noise: Tensor, words: Tensor, steps: int = 12, guidance: float = 2.0
):
    """Integrate the ODE from noise to grids by Euler's method."""
    x = noise
    t = torch.linspace(0, 1, steps + 1)
    t = t / (t + 4 * (1 - t))  # shorter steps where there is most noise
    for now, then in itertools.pairwise(t):
        at = now.expand(len(x))
        with_words, without = network(x, at, words), network(x, at, torch.zeros_like(words))
        clean = without + guidance * (with_words - without)
        x = x + (then - now) * (clean - x) / (1 - now)
    return x


def sample_sheet(training: Training, file: Path, columns: int = 8, guidance: float = 2.0) -> None:
    noise = torch.randn(
        columns, COMPONENTS, GRID, GRID, generator=torch.Generator().manual_seed(0)
    )
    rows = []
    for prompt in PROMPTS:
        words = encode_prompt(prompt).expand(columns, -1)
        pictures = training.codec.decode(sample(training.mean, noise, words, guidance=guidance))
        rows.append(np.concatenate(list(as_bytes(pictures)), 1))
    sheet = Image.fromarray(np.concatenate(rows))
    sheet.resize((2 * sheet.width, 2 * sheet.height), Image.Resampling.BICUBIC).save(file)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--cooldown", action="store_true")
    parser.add_argument("--step-size", type=float, default=STEP_SIZE)
    parser.add_argument("--stress", type=float, default=0.0)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--every", type=float, default=5, help="minutes between checkpoints")
    return parser.parse_args()


def write_progress(
    training: Training, pictures: np.ndarray, losses: list[float], out: Path
) -> None:
    """Write the checkpoint, a line of the curve and a sheet of samples."""
    training.save(out / "state.pt")
    row = [training.step, round(training.seconds), len(pictures)]
    with (out / "curve.csv").open("a", newline="") as stream:
        csv.writer(stream).writerow([*row, round(np.mean(losses), 5)])
    print(*row, np.mean(losses), flush=True)
    sample_sheet(training, out / f"samples-{training.step:06d}.png")


def main() -> None:
    args = parse_arguments()
    torch.set_num_threads(args.threads)
    args.out.mkdir(parents=True, exist_ok=True)
    state = args.out / "state.pt"

    pictures, scores = load_pictures(args.data)
    if state.exists():
        training = Training.load(state)
    else:
        training = Training(Codec.of(pictures[:4000]), usual_scores(scores))
    training.stress = args.stress
    size = sum(p.numel() for p in training.network.parameters())
    training.network.to(memory_format=torch.channels_last)  # a fifth faster on a CPU
    print(f"{size / 1e6:.2f} million parameters, from step {training.step}", flush=True)

    start = saved = time.monotonic()
    losses: list[float] = []
    while (now := time.monotonic()) - start < 60 * args.minutes:
        left = 1 - (now - start) / (60 * args.minutes)
        step_size = args.step_size * (left if args.cooldown else 1.0)
        losses.append(training.take_step(pictures, torch.from_numpy(scores), step_size))
        if time.monotonic() - saved > 60 * args.every or training.step in (100, 500):
            training.seconds += time.monotonic() - saved
            saved = time.monotonic()
            write_progress(training, pictures, losses, args.out)
            losses.clear()
            if len(list(args.data.glob("*.npz"))) * 500 != len(pictures):
                pictures, scores = load_pictures(args.data)
    training.seconds += time.monotonic() - saved
    training.save(state)
    sample_sheet(training, args.out / f"samples-{training.step:06d}.png")


if __name__ == "__main__":
    main()
