"""A person or a model as judge of a diffusion model's pictures: the panel of section 4.3.

Each round shows six pictures. The simulated person has a taste in `picture_qualities` and a noise
of 0.1 standard deviations among random pictures, and gives 20 answers. The model judge scores how
well pictures fit the prompt and gives 50. The final picture of each is rated by the person's
taste, in standard deviations of random pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from zorank.experiments.baselines import BestOfRandom, Neighbours
from zorank.experiments.claims import Claim, difference_claim
from zorank.experiments.paper.context import FigureContext
from zorank.experiments.paper.latents import (
    PROMPTS,
    draw_picture,
    encoded_picture,
    fit_of,
    picture_function,
    renderer_of,
    version,
)
from zorank.experiments.picture_qualities import random_pictures, taste_in_pictures
from zorank.experiments.report import Report
from zorank.experiments.simulated_raters import SimulatedRater, Taste, run_session
from zorank.experiments.sweep import Row, Sweep
from zorank.optimizers import PickStart, RankProcess
from zorank.protocols import AnyOptimizer
from zorank.renderers.interface import ResolvedRenderer
from zorank.types import Vector

START, END = 0, 1
SHOWN, ANSWERS, MODEL_ANSWERS, NOISE = 6, 20, 50, 0.1
PAPERS = {"step": 1.0, "mu": 0.1, "gamma": 0.5, "m": SHOWN, "space": "gaussian"}

METHODS: dict[str, Callable[[], AnyOptimizer]] = {
    "best of random": lambda: BestOfRandom(m=SHOWN),
    "neighbours": lambda: Neighbours(m=SHOWN),
    "algorithm 3": lambda: PickStart(m=SHOWN, options=PAPERS),
    "rank-process": lambda: RankProcess(m=SHOWN, space="gaussian", pick=True),
}
"""How the next pictures are chosen, by name."""


@dataclass(frozen=True)
class Trial:
    """One session of a judge with one model.

    Attributes:
        model: a diffusers pipeline; None is dream.
        prompt: of the pictures.
        method: how the next pictures are chosen.
        judge: "person" or "model".
        answers: after the first choice.
        seed: of the person's taste and of all random draws.
    """

    model: str | None
    prompt: str
    method: str
    judge: str
    answers: int
    seed: int


def run_trial(trial: Trial) -> Row:
    """Run a session; return the ratings and pictures of its start and its end."""
    renderer = renderer_of(trial.model, trial.prompt)
    liked = taste_in_pictures(picture_function(renderer), renderer.dim, trial.seed)
    fits = _fit(renderer, trial.prompt)
    rated, rater = (
        (liked, SimulatedRater(noise=NOISE))
        if trial.judge == "person"
        else (fits, SimulatedRater())
    )
    seen: list[Vector] = []
    optimizer = METHODS[trial.method]()
    session = run_session(
        optimizer, rated, renderer.dim, rater, trial.answers + 1, trial.seed, seen.append
    )
    start, end = seen[0], seen[-1]
    drift = renderer.drift(end) or {}
    return {
        "gains": list(session.gains),
        "liked": [-float(liked(start)), -float(liked(end))],
        "fits": [-float(fits(start)), -float(fits(end))],
        "pictures": [encoded_picture(renderer, start), encoded_picture(renderer, end)],
        "norm": drift["norm"],
        "moment": drift["largest"],
    }


def _fit(renderer: ResolvedRenderer, prompt: str) -> Taste:
    """Return how badly pictures fit the prompt, standardised over random pictures."""
    picture = picture_function(renderer)

    def misfit(x: Vector) -> Any:
        pictures = np.stack([picture(row) for row in np.atleast_2d(x)])
        found = -fit_of(pictures, prompt)
        return found if x.ndim == 2 else float(found[0])

    values = -fit_of(random_pictures(picture, renderer.dim), prompt)
    return Taste(misfit, float(values.mean()), float(values.std()))


SWEEP = Sweep("latent-judges", run_trial, version, kind="Sitting")


def reproduce(context: FigureContext) -> Report:
    """Run the person with every method, and the model with Algorithm 3."""
    prompts, seeds = (PROMPTS[:1], range(1)) if context.quick else (PROMPTS, range(3))
    answers, model_answers = (3, 4) if context.quick else (ANSWERS, MODEL_ANSWERS)
    # The first seed runs every method, the others only those that need more runs for a claim.
    trials = [
        Trial(context.model, prompt, method, "person", answers, seed)
        for prompt in prompts
        for seed in seeds
        for method in (METHODS if seed == 0 else ("best of random", "rank-process"))
    ]
    trials += [
        Trial(context.model, prompt, "algorithm 3", "model", model_answers, 0)
        for prompt in prompts
    ]
    rows = context.run(SWEEP, trials)
    return context.report(
        name="latent-judges",
        title="A person and a model as judges of pictures",
        claims=_claims(rows, answers),
        draw=lambda figure: _draw(figure, rows),
        columns=("prompt", "seed", "method", "judge", "answers", "liked", "fit", "norm"),
        records=[
            (s.prompt, s.seed, s.method, s.judge, s.answers, *_rounded(row))
            for s, row in rows.items()
        ],
        details={
            "model": context.model or "dream",
            "prompts": list(prompts),
            "seeds": list(seeds),
            "shown": SHOWN,
            "noise": NOISE,
            "methods": _summary(rows),
            "norms": [float(f([row["norm"] for row in rows.values()])) for f in (min, max)],
            "moments": [
                float(np.quantile([row["moment"] for row in rows.values()], q)) for q in (0.5, 1)
            ],
        },
        measure="In standard deviations of random pictures, by the person's taste",
    )


def _rounded(row: Row) -> tuple[str, str, str]:
    return f"{row['liked'][1]:.4f}", f"{row['fits'][1]:.4f}", f"{row['norm']:.6f}"


def _liked_by(
    rows: Mapping[Trial, Row], method: str, judge: str = "person", at: int = END
) -> dict[Any, float]:
    """Return the rating of the first or the last picture of a method, by prompt and seed."""
    return {
        (s.prompt, s.seed): row["liked"][at]
        for s, row in rows.items()
        if s.method == method and s.judge == judge
    }


def _summary(rows: Mapping[Trial, Row]) -> list[dict[str, Any]]:
    kinds = dict.fromkeys((s.method, s.judge, s.answers) for s in rows)
    found = []
    for method, judge, answers in kinds:
        of = [row for s, row in rows.items() if (s.method, s.judge) == (method, judge)]
        found.append(
            {
                "method": method,
                "judge": judge,
                "answers": answers,
                "runs": len(of),
                "start": float(np.median([row["liked"][0] for row in of])),
                "liked": float(np.median([row["liked"][1] for row in of])),
                "fit": float(np.median([row["fits"][1] for row in of])),
            }
        )
    return found


def _claims(rows: Mapping[Trial, Row], answers: int) -> list[Claim]:
    random, ours = _liked_by(rows, "best of random"), _liked_by(rows, "rank-process")
    papers, by_model = _liked_by(rows, "algorithm 3"), _liked_by(rows, "algorithm 3", "model")
    starts = _liked_by(rows, "algorithm 3", at=START)
    at = f"{answers} answers"
    return [
        _lead(
            "a person improves the picture",
            "Optimised by a person, pictures are better than the initial ones.",
            at,
            [papers[key] - starts[key] for key in papers],
        ),
        _lead(
            "person ahead of model",
            "Optimised by a person, pictures please them more than optimised by a model.",
            at,
            [papers[key] - by_model[key] for key in papers],
        ),
        _lead(
            "algorithm 3 ahead of random",
            "(ours) Algorithm 3 is ahead of the best of as many random pictures.",
            at,
            [papers[key] - random[key] for key in papers],
        ),
        _lead(
            "rank-process ahead of random",
            "(ours) The studio's method ends 1 sd above the best of as many random pictures.",
            at,
            [ours[key] - random[key] for key in ours],
            needed=1.0,
        ),
    ]


def _lead(name: str, says: str, at: str, leads: list[float], needed: float = 0.0) -> Claim:
    return difference_claim(name, says, f"{len(leads)} runs", at, leads, needed)


def _draw(figure: Any, rows: Mapping[Trial, Row]) -> None:
    first = [s for s in rows if s.seed == 0]
    prompts = list(dict.fromkeys(s.prompt for s in first))[:4]
    columns = (
        ("best of random", "person", "best of random"),
        ("algorithm 3", "person", "Algorithm 3, a person"),
        ("algorithm 3", "model", "Algorithm 3, a model"),
        ("rank-process", "person", "rank-process, a person"),
    )
    figure.set_size_inches(1.62 * (len(columns) + 1), 1.95 * len(prompts) + 0.3)
    panels = figure.subplots(len(prompts), len(columns) + 1, squeeze=False)
    by = {(s.prompt, s.method, s.judge): row for s, row in rows.items() if s.seed == 0}
    for line, prompt in zip(panels, prompts, strict=True):
        top = prompt == prompts[0]
        begun = by[prompt, "algorithm 3", "person"]
        draw_picture(
            line[0], begun["pictures"][0], "initial" if top else "", _liked(begun["liked"][0])
        )
        line[0].set_ylabel(prompt, fontsize=7)
        for axes, (method, judge, title) in zip(line[1:], columns, strict=True):
            row = by[prompt, method, judge]
            draw_picture(axes, row["pictures"][1], title if top else "", _liked(row["liked"][1]))


def _liked(value: float) -> str:
    return f"liked: {value:+.1f} sd"
