"""A person, simulated, who ranks landscapes through the studio's HTTP interface and nothing else.

    python examples/simulated_person.py              # one seed, about a minute
    python examples/simulated_person.py --seeds 10   # the median over ten

They dream of a snowy night with a large moon over a lake (the tags), have a taste in every other
dial of a picture (hidden weights, one for each), and an eye that errs by a tenth of what random
pictures differ. Six pictures a round, twenty rounds, the choice of a start among them. What they
end with is compared with the best of 126 random pictures, as many as they looked at.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import erf, sqrt
from typing import Any

import numpy as np

from zorank.renderers import Landscape

WISHES = ("night", "snow", "moon", "large disc", "lake")
ROUNDS, SHOWN, NOISE = 20, 6, 0.1
LANDSCAPE = Landscape()


class Person:
    """A taste, and an eye that errs."""

    def __init__(self, seed: int) -> None:
        self._eye = np.random.default_rng([seed, 1])
        draws = np.random.default_rng([seed, 2]).standard_normal((300, LANDSCAPE.dim))
        self._hidden = np.random.default_rng([seed, 3]).standard_normal(LANDSCAPE.dim)
        self._scales = tuple(
            np.std([part(x) for x in draws]) for part in (self._wish, self._taste)
        )
        liked = [self.likes(x) for x in draws]
        self.mean, self.sd = float(np.mean(liked)), float(np.std(liked))

    def likes(self, x: np.ndarray) -> float:
        """How much they like a picture: half for what they dream of, half for their taste."""
        return float(self._wish(x) / self._scales[0] + self._taste(x) / self._scales[1])

    def order(self, pictures: list[np.ndarray]) -> list[int]:
        """Positions, best first, as they see it today."""
        seen = [self.likes(x) + NOISE * self.sd * self._eye.standard_normal() for x in pictures]
        return [int(i) for i in np.argsort(seen)[::-1]]

    def _wish(self, x: np.ndarray) -> float:
        attributes = LANDSCAPE.attributes(x)
        return sum(attributes[wish] for wish in WISHES)

    def _taste(self, x: np.ndarray) -> float:
        return float(self._hidden @ [erf(value / sqrt(2)) for value in x])


def rank(call: Callable[..., Any], person: Person, seed: int, rounds: int) -> np.ndarray:
    """Answer so many rounds through the HTTP interface; return the vector of the best picture."""
    run = call("POST", "/api/runs", {"renderer": "landscape", "m": SHOWN, "seed": seed})["id"]
    for _ in range(rounds):
        waiting = call("GET", f"/api/runs/{run}/round")
        index = waiting["index"]
        shown = call("GET", f"/api/runs/{run}/rounds/{index}/candidates")["candidates"]
        order = person.order([np.array(x) for x in shown])
        named = order[:1] if waiting["question"] == "best" else order
        answer = {"order": [[position] for position in named], "rater": "simulated"}
        call("POST", f"/api/runs/{run}/rounds/{index}/answer", answer)
    return np.array(call("GET", f"/api/runs/{run}/vector"))


@contextmanager
def studio() -> Iterator[Callable[..., Any]]:
    """A studio of our own; gives a function that calls its interface."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "zorank", "studio", "--no-browser", "--port", "0"]
        server = subprocess.Popen(
            [*command, "--store", f"{folder}/runs.db"], stdout=subprocess.PIPE, text=True
        )
        link = server.stdout.readline().split()[-1] if server.stdout else ""
        address, _, token = link.partition("/?token=")

        def call(method: str, path: str, body: Any = None) -> Any:
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            data = None if body is None else json.dumps(body).encode()
            request = urllib.request.Request(address + path, data, headers, method=method)
            with urllib.request.urlopen(request) as response:
                return json.loads(response.read())

        try:
            yield call
        finally:
            server.terminate()
            server.communicate()


def main() -> None:
    """Print what every seed reached, in standard deviations of random pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    gains = []
    with studio() as call:
        for seed in range(arguments.first, arguments.first + arguments.seeds):
            person = Person(seed)
            many = list(np.random.default_rng([seed, 4]).standard_normal((126, LANDSCAPE.dim)))
            lucky = person.likes(many[person.order(many)[0]])
            reached = person.likes(rank(call, person, seed, arguments.rounds))
            gains.append((reached - lucky) / person.sd)
            above = [(value - person.mean) / person.sd for value in (lucky, reached)]
            print(f"seed {seed}: best of 126 random {above[0]:.2f} sd, ranked {above[1]:.2f} sd")
    print(f"median gain over the best of 126: {statistics.median(gains):.2f} sd")


if __name__ == "__main__":
    main()
