"""Neighbouring latents give neighbouring pictures: the figure of section 4.3.

The paper shows a picture and three whose latents differ by N(0, 0.1 I). Here that is measured, and
for other distances: how much pixels change, beside how much two random pictures differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from zorank import rng
from zorank.experiments import sweep
from zorank.experiments.paper.claims import Claim
from zorank.experiments.paper.context import Lab, Report
from zorank.experiments.paper.latents import PROMPTS, VERSION, frame, kept, looks, renderer_of
from zorank.slates import Shell

VARIANCES = (1e-4, 1e-3, 1e-2, 0.1, 0.3, 1.0)
PAPERS = 0.1
NEIGHBOURS = 3


@dataclass(frozen=True)
class Surroundings:
    """A picture and its neighbours at every distance."""

    model: str | None
    prompt: str
    seed: int


def look_around(cell: Surroundings) -> sweep.Row:
    """How far the pictures of neighbours are, by the variance added; and some to look at."""
    renderer = renderer_of(cell.model, cell.prompt)
    picture, shell = looks(renderer), Shell()
    draws = rng.for_content(cell.seed, b"continuity", cell.prompt.encode())
    here, other = (shell.place(draws.standard_normal(renderer.dim)) for _ in range(2))
    seen = picture(here)
    moves = [draws.standard_normal(renderer.dim) for _ in range(NEIGHBOURS)]
    distances, shown = {}, [kept(renderer, here)]
    for variance in VARIANCES:
        near = [shell.place(here + np.sqrt(variance) * move) for move in moves]
        distances[str(variance)] = [float(np.abs(picture(x) - seen).mean()) for x in near]
        if variance == PAPERS:
            shown += [kept(renderer, x) for x in near]
    apart = float(np.abs(picture(other) - seen).mean())
    return {"distances": distances, "random": apart, "pictures": shown}


def reproduce(lab: Lab) -> Report:
    """Look around pictures of every prompt."""
    prompts, seeds = (PROMPTS[:2], range(1)) if lab.quick else (PROMPTS, range(3))
    around = [Surroundings(lab.model, prompt, seed) for prompt in prompts for seed in seeds]
    file = lab.folder / "continuity.cells.jsonl"
    rows = sweep.run(
        look_around, around, file, version=VERSION, workers=lab.workers, console=lab.console
    )
    random = np.array([row["random"] for row in rows])
    changes = {v: np.array([np.mean(r["distances"][str(v)]) for r in rows]) for v in VARIANCES}
    share = {v: float(np.median(changes[v]) / np.median(random)) for v in VARIANCES}
    steps = [share[b] / share[a] / np.sqrt(b / a) for a, b in ((1e-4, 1e-3), (1e-3, 1e-2))]
    where = f"{len(prompts)} prompts × {len(seeds)} seeds"
    return Report(
        name="continuity",
        title="Neighbouring latents, neighbouring pictures",
        claims=[
            Claim(
                "similar pictures",
                "With slight perturbations of the latent, N(0, 0.1 I), pictures are similar.",
                where,
                "change, as a share of that between random pictures",
                share[PAPERS] < 0.5,
                share[PAPERS],
                needed=0.5,
            ),
            Claim(
                "a continuous problem",
                "Optimising the latent is a continuous problem: small moves change little.",
                where,
                "change per distance, of 10⁻³ to 10⁻⁴ and of 10⁻² to 10⁻³",
                all(0.8 < step < 1.25 for step in steps),
                float(np.mean(steps)),
            ),
        ],
        draw=lambda figure: _draw(figure, around, rows, share),
        columns=("prompt", "seed", "variance", "mean_pixel_change", "random_pair"),
        records=[
            (cell.prompt, cell.seed, v, f"{np.mean(row['distances'][str(v)]):.6g}", row["random"])
            for cell, row in zip(around, rows, strict=True)
            for v in VARIANCES
        ],
        details={
            "model": lab.model or "dream",
            "prompts": list(prompts),
            "seeds": list(seeds),
            "median_change": {str(v): float(np.median(changes[v])) for v in VARIANCES},
            "median_random_pair": float(np.median(random)),
        },
        measure="Mean change of a pixel, medians",
    )


def _draw(figure: Any, around: list[Surroundings], rows: list[sweep.Row], share: Any) -> None:
    first = {cell.prompt: row for cell, row in zip(around, rows, strict=True) if cell.seed == 0}
    chosen = list(first.items())[:3]
    figure.set_size_inches(8.2, 1.75 * len(chosen) + 0.4)
    grid = figure.add_gridspec(len(chosen), NEIGHBOURS + 1 + 2)
    for i, (prompt, row) in enumerate(chosen):
        for j, text in enumerate(row["pictures"]):
            axes = figure.add_subplot(grid[i, j])
            above = ("the picture" if j == 0 else f"neighbour {j}") if i == 0 else ""
            frame(axes, text, above, prompt if j == 0 else "")
    axes = figure.add_subplot(grid[:, NEIGHBOURS + 1 :])
    axes.loglog(list(share), list(share.values()), "o-", color="#1f4e9c", lw=1.5, ms=4)
    axes.axhline(1.0, color="#888888", lw=0.8, ls=(0, (4, 2)))
    axes.text(VARIANCES[0], 1.08, "two random pictures", fontsize=7.5, color="#555555")
    axes.axvline(PAPERS, color="#d1691f", lw=0.8)
    axes.set_xlabel("variance added to the latent")
    axes.set_title("change of pixels")
    axes.grid(True, color="#e6e6e6", lw=0.6)
