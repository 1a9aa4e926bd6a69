"""Checks that the packaged `dream` shows the words of its prompts, on unselected pictures.

    python training/check.py --classifier RUN/classifier.pt --out docs/results/dream.json

For every single word, and for the prompts of the experiments, it renders some pictures and applies
the classifier, which was trained on other landscapes than the denoiser. It writes the detected
shares as JSON and, with --sheet, a sheet of the first pictures of each prompt.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from network import PictureEncoder
from PIL import Image
from rich.progress import track

from zorank.dream.vocabulary import WORDS, read
from zorank.experiments.paper.latents import PROMPTS
from zorank.renderers import Dream


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--classifier", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--each", type=int, default=20, help="pictures of every prompt")
    parser.add_argument("--sheet", type=Path, help="a picture of some of them")
    parser.add_argument("--seed", type=int, default=1000)
    args = parser.parse_args()
    classifier = PictureEncoder(len(WORDS)).eval()
    classifier.load_state_dict(torch.load(args.classifier))
    found: dict[str, list[float]] = {}
    rows = []
    for prompt in track([*WORDS, *PROMPTS], description="dreaming"):
        dream = Dream(prompt=prompt)
        draws = np.random.default_rng([args.seed, *prompt.encode()])
        noise = [draws.standard_normal(dream.dim) for _ in range(args.each)]
        pictures = np.stack([dream.small_picture(x) for x in noise])
        with torch.no_grad():
            seen = classifier(torch.from_numpy(2 * pictures.transpose(0, 3, 1, 2) - 1)).numpy() > 0
        for i in np.flatnonzero(read(prompt)):
            found.setdefault(WORDS[i], []).extend(seen[:, i].tolist())
        if prompt in PROMPTS:
            rows.append([dream.picture(x) for x in noise[:8]])
    missed = json.loads(args.classifier.with_suffix(".json").read_text())
    words = {
        word: {"found": float(np.mean(s)), "of": len(s), "missed": missed[word]}
        for word, s in found.items()
    }
    detected = [s for seen in found.values() for s in seen]
    result = {
        "words": words,
        "found": float(np.mean(detected)),
        "of": len(detected),
        "seed": args.seed,
    }
    args.out.write_text(json.dumps(result, indent=1) + "\n")
    for word, row in words.items():
        print(f"{word:15} {row['found']:.2f} of {row['of']}")
    print(f"all             {result['found']:.3f} of {result['of']}")
    if args.sheet:
        cells = [np.concatenate([np.asarray(thumbnail(p)) for p in row], 1) for row in rows]
        Image.fromarray(np.concatenate(cells)).save(args.sheet, quality=90)


def thumbnail(picture: np.ndarray) -> Image.Image:
    return Image.fromarray(picture).resize((160, 160), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    main()
