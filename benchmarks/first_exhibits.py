"""Measures how soon a studio shows the first six exhibits, over its HTTP interface.

    python benchmarks/first_exhibits.py style
    python benchmarks/first_exhibits.py voice --times 3

For each new studio process it prints two times in seconds: from the start of the process to its
address, and from the request for a new run to the last byte of the six exhibits. The model is
loaded within the second, so every repetition has a process of its own.
"""

import argparse
import tempfile
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import httpx2 as httpx
from studio_process import TOKEN, studio

LONGEST = 300.0
"""Seconds after which a request fails."""


def first_exhibits(renderer: str) -> tuple[float, float]:
    """Start a studio and a run; return the two times."""
    with tempfile.TemporaryDirectory() as folder:
        began = perf_counter()
        with studio(f"sqlite:///{folder}/runs.db", renderer) as (address, _):
            started = perf_counter()
            headers = {"Authorization": f"Bearer {TOKEN}"}
            with httpx.Client(base_url=address, headers=headers, timeout=LONGEST) as client:

                def fetched(exhibit: dict[str, str]) -> int:
                    return len(client.get(exhibit["url"]).raise_for_status().content)

                made = client.post("/api/runs", json={"renderer": renderer, "m": 6, "seed": 0})
                run = made.raise_for_status().json()["id"]
                waiting = client.get(f"/api/runs/{run}/round").raise_for_status().json()
                with ThreadPoolExecutor(6) as threads:  # as a browser does
                    sizes = list(threads.map(fetched, waiting["exhibits"]))
                shown = perf_counter()
        if len(sizes) != 6 or not all(sizes):
            raise SystemExit(f"expected six exhibits, found files of {sizes} bytes")
        return started - began, shown - started


def main() -> None:
    """Print the times of some studios, one after another."""
    parser = argparse.ArgumentParser()
    parser.add_argument("renderer")
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    for _ in range(given.times):
        start, exhibits = first_exhibits(given.renderer)
        print(f"studio {start:.2f} s, six exhibits {exhibits:.2f} s", flush=True)


if __name__ == "__main__":
    main()
