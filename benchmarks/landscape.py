"""Measures the time of a landscape of 512² pixels, and the effect of each latent.

    python benchmarks/landscape.py [--latents]

The first table is processor time (all threads together; the renderer uses one) for one picture,
and its ratio to two peers measured in the same run on the same pictures: a Gaussian blur of the
three channels by FFT in NumPy, a simple operation on every pixel, and the JPEG encoding of the
picture. The second table is a profile. With --latents, a third table has the mean change of the
picture, in levels of 255, when one latent moves by 2 towards the other side.
"""

import cProfile
import pstats
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from zorank.renderers.landscape import Landscape
from zorank.renderers.landscape.dials import Dials
from zorank.renderers.pictures import jpeg

PICTURES = 20
BASES = 12
CALLS_SHOWN = 18


def seconds(action: Callable[..., object], *arguments: object) -> float:
    """Return the processor time of one call."""
    begin = time.process_time()
    action(*arguments)
    return time.process_time() - begin


def gaussian_blur(picture: np.ndarray, sigma: float = 2.0) -> np.ndarray:
    """Blur a picture by a Gaussian of `sigma` pixels, periodic at the edges."""
    channels = picture.transpose(2, 0, 1).astype(np.float32)
    down, across = np.fft.fftfreq(picture.shape[0])[:, None], np.fft.rfftfreq(picture.shape[1])
    kernel = np.exp(-2 * (np.pi * sigma) ** 2 * (down**2 + across**2)).astype(np.float32)
    return np.fft.irfft2(np.fft.rfft2(channels) * kernel, s=picture.shape[:2])


def print_cost(renderer: Landscape, candidates: np.ndarray) -> None:
    """Print the time of a picture, and its ratio to the two peers."""
    pictures, blurs, encodings = [], [], []
    for candidate in candidates:
        shown = renderer.picture(candidate)
        pictures.append(seconds(renderer.picture, candidate))
        blurs.append(seconds(gaussian_blur, shown))
        encodings.append(seconds(jpeg, shown))
    cost = statistics.mean(pictures)
    print(f"{'':<14} {'mean ms':>8} {'max ms':>8} {'picture / it':>13}")
    for name, times in (("picture", pictures), ("Gaussian blur", blurs), ("JPEG", encodings)):
        mean, longest = statistics.mean(times), max(times)
        print(f"{name:<14} {1e3 * mean:>8.1f} {1e3 * longest:>8.1f} {cost / mean:>13.1f}")


def print_profile(renderer: Landscape, candidates: np.ndarray) -> None:
    """Print the renderer's functions by cumulative time."""
    profile = cProfile.Profile()
    profile.enable()
    for candidate in candidates:
        renderer.picture(candidate)
    profile.disable()
    functions = pstats.Stats(profile).get_stats_profile().func_profiles
    ours = [(f.cumtime, f, name) for name, f in functions.items() if "landscape" in f.file_name]
    print(f"\n{'function':<18} {'calls':>7} {'ms in it':>9} {'ms with callees':>16}")
    for _, f, name in sorted(ours, key=lambda row: -row[0])[:CALLS_SHOWN]:
        calls, per = int(f.ncalls.split("/")[0]) / len(candidates), 1e3 / len(candidates)
        print(f"{name:<18} {calls:>7.0f} {per * f.tottime:>9.1f} {per * f.cumtime:>16.1f}")


def print_latents(renderer: Landscape, candidates: np.ndarray) -> None:
    """Print the effect of each latent on the picture, in increasing order."""
    pictures = [renderer.picture(candidate).astype(float) for candidate in candidates]
    rows = []
    for i, name in enumerate(Dials._fields):
        changes = []
        for candidate, picture in zip(candidates, pictures, strict=True):
            moved = candidate.copy()
            moved[i] -= 2 * np.copysign(1, moved[i])
            changes.append(float(np.abs(renderer.picture(moved) - picture).mean()))
        rows.append((statistics.mean(changes), max(changes), name))
    print(f"\n{'latent':<18} {'mean change':>12} {'largest':>9}")
    for mean, largest, name in sorted(rows):
        print(f"{name:<18} {mean:>12.2f} {largest:>9.2f}")


def main() -> None:
    """Print the tables."""
    renderer = Landscape()
    candidates = np.random.default_rng(5).standard_normal((PICTURES, renderer.dim))
    first = seconds(renderer.render, candidates[:1])
    print(f"the first picture, which builds the noise tables: {first:.2f} s")
    print_cost(renderer, candidates)
    print_profile(renderer, candidates[: PICTURES // 2])
    if "--latents" in sys.argv[1:]:
        print_latents(Landscape(192), candidates[:BASES])


if __name__ == "__main__":
    main()
