"""A person or a model as judge of a diffusion model's pictures: the panel of section 4.3.

Each round shows six pictures. There are ten simulated people, each with a taste of their own in
`picture_qualities`, a noise of 0.1 standard deviations among random pictures, and another prompt;
they give 20 answers. The model judge scores how well pictures fit the prompt and gives 50. A
person and the model begin at the same picture, as do all methods. The final picture of each is
rated by the person's taste, in standard deviations of random pictures; intervals are over people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zorank.experiments.baselines import BestOfRandom, Neighbours
from zorank.experiments.claims import Claim, difference_claim, proportion_interval
from zorank.experiments.paper.context import FigureContext
from zorank.experiments.paper.latents import (
    PROMPTS,
    draw_picture,
    encoded_picture,
    fit_by_clip,
    fit_by_dream,
    picture_function,
    renderer_of,
    version,
)
from zorank.experiments.picture_qualities import random_pictures, taste_in_pictures
from zorank.experiments.report import Report
from zorank.experiments.simulated_raters import (
    SimulatedRater,
    Taste,
    first_candidate,
    run_session,
)
from zorank.experiments.sweep import Row, Sweep
from zorank.optimizers import RankProcess, ZORankSGD, ZORankSGDMemory
from zorank.protocols import AnyOptimizer
from zorank.renderers.interface import ResolvedRenderer
from zorank.slates import Shell
from zorank.types import Vector

START, END = 0, 1
SHOWN, ANSWERS, MODEL_ANSWERS, NOISE = 6, 20, 50, 0.1

METHODS: dict[str, Callable[[], AnyOptimizer]] = {
    "best of random": lambda: BestOfRandom(m=SHOWN),
    "neighbours": lambda: Neighbours(m=SHOWN, pick=False),
    "algorithms 1 + 2": lambda: ZORankSGD(
        m=SHOWN, line_search=SHOWN, space="gaussian", step=2.0, mu=0.1, gamma=0.5
    ),
    "algorithm 3": lambda: ZORankSGDMemory(m=SHOWN, space="gaussian", step=1.0, mu=0.1, gamma=0.5),
    "rank-process": lambda: RankProcess(m=SHOWN, space="gaussian"),
}
"""How the next pictures are chosen, by name; Algorithm 3 has the paper's settings.

The line search of Algorithm 2 begins at ηγ, that of Algorithm 3 at η: with 2η both begin alike.
"""

PEOPLE = 10
EARLY = (4, 10, 20)
"""After how many answers of a person the picture is compared with the initial one."""


@dataclass(frozen=True)
class Trial:
    """One session of a judge with one model.

    Attributes:
        model: a diffusers pipeline; None is dream.
        prompt: of the pictures.
        method: how the next pictures are chosen.
        judge: "person" or "model".
        answers: how many rounds are answered.
        person: fixes their taste, the picture they begin with, and all random draws.
        scorer: the model judge: "dream" or "clip".
        clip: the CLIP model; None is its default.
    """

    model: str | None
    prompt: str
    method: str
    judge: str
    answers: int
    person: int
    scorer: str = "dream"
    clip: str | None = None


def run_trial(trial: Trial) -> Row:
    """Run a session; return the ratings and pictures of its start and its end."""
    renderer = renderer_of(trial.model, trial.prompt)
    liked = taste_in_pictures(picture_function(renderer), renderer.dim, trial.person)
    fits = _fit(renderer, trial)
    rated, rater = (
        (liked, SimulatedRater(noise=NOISE))
        if trial.judge == "person"
        else (fits, SimulatedRater())
    )
    seen: list[Vector] = []
    optimizer = METHODS[trial.method]()
    session = run_session(
        optimizer, rated, renderer.dim, rater, trial.answers, trial.person, seen.append
    )
    start, end = Shell().place(first_candidate(trial.person, renderer.dim)), seen[-1]
    drift = renderer.drift(end) or {}
    return {
        "gains": list(session.gains),
        "liked": [-float(liked(start)), -float(liked(end))],
        "fits": [-float(fits(start)), -float(fits(end))],
        "pictures": [encoded_picture(renderer, start), encoded_picture(renderer, end)],
        "norm": drift["norm"],
        "moment": drift["largest"],
    }


def _fit(renderer: ResolvedRenderer, trial: Trial) -> Taste:
    """Return how badly pictures fit the prompt, standardised over random pictures."""
    picture = picture_function(renderer)

    def fit_of(pictures: NDArray[np.float32], prompt: str) -> Vector:
        if trial.scorer == "clip":
            return fit_by_clip(pictures, prompt, trial.clip)
        return fit_by_dream(pictures, prompt)

    def misfit(x: Vector) -> Any:
        pictures = np.stack([picture(row) for row in np.atleast_2d(x)])
        found = -fit_of(pictures, trial.prompt)
        return found if x.ndim == 2 else float(found[0])

    values = -fit_of(random_pictures(picture, renderer.dim), trial.prompt)
    return Taste(misfit, float(values.mean()), float(values.std()))


SWEEP = Sweep("latent-judges", run_trial, lambda: f"people {version()}", kind="Sitting")


def reproduce(context: FigureContext) -> Report:
    """Run the person with every method, and the model with Algorithm 3."""
    people = range(1 if context.quick else PEOPLE)
    prompts = [context.prompt or PROMPTS[person % len(PROMPTS)] for person in people]
    answers, model_answers = (3, 4) if context.quick else (ANSWERS, MODEL_ANSWERS)
    scorer = (context.judge, context.judge_model)
    trials = [
        Trial(context.model, prompt, *session, person, *scorer)
        for person, prompt in zip(people, prompts, strict=True)
        for session in (
            *((method, "person", answers) for method in METHODS),
            ("algorithm 3", "model", model_answers),
        )
    ]
    rows = context.run(SWEEP, trials)
    return context.report(
        name="latent-judges",
        title="A person and a model as judges of pictures",
        claims=_claims(rows, answers, model_answers),
        draw=lambda figure: _draw(figure, rows),
        columns=("prompt", "person", "method", "judge", "answers", "liked", "fit", "norm"),
        records=[
            (s.prompt, s.person, s.method, s.judge, s.answers, *_rounded(row))
            for s, row in rows.items()
        ],
        details={
            "model": context.model or "dream",
            "judge": context.judge,
            "prompts": list(prompts),
            "people": len(people),
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
    """Return the rating of the first or the last picture of a method, by person."""
    return {
        s.person: row["liked"][at]
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


CLAIMS = (
    (
        "a person improves the picture",
        "Optimised by a person, pictures are better than the initial ones.",
        *("by a person", "initial", 0.0),
    ),
    (
        "person ahead of model",
        "Optimised by a person, pictures please them more than optimised by a model.",
        *("by a person", "by a model", 0.0),
    ),
    (
        "model falls short of the initial picture",
        "Optimised by a model, pictures can please people less than the initial ones.",
        *("initial", "by a model", 0.0),
    ),
    (
        "algorithm 3 ahead of algorithms 1 + 2",
        "Keeping x** and the memory enhances the efficiency.",
        *("by a person", "algorithms 1 + 2", 0.0),
    ),
    (
        "algorithm 3 ahead of neighbours",
        "(ours) Algorithm 3 is ahead of neighbours of the best picture so far.",
        *("by a person", "neighbours", 0.0),
    ),
    (
        "algorithm 3 ahead of random",
        "(ours) Algorithm 3 is ahead of the best of as many random pictures.",
        *("by a person", "random", 0.0),
    ),
    (
        "rank-process ahead of random",
        "(ours) The studio's method ends 1 sd above the best of as many random pictures.",
        *("rank-process", "random", 1.0),
    ),
)
"""Name, words, what is compared with what, and by how many sd the first must be ahead."""


def _claims(rows: Mapping[Trial, Row], answers: int, model_answers: int) -> list[Claim]:
    liked = {
        "initial": _liked_by(rows, "algorithm 3", at=START),
        "by a person": _liked_by(rows, "algorithm 3"),
        "by a model": _liked_by(rows, "algorithm 3", "model"),
        "algorithms 1 + 2": _liked_by(rows, "algorithms 1 + 2"),
        "neighbours": _liked_by(rows, "neighbours"),
        "random": _liked_by(rows, "best of random"),
        "rank-process": _liked_by(rows, "rank-process"),
    }
    claims, with_model = [], answers_of_both(answers, model_answers)
    for name, says, first, second, needed in CLAIMS:
        leads = [liked[first][person] - liked[second][person] for person in liked[first]]
        at = with_model if second == "by a model" else f"{answers} answers"
        claims.append(difference_claim(name, says, f"{len(leads)} people", at, leads, needed))
    early = _early_claims(rows, liked["initial"], answers)
    return [*claims, *early, _share_claim(liked, with_model)]


def answers_of_both(answers: int, model_answers: int) -> str:
    """Return when a claim about the model judge was measured: it gives more answers."""
    return f"{answers} answers, the model {model_answers}"


def _early_claims(
    rows: Mapping[Trial, Row], initial: Mapping[Any, float], answers: int
) -> list[Claim]:
    """Return claims that a few answers are enough to improve the picture."""
    gains = {
        s.person: row["gains"]
        for s, row in rows.items()
        if (s.method, s.judge) == ("algorithm 3", "person")
    }
    says = "Only a few rounds of human feedback are needed."
    return [
        difference_claim(
            "a few answers improve the picture",
            says,
            f"{len(gains)} people",
            f"{few} answers",
            [gains[person][few - 1] - initial[person] for person in gains],
        )
        for few in EARLY
        if few <= answers
    ]


def _share_claim(liked: Mapping[str, Mapping[Any, float]], at: str) -> Claim:
    """Return the claim that the model's picture is sometimes worse than the initial one."""
    before, after = liked["initial"], liked["by a model"]
    worse = sum(after[person] < before[person] for person in before)
    low, high = proportion_interval(worse, len(before))
    return Claim(
        "some of the model's pictures fall short",
        "Optimised by a model, pictures can sometimes fall short of the original ones.",
        f"{len(before)} people",
        at,
        low > 0,
        worse / len(before),
        (low, high),
        0.0,
    )


def _draw(figure: Any, rows: Mapping[Trial, Row]) -> None:
    people = list(dict.fromkeys((s.person, s.prompt) for s in rows))[:4]
    columns = (
        ("best of random", "person", "best of random"),
        ("algorithm 3", "person", "Algorithm 3, a person"),
        ("algorithm 3", "model", "Algorithm 3, a model"),
        ("rank-process", "person", "rank-process, a person"),
    )
    figure.set_size_inches(1.62 * (len(columns) + 1), 1.95 * len(people) + 0.3)
    panels = figure.subplots(len(people), len(columns) + 1, squeeze=False)
    by = {(s.person, s.method, s.judge): row for s, row in rows.items()}
    for line, (person, prompt) in zip(panels, people, strict=True):
        top = person == people[0][0]
        begun = by[person, "algorithm 3", "person"]
        draw_picture(
            line[0], begun["pictures"][0], "initial" if top else "", _liked(begun["liked"][0])
        )
        line[0].set_ylabel(prompt, fontsize=7)
        for axes, (method, judge, title) in zip(line[1:], columns, strict=True):
            row = by[person, method, judge]
            draw_picture(axes, row["pictures"][1], title if top else "", _liked(row["liked"][1]))


def _liked(value: float) -> str:
    return f"liked: {value:+.1f} sd"
