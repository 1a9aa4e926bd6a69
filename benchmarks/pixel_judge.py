"""A simulated rater who sees only pixels ranks landscapes over the studio's HTTP interface.

    python benchmarks/pixel_judge.py --seeds 10

The rater prefers dark, blue pictures with a low horizon. The utility is the sum of the mean
luminance, blue minus red, and the height at which luminance changes from row to row, each
standardised over 300 random pictures. The noise is 0.1 standard deviations among random pictures.
A session is a start and twenty rounds of six, 126 pictures. Its final picture is compared with the
best of 126 random pictures, picked with the same noise.
"""

import argparse
import io
import json
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from PIL import Image

from zorank.renderers import Landscape

ROUNDS, SHOWN, NOISE = 20, 6, 0.1
LANDSCAPE = Landscape()


def qualities(picture: bytes) -> np.ndarray:
    """Return how dark, how blue and how low the horizon of a picture is."""
    pixels = np.asarray(Image.open(io.BytesIO(picture)).convert("RGB").resize((96, 96))) / 255
    luminance = pixels @ [0.3, 0.59, 0.11]
    change = np.diff(luminance.mean(axis=1)) ** 2
    height = float(change @ np.arange(change.size) / max(change.sum(), 1e-9))
    return np.array([-luminance.mean(), (pixels[..., 2] - pixels[..., 0]).mean(), height])


class Studio:
    """A client of the studio's HTTP interface."""

    def __init__(self, link: str) -> None:
        self._address, _, self._token = link.partition("/?token=")

    def bytes(self, method: str, path: str, body: Any = None) -> bytes:
        """Return the body of a response."""
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._address + path, data, headers, method=method)
        with urllib.request.urlopen(request) as response:
            return bytes(response.read())

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Return the JSON of a response."""
        return json.loads(self.bytes(method, path, body))


@contextmanager
def studio() -> Iterator[Studio]:
    """Start a studio, and stop it at the end."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "zorank", "studio", "--no-browser", "--port", "0"]
        server = subprocess.Popen(
            [*command, "--store", f"{folder}/runs.db"], stdout=subprocess.PIPE, text=True
        )
        try:
            yield Studio(server.stdout.readline().split()[-1] if server.stdout else "")
        finally:
            server.terminate()
            server.communicate()


def main() -> None:
    """Print the final utility of every seed, in standard deviations of random pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    draws = np.random.default_rng(12345).standard_normal((300, LANDSCAPE.dim))
    seen = np.array([qualities(e.data) for e in LANDSCAPE.render(draws)])
    centre, scale = seen.mean(axis=0), seen.std(axis=0)
    spread = float(((seen - centre) / scale).sum(axis=1).std())

    def liked(pictures: list[bytes]) -> np.ndarray:
        return np.array([((qualities(p) - centre) / scale).sum() / spread for p in pictures])

    gains = []
    with studio() as api:
        for seed in range(arguments.first, arguments.first + arguments.seeds):
            eye = np.random.default_rng([seed, 1])
            run = api.call("POST", "/api/runs", {"renderer": "landscape", "seed": seed})["id"]
            for _ in range(ROUNDS + 1):
                waiting = api.call("GET", f"/api/runs/{run}/round")
                pictures = [api.bytes("GET", e["url"]) for e in waiting["exhibits"]]
                values = liked(pictures) + NOISE * eye.standard_normal(len(pictures))
                order = [[int(i)] for i in np.argsort(-values)]
                answer = {"order": order, "rater": "pixels"}
                path = f"/api/runs/{run}/rounds/{waiting['index']}/answer"
                api.call("POST", path, answer)
            reached = float(liked([api.bytes("GET", f"/api/runs/{run}/best")])[0])
            many = np.random.default_rng([seed, 2]).standard_normal((126, LANDSCAPE.dim))
            values = liked([e.data for e in LANDSCAPE.render(many)])
            lucky = float(values[np.argmax(values + NOISE * eye.standard_normal(126))])
            gains.append(reached - lucky)
            print(f"seed {seed}: best of 126 random {lucky:.2f} sd, ranked {reached:.2f} sd")
    error = statistics.stdev(gains) / len(gains) ** 0.5 if len(gains) > 1 else float("nan")
    print(f"mean gain over the best of 126: {statistics.mean(gains):.2f} ± {error:.2f} sd")


if __name__ == "__main__":
    main()
