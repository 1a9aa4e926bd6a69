"""Paints the training pictures: landscapes, and how well each word fits them.

    python training/landscapes.py --out FOLDER --count 60000 --seed 1

They vary less than the renderer's own: an attribute that a word names is clearly present or
absent, discs are whole and visible, outlines smooth, hazes thin, and patterns hardly move. A small
model learns these in hours, but not the full variety.

With --stressed .5, half of them are about one of the words that are hard to learn, in turn: words
for the ground, which are not seen at night or in fog, and small things. They still occur at every
hour and in every weather, only less often.

Picture i of a seed is always the same, so an incomplete folder is continued, and cores can share
the work: --part 0/2 and --part 1/2 paint the two halves.
"""

import argparse
from pathlib import Path

import numpy as np
from rich.progress import track

from zorank.dream.vocabulary import WORDS as TAUGHT
from zorank.renderers.landscape import Landscape
from zorank.renderers.landscape.dials import DIM, Dials

SIZE = 64
OVERSAMPLED = 2  # painted larger and averaged, for smooth edges
BLOCK = 500
WORDS = tuple(Landscape().attributes(np.zeros(DIM)))
CALMER = {  # mean and standard deviation of a dial, where they are not 0 and 1
    "time": (-0.15, 1.1),
    "disc_height": (0.9, 0.5),
    "disc_across": (0.0, 0.8),
    "glow": (1.2, 0.5),
    "bank_height": (-1.2, 0.5),
    "cloud_scale": (0.8, 0.3),
    "cloud_softness": (0.8, 0.3),
    "cloud_cover": (-0.3, 0.8),
    "streaks": (-0.3, 1.2),
    "far_roughness": (-0.9, 0.3),
    "mid_roughness": (-0.9, 0.3),
    "near_roughness": (-0.9, 0.3),
    "relief": (0.5, 0.4),
    "haze": (-0.7, 0.5),
    "mist": (-0.6, 1.2),
    "saturation": (0.3, 0.9),
    "horizon": (0.0, 0.4),
    "ridge_count": (0.0, 0.3),
    "peak_across": (0.0, 0.5),
    "valley_across": (0.0, 0.4),
    "swell": (-0.5, 0.4),
}
STILL = 0.25
"""The standard deviation of dials that only shift a pattern, such as the places of trees."""
APART = {  # the smallest distance of a dial from its middle
    "disc_size": 0.6,
    "cloud_cover": 0.5,
    "water": 0.4,
    "snow": 0.4,
    "tree_amount": 0.4,
    "peak_height": 0.4,
    "vegetation": 0.3,
    "bloom": 0.3,
    "streaks": 0.3,
    "mist": 0.3,
}
STRESSED: dict[str, dict[str, tuple[float, float]]] = {  # mean and deviation of dials
    "autumn": {"vegetation_hue": (1.9, 0.3), "vegetation": (1.2, 0.3), "bloom": (-1.0, 0.3)},
    "flowers": {"bloom": (2.0, 0.3)},
    "desert": {"vegetation": (-1.8, 0.3), "tree_amount": (-1.2, 0.3), "bloom": (-1.0, 0.3)},
    "muted": {"saturation": (-1.4, 0.3)},
    "small disc": {"disc_size": (-1.3, 0.3), "cloud_cover": (-1.2, 0.3)},
    "stars": {"time": (-1.6, 0.3), "sparkle": (1.4, 0.3), "cloud_cover": (-1.2, 0.3)},
}
"""What makes each of the words that are hard to learn."""
GROUND = ("autumn", "flowers", "desert")
SEEN = {  # the light and weather in which the ground is seen
    "time": (0.7, 0.5),
    "snow": (-0.9, 0.3),
    "haze": (-1.2, 0.3),
    "mist": (-1.5, 0.4),
    "water": (-1.0, 0.3),
}
MOSTLY = 0.7
"""The share of pictures about a word for the ground in which the ground is well seen."""


def calm_candidate(seed: int, number: int, stressed: float = 0.0) -> np.ndarray:
    """Draw a landscape with less variation in the attributes that no word names.

    With probability `stressed` it is about one of `STRESSED`.
    """
    drawn = np.random.default_rng([seed, number]).standard_normal(DIM)
    calm = dict(zip(Dials._fields, drawn, strict=True))
    for dial in calm:
        if dial.endswith(("_drift", "_shape", "_slant")):
            calm[dial] *= STILL
    for dial, (middle, spread) in CALMER.items():
        calm[dial] = middle + spread * calm[dial]
    for dial, gap in APART.items():
        calm[dial] += np.copysign(gap, calm[dial])
    if calm["time"] > -0.7:  # many stars are fine at night, but few sunbeams by day
        calm["sparkle"] = -0.8 + 0.8 * calm["sparkle"]
    stress(calm, np.random.default_rng([seed, number, 1]), stressed)
    return np.array([calm[dial] for dial in Dials._fields])


def stress(calm: dict[str, float], rng: np.random.Generator, share: float) -> None:
    """Make a share of the landscapes one about a word that is hard to learn, in place."""
    chosen, seen = rng.random() < share, rng.random() < MOSTLY
    word = tuple(STRESSED)[rng.integers(len(STRESSED))]
    if chosen:
        dials = {**(SEEN if word in GROUND and seen else {}), **STRESSED[word]}
        for dial, (middle, spread) in dials.items():
            calm[dial] = middle + spread * rng.standard_normal()


def picture_of(
    seed: int, number: int, size: int = SIZE, stressed: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return a picture (size, size, 3) of bytes, and the score of every word."""
    candidate = calm_candidate(seed, number, stressed)
    fine = Landscape(size * OVERSAMPLED).picture(candidate).astype(np.float32)
    blocks = fine.reshape(size, OVERSAMPLED, size, OVERSAMPLED, 3)
    scores = Landscape().attributes(candidate)
    return np.rint(blocks.mean((1, 3))).astype(np.uint8), np.array([scores[w] for w in WORDS])


def load_pictures(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Load all pictures of a folder, (n, size, size, 3) bytes, and their scores of WORDS."""
    files = sorted(folder.glob("*.npz"))
    if not files:
        raise SystemExit(f"no pictures in {folder}: run training/landscapes.py --out {folder}")
    blocks = [np.load(file) for file in files]
    columns = [WORDS.index(word) for word in TAUGHT]
    return (
        np.concatenate([block["pictures"] for block in blocks]),
        np.concatenate([block["scores"] for block in blocks])[:, columns].astype(np.float32),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=60_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int, default=SIZE)
    parser.add_argument("--stressed", type=float, default=0.0)
    parser.add_argument("--part", default="0/1", help="which part of how many, as 0/2")
    args = parser.parse_args()
    part, parts = map(int, args.part.split("/"))
    args.out.mkdir(parents=True, exist_ok=True)
    blocks = [b for b in range(-(-args.count // BLOCK)) if b % parts == part]
    for block in track(blocks, description="painting"):
        file = args.out / f"{args.seed}-{block:05d}.npz"
        if file.exists():
            continue
        numbers = range(block * BLOCK, min((block + 1) * BLOCK, args.count))
        found = [picture_of(args.seed, n, args.size, args.stressed) for n in numbers]
        partial = file.with_suffix(".part")
        with partial.open("wb") as stream:
            np.savez(
                stream,
                pictures=np.stack([picture for picture, _ in found]),
                scores=np.stack([scores for _, scores in found]).astype(np.float16),
            )
        partial.rename(file)
    _, scores = load_pictures(args.out)
    for word, share in zip(TAUGHT, (scores > 0.5).mean(axis=0), strict=True):
        print(f"{word:15} in {share:.1%}")


if __name__ == "__main__":
    main()
