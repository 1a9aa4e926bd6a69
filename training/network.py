"""The networks of `dream`: a small U-Net that predicts the clean picture, and an upscaler.

A picture of 64 × 64 pixels is a 16 × 16 grid of patches, and a patch is 16 principal components
(see `codec.py`). The U-Net works on that grid. Its inputs are a noisy grid, its cleanness (0 is
noise, 1 is a picture) and a value for each word: 1 for "yes", −1 for "no", 0 for "not mentioned".
Attribute names are keys of the stored weights.
"""

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

GRID = 16
PATCH_PIXELS = 4
COMPONENTS = 16
GROUPS = 8


class Block(nn.Module):
    """A residual block of two convolutions, modulated by time and words (scale and shift)."""

    def __init__(self, inputs: int, outputs: int, said: int) -> None:
        super().__init__()
        self.first = nn.Sequential(
            nn.GroupNorm(GROUPS, inputs), nn.SiLU(), nn.Conv2d(inputs, outputs, 3, padding=1)
        )
        self.norm = nn.GroupNorm(GROUPS, outputs)
        self.said = nn.Linear(said, 2 * outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.short_cut = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()
        nn.init.zeros_(self.second.weight)

    def forward(self, x: Tensor, said: Tensor) -> Tensor:
        scale, shift = self.said(said)[:, :, None, None].chunk(2, 1)
        inside = functional.silu(self.norm(self.first(x)) * (1 + scale) + shift)
        return self.short_cut(x) + self.second(inside)


class Attention(nn.Module):
    """Self-attention over all places of the grid."""

    def __init__(self, channels: int, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.GroupNorm(GROUPS, channels)
        self.asked = nn.Conv2d(channels, 3 * channels, 1)
        self.told = nn.Conv2d(channels, channels, 1)
        nn.init.zeros_(self.told.weight)

    def forward(self, x: Tensor) -> Tensor:
        many, channels, rows, columns = x.shape
        parts = self.asked(self.norm(x)).reshape(
            many, 3, self.heads, channels // self.heads, rows * columns
        )
        query, key, value = parts.transpose(-1, -2).unbind(1)
        seen = functional.scaled_dot_product_attention(query, key, value)
        return x + self.told(seen.transpose(-1, -2).reshape(many, channels, rows, columns))


class Level(nn.Module):
    """Blocks at one resolution."""

    def __init__(self, inputs: int, outputs: int, said: int, blocks: int, attends: bool) -> None:
        super().__init__()
        widths = [inputs] + [outputs] * blocks
        self.blocks = nn.ModuleList(Block(a, b, said) for a, b in itertools.pairwise(widths))
        self.attentions = nn.ModuleList(
            Attention(outputs) if attends else nn.Identity() for _ in range(blocks)
        )

    def forward(self, x: Tensor, said: Tensor) -> Tensor:
        for block, attention in zip(self.blocks, self.attentions, strict=True):
            x = attention(block(x, said))
        return x


class Denoiser(nn.Module):
    """Predicts the clean grid from a noisy grid, its cleanness and the words.

    The output is the Wiener estimate of each component, which is linear in the noisy one, plus a
    correction by the network in units of the Wiener estimate's standard deviation. The input is
    scaled to unit variance (preconditioning, after Karras et al., 2022).
    """

    def __init__(
        self, words: int, widths: Sequence[int] = (80, 128, 160), blocks: int = 2, said: int = 128
    ) -> None:
        super().__init__()
        self.register_buffer("spread", torch.ones(COMPONENTS))
        self.register_buffer("rates", 1000.0 ** -(torch.arange(32) / 31.0))
        self.understanding = nn.Sequential(
            nn.Linear(2 * 32 + words, said), nn.SiLU(), nn.Linear(said, said), nn.SiLU()
        )
        self.entry = nn.Conv2d(COMPONENTS, widths[0], 3, padding=1)
        self.places = nn.Parameter(0.02 * torch.randn(1, widths[0], GRID, GRID))
        deeper = list(zip(widths[:1] + widths[:-1], widths, strict=True))
        self.down = nn.ModuleList(
            Level(a, b, said, blocks, attends=depth > 0) for depth, (a, b) in enumerate(deeper)
        )
        self.halve = nn.ModuleList(nn.Conv2d(w, w, 3, 2, 1) for w in widths[:-1])
        self.up = nn.ModuleList(
            Level(2 * b if depth < len(widths) - 1 else b, b, said, blocks, attends=depth > 0)
            for depth, (_, b) in enumerate(deeper)
        )
        self.enlarge = nn.ModuleList(
            nn.Conv2d(b, a, 3, padding=1) for a, b in itertools.pairwise(widths)
        )
        self.exit = nn.Sequential(
            nn.GroupNorm(GROUPS, widths[0]),
            nn.SiLU(),
            nn.Conv2d(widths[0], COMPONENTS, 3, padding=1),
        )
        nn.init.zeros_(self.exit[-1].weight)

    def forward(self, noisy: Tensor, cleanness: Tensor, words: Tensor) -> Tensor:
        angles = 100.0 * cleanness[:, None] * self.rates
        said = self.understanding(torch.cat([angles.sin(), angles.cos(), words], 1))
        t, spread = cleanness[:, None, None, None], self.spread[:, None, None]
        size = ((t * spread) ** 2 + (1 - t) ** 2).sqrt()
        x = self.entry(noisy / size) + self.places
        kept = []
        for level, halve in zip(self.down[:-1], self.halve, strict=True):
            kept.append(level(x, said))
            x = halve(kept[-1])
        x = self.up[-1](self.down[-1](x, said), said)
        for level, enlarge in zip(self.up[-2::-1], self.enlarge[::-1], strict=True):
            x = enlarge(functional.interpolate(x, scale_factor=2.0, mode="nearest"))
            x = level(torch.cat([x, kept.pop()], 1), said)
        line = t * (spread / size) ** 2 * noisy
        return line + (1 - t) * spread / size * self.exit(x)


class Upscaler(nn.Module):
    """Enlarges 64 × 64 pixels to 256 × 256: bilinear interpolation plus a learned residual."""

    def __init__(self, width: int = 48, blocks: int = 4, factor: int = 4) -> None:
        super().__init__()
        self.factor = factor
        self.entry = nn.Conv2d(3, width, 3, padding=1)
        self.blocks = nn.ModuleList(
            nn.Sequential(
                nn.Conv2d(width, width, 3, padding=1),
                nn.SiLU(),
                nn.Conv2d(width, width, 3, padding=1),
            )
            for _ in range(blocks)
        )
        self.exit = nn.Conv2d(width, 3 * factor**2, 3, padding=1)
        nn.init.zeros_(self.exit.weight)
        nn.init.zeros_(self.exit.bias)

    def forward(self, picture: Tensor) -> Tensor:
        large = functional.interpolate(
            picture, scale_factor=float(self.factor), mode="bilinear", align_corners=False
        )
        x = self.entry(picture)
        for block in self.blocks:
            x = x + block(x)
        return large + functional.pixel_shuffle(self.exit(x), self.factor)


class PictureEncoder(nn.Module):
    """A small convolutional network that maps a 64 × 64 picture to a vector."""

    def __init__(self, outputs: int, widths: Sequence[int] = (16, 48, 96, 128, 160)) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for a, b in zip((3, *widths[:-1]), widths, strict=True):
            layers += [nn.Conv2d(a, b, 3, 2, 1), nn.GroupNorm(GROUPS, b), nn.SiLU()]
            layers += [nn.Conv2d(b, b, 3, 1, 1), nn.GroupNorm(GROUPS, b), nn.SiLU()]
        self.layers = nn.Sequential(*layers)
        self.out = nn.Linear(4 * widths[-1], outputs)  # a 2 × 2 grid keeps positions

    def forward(self, pictures: Tensor) -> Tensor:
        return self.out(self.layers(pictures).flatten(1))


class Judge(nn.Module):
    """The fit of pictures to words: the cosine similarity of their embeddings."""

    def __init__(self, words: int, room: int = 64) -> None:
        super().__init__()
        self.seen = PictureEncoder(room)
        self.meant = nn.Sequential(nn.Linear(words, 128), nn.SiLU(), nn.Linear(128, room))
        self.sharpness = nn.Parameter(torch.tensor(2.0))

    def embed(self, pictures: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
        return (
            functional.normalize(self.seen(pictures), dim=1),
            functional.normalize(self.meant(words), dim=1),
        )

    def forward(self, pictures: Tensor, words: Tensor) -> Tensor:
        """Return the fit of each picture to its words, from −1 to 1."""
        seen, meant = self.embed(pictures, words)
        return (seen * meant).sum(1)
