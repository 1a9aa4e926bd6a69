"""Paints the training pictures: landscapes, and how well each word fits them.

    python training/landscapes.py --out FOLDER --count 60000 --seed 1

They vary less than the renderer's own: an attribute that a word names is clearly present or
absent, discs are whole and visible, outlines smooth, hazes thin, and patterns hardly move. A small
model learns these in hours, but not the full variety.

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


def calm_candidate(seed: int, number: int) -> np.ndarray:
    """Draw a landscape with less variation in the attributes that no word names."""
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
    return np.array([calm[dial] for dial in Dials._fields])


def picture_of(seed: int, number: int, size: int = SIZE) -> tuple[np.ndarray, np.ndarray]:
    """Return a picture (size, size, 3) of bytes, and the score of every word."""
    candidate = calm_candidate(seed, number)
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
        found = [picture_of(args.seed, n, args.size) for n in numbers]
        partial = file.with_suffix(".part")
        with partial.open("wb") as stream:
            np.savez(
                stream,
                pictures=np.stack([picture for picture, _ in found]),
                scores=np.stack([scores for _, scores in found]).astype(np.float16),
            )
        partial.rename(file)


if __name__ == "__main__":
    main()
