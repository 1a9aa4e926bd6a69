"""Neighbouring latents give neighbouring pictures: the figure of section 4.3.

The paper shows a picture and three others whose latents differ by N(0, 0.1 I). This figure
measures the change of pixels for several variances, relative to that between random pictures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from zorank import rng
from zorank.experiments.claims import Claim
from zorank.experiments.paper.context import FigureContext
from zorank.experiments.paper.latents import (
    PROMPTS,
    draw_picture,
    encoded_picture,
    picture_function,
    renderer_of,
    version,
)
from zorank.experiments.report import Report
from zorank.experiments.sweep import Row, Sweep
from zorank.slates import Shell

VARIANCES = (1e-4, 1e-3, 1e-2, 0.1, 0.3, 1.0)
PAPERS = 0.1
NEIGHBOURS = 3


@dataclass(frozen=True)
class Trial:
    """A picture and its neighbours at every distance."""

    model: str | None
    prompt: str
    seed: int


def run_trial(trial: Trial) -> Row:
    """Return the pixel distances to neighbours, by variance, and some of the pictures."""
    renderer = renderer_of(trial.model, trial.prompt)
    picture, shell = picture_function(renderer), Shell()
    draws = rng.for_content(trial.seed, b"continuity", trial.prompt.encode())
    here, other = (shell.place(draws.standard_normal(renderer.dim)) for _ in range(2))
    seen = picture(here)
    moves = [draws.standard_normal(renderer.dim) for _ in range(NEIGHBOURS)]
    distances, shown = {}, [encoded_picture(renderer, here)]
    for variance in VARIANCES:
        near = [shell.place(here + np.sqrt(variance) * move) for move in moves]
        distances[str(variance)] = [float(np.abs(picture(x) - seen).mean()) for x in near]
        if variance == PAPERS:
            shown += [encoded_picture(renderer, x) for x in near]
    apart = float(np.abs(picture(other) - seen).mean())
    return {"distances": distances, "random": apart, "pictures": shown}


SWEEP = Sweep("continuity", run_trial, version, kind="Surroundings")


def reproduce(context: FigureContext) -> Report:
    """Measure the neighbours of pictures of every prompt."""
    several, seeds = (PROMPTS[:2], range(1)) if context.quick else (PROMPTS, range(3))
    prompts = several if context.prompt is None else (context.prompt,)
    trials = [Trial(context.model, prompt, seed) for prompt in prompts for seed in seeds]
    rows = context.run(SWEEP, trials)
    random = np.array([row["random"] for row in rows.values()])
    changes = {
        v: np.array([np.mean(row["distances"][str(v)]) for row in rows.values()])
        for v in VARIANCES
    }
    share = {v: float(np.median(changes[v]) / np.median(random)) for v in VARIANCES}
    return context.report(
        name="continuity",
        title="Neighbouring latents, neighbouring pictures",
        claims=_claims(share, f"{len(prompts)} prompts × {len(seeds)} seeds"),
        draw=lambda figure: _draw(figure, rows, share),
        columns=("prompt", "seed", "variance", "mean_pixel_change", "random_pair"),
        records=[
            (t.prompt, t.seed, v, f"{np.mean(row['distances'][str(v)]):.6g}", row["random"])
            for t, row in rows.items()
            for v in VARIANCES
        ],
        details={
            "model": context.model or "dream",
            "prompts": list(prompts),
            "seeds": list(seeds),
            "median_change": {str(v): float(np.median(changes[v])) for v in VARIANCES},
            "median_random_pair": float(np.median(random)),
        },
        measure="Mean change of a pixel, medians",
    )


def _claims(share: Mapping[float, float], where: str) -> list[Claim]:
    steps = [share[b] / share[a] / np.sqrt(b / a) for a, b in ((1e-4, 1e-3), (1e-3, 1e-2))]
    return [
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
    ]


def _draw(figure: Any, rows: Mapping[Trial, Row], share: Mapping[float, float]) -> None:
    first = {trial.prompt: row for trial, row in rows.items() if trial.seed == 0}
    chosen = list(first.items())[:3]
    figure.set_size_inches(8.2, 1.75 * len(chosen) + 0.4)
    grid = figure.add_gridspec(len(chosen), NEIGHBOURS + 1 + 2)
    for i, (prompt, row) in enumerate(chosen):
        for j, text in enumerate(row["pictures"]):
            axes = figure.add_subplot(grid[i, j])
            above = ("the picture" if j == 0 else f"neighbour {j}") if i == 0 else ""
            draw_picture(axes, text, above, prompt if j == 0 else "")
    axes = figure.add_subplot(grid[:, NEIGHBOURS + 1 :])
    axes.loglog(list(share), list(share.values()), "o-", color="#1f4e9c", lw=1.5, ms=4)
    axes.axhline(1.0, color="#888888", lw=0.8, ls=(0, (4, 2)))
    axes.text(VARIANCES[0], 1.08, "two random pictures", fontsize=7.5, color="#555555")
    axes.axvline(PAPERS, color="#d1691f", lw=0.8)
    axes.set_xlabel("variance added to the latent")
    axes.set_title("change of pixels")
    axes.grid(True, color="#e6e6e6", lw=0.6)
