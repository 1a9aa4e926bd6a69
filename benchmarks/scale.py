"""Measures the cost of a round from d = 100 to 100 million, the speed-up by workers, and traffic.

    python benchmarks/scale.py all --out docs/results/scale.json --picture docs/images/scale.png

cost     one round (ask, evaluate every candidate, tell) in a fresh process for each size: its time
         relative to drawing m·d normals, and its peak memory relative to one vector of d. Peers:
         pycma with a diagonal covariance, cmaes' SepCMA, EvoTorch's SNES where they are installed,
         and a plain evolution strategy in ten lines of NumPy.
workers  the speed-up by two workers on a compute-bound objective, and the bytes sent in a round.

Each is a ratio to a bound or a peer in the same run. m = 10; float32 from a million on.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from scale_cost import ROUNDS, SIZES, cost, measure
from scale_workers import workers


def draw_picture(found: dict[str, Any], path: Path) -> None:
    """Plot time and memory against d, and speed against workers."""
    from matplotlib.figure import Figure

    rows = found["cost"]
    styles = {
        "zorank": ("zorank", "#1f4e9c", 2.4),
        "numpy": ("plain NumPy ES", "#888888", 1.2),
        "evotorch": ("EvoTorch SNES", "#d1691f", 1.2),
        "pycma": ("pycma, diagonal", "#3a8a4d", 1.2),
        "cmaes": ("cmaes SepCMA", "#a03060", 1.2),
    }
    figure = Figure(figsize=(9.6, 3.3), layout="constrained")
    times, memory, speed = figure.subplots(1, 3, width_ratios=(3, 2.4, 1.6))
    for name, (label, colour, width) in styles.items():
        mine = [r for r in rows if r["name"] == name and r["threads"] == 1]
        style: dict[str, Any] = {"color": colour, "lw": width, "marker": "o", "ms": 3}
        sizes = [r["d"] for r in mine]
        times.loglog(sizes, [r["seconds"] for r in mine], label=label, **style)
        large = [r for r in mine if r["d"] >= 1_000_000]
        memory.loglog([r["d"] for r in large], [r["vectors"] for r in large], **style)
    ours = [r for r in rows if r["name"] == "zorank" and r["threads"] == 1]
    drawn = [r["draws"] for r in ours]
    times.loglog([r["d"] for r in ours], drawn, "k:", lw=1, label="m·d normals alone")
    memory.axhline(3, color="#888888", lw=0.8, ls="--")
    workers = found["workers"]
    gains = {n: workers["alone"] / workers[f"processes {n}"] for n in (1, 2, 4)}
    speed.plot(list(gains), list(gains.values()), "o-", color="#1f4e9c", lw=2.4, ms=3)
    speed.plot([2], [workers["alone"] / workers["dask 2"]], "s", color="#d1691f", ms=4)
    speed.annotate("Dask", (2, workers["alone"] / workers["dask 2"]), (2.2, 1.6), fontsize=7.5)
    times.set_ylabel("seconds a round, m = 10, one thread")
    memory.set_ylabel("peak memory, vectors of d")
    speed.set_ylabel(f"speed, {workers['cores']} cores")
    speed.set_xlabel("worker processes")
    speed.set_ylim(0, 2.2)
    for axes in (times, memory):
        axes.set_xlabel("d")
    for axes in (times, memory, speed):
        axes.grid(True, color="#e6e6e6", lw=0.6)
    figure.legend(loc="outside upper center", ncols=6, frameon=False, fontsize=8)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("all", "cost", "workers", "one"))
    parser.add_argument("--name", choices=ROUNDS)
    parser.add_argument("--size", type=int)
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--picture", type=Path)
    args = parser.parse_args()
    if args.what == "one":
        print(json.dumps(measure(args.name, args.size)))
        return
    found: dict[str, Any] = (
        json.loads(args.out.read_text()) if args.out and args.out.exists() else {}
    )
    if args.what in ("all", "cost"):
        found["cost"] = cost(tuple(d for d in SIZES if d <= args.largest))
    if args.what in ("all", "workers"):
        found["workers"] = workers()
    if args.out:
        args.out.write_text(json.dumps(found, indent=1) + "\n")
    if args.picture:
        draw_picture(found, args.picture)


if __name__ == "__main__":
    main()
