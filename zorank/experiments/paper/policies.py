"""Section 4.2 and its appendix: policies in MuJoCo from ranked episodes.

Linear policies with a constant, raw observations, η = μ decayed by .99 an estimate, no line
search, a (5, 5)-oracle: the paper's setting. ZO-SGD is tuned both as published and with values
divided by their spread, whichever is better. It does not say whether the episodes of a question
share their reset; both are measured on Reacher, where it decides, and they are shared elsewhere.
SCOBO is given as many points (5) and as many comparisons (11 points, 10 of them) as a ranking of
five. Settings are tuned on other seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from zorank import optimizers
from zorank.experiments import sweep
from zorank.experiments.paper import panels
from zorank.experiments.paper.claims import Claim, gains
from zorank.experiments.paper.context import Lab, Report
from zorank.experiments.paper.curves import Setting

VERSION = "policies 3"
TUNING_SEEDS = (1000, 1001, 1002)
TOGETHER = 10
"""Seeds that are simulated in step."""
LOOKS = 11
"""How often the reward is looked at, from the start to the end; while tuning only at the end."""

LABELS = {**panels.LABELS, "scobo 5": "SCOBO, m = 5", "scobo 11": "SCOBO, m = 11"}
STYLES = {
    **panels.STYLES,
    "SCOBO, m = 5": panels.STYLES["SCOBO"],
    "SCOBO, m = 11": {**panels.STYLES["SCOBO"], "ls": (0, (4, 2))},
}


@dataclass(frozen=True)
class Place:
    """Where policies are learned.

    Attributes:
        env: the environment.
        shared: whether the episodes of a question share their reset.
        queries: how many questions.
        seeds: how many runs.
        looked_at: held-out episodes that a reward is the mean of.
        horizon: steps of an episode; None is the environment's own.
    """

    env: str
    shared: bool
    queries: int
    seeds: int
    looked_at: int
    horizon: int | None = None

    @property
    def label(self) -> str:
        """What the figure calls it."""
        return f"{self.env.partition('-')[0]}, {'shared' if self.shared else 'own'} resets"


@dataclass(frozen=True)
class Schooling:
    """Runs that differ in nothing but their seeds."""

    env: str
    shared: bool
    horizon: int | None
    setting: Setting
    queries: int
    seeds: tuple[int, ...]
    looked_at: int
    looks: int
    revision: int


PLACES = (
    Place("Reacher-v4", False, 500, 20, 100),
    Place("Reacher-v4", True, 500, 20, 100),
    Place("Swimmer-v4", True, 100, 20, 8),
    Place("HalfCheetah-v4", True, 100, 10, 10),
)
QUICK = (Place("Reacher-v4", True, 20, 2, 10),)


def attend(cell: Schooling) -> sweep.Row:
    """Run them: each one's rewards on held-out resets after so many questions."""
    from zorank.rl import PolicyProblem, PolicySearch, rewards, step_together

    problem = PolicyProblem(
        cell.env,
        bias=True,
        normalise=False,
        shared=cell.shared,
        horizon=cell.horizon,
        clip=False,
    )
    optimizer = optimizers.make(cell.setting.method, dict(cell.setting.options))
    searches = [PolicySearch(problem, optimizer, seed) for seed in cell.seeds]
    marks = sorted({round(mark) for mark in np.linspace(cell.queries, 0, cell.looks)})
    looked = []
    for query in range(cell.queries + 1):
        if query in marks:
            looked.append(rewards(searches, cell.looked_at))
        if query < cell.queries:
            step_together(searches)
    return {"queries": marks, "rewards": np.transpose(looked).tolist()}


def reproduce(lab: Lab) -> Report:
    """The figure of section 4.2: rankings, CMA-ES and values."""
    return _figure(lab, "rl", ("zo-ranksgd", "cma-es", "zo-sgd"), "Policies from ranked episodes")


def reproduce_scobo(lab: Lab) -> Report:
    """The figure of the appendix: rankings and comparisons."""
    methods = ("zo-ranksgd", "scobo 5", "scobo 11")
    return _figure(lab, "rl-scobo", methods, "Policies from rankings and from comparisons")


Found: TypeAlias = Mapping[tuple[Place, str], NDArray[np.float64]]
"""By place and method, a row for each seed: its reward at each look."""


def _figure(lab: Lab, name: str, methods: Sequence[str], title: str) -> Report:
    places = QUICK if lab.quick else PLACES
    tuned = _tuned(lab, places, methods)
    runs = {
        (place, method): _cells(place, setting, range(place.seeds), place.queries, LOOKS)
        for (place, method), setting in tuned.items()
    }
    rows = _run(lab, [cell for group in runs.values() for cell in group])
    found = {
        key: np.concatenate([rows[cell]["rewards"] for cell in group])
        for key, group in runs.items()
    }
    return Report(
        name=name,
        title=title,
        claims=[claim for place in places for claim in _claims(name, place, found)],
        draw=lambda figure: _draw(figure, places, methods, found),
        columns=("env", "shared_resets", "method", "options", "seed", "queries", "reward"),
        records=_records(runs, rows),
        details={
            "policy": "linear with a constant, raw observations",
            "tuning_seeds": list(TUNING_SEEDS),
            "lines": [
                {
                    "env": place.env,
                    "shared": place.shared,
                    "method": method,
                    "options": dict(tuned[place, method].options),
                    "seeds": place.seeds,
                    "queries": place.queries,
                    "rewards": rewards[:, -1].tolist(),
                }
                for (place, method), rewards in found.items()
            ],
        },
        measure="How much more reward, from paired runs",
    )


def _grid(method: str, quick: bool) -> list[Setting]:
    sizes: Sequence[float] = (0.1,) if quick else (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
    name, _, many = method.partition(" ")
    decayed = {"step_decay": 0.99, "mu_decay": 0.99, "line_search": 0}
    if name == "cma-es":
        return [_setting(name, m=5, sigma0=size) for size in sizes]
    if name == "zo-sgd":  # as published, its step has the unit of a reward: one more axis
        steps = () if quick else (1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
        seen = {"m": 5, "baseline": "mean", **decayed}
        return [
            *(_setting(name, step=step, mu=0.1, **seen) for step in steps),
            *(_setting(name, step=size, mu=size, scale="spread", **seen) for size in sizes),
        ]
    m = int(many or 5)
    if name == "scobo" and not quick:
        sizes = sizes[1:5]  # its direction has length 1; on Reacher the others were far behind
    return [_setting(name, m=m, step=size, mu=size, **decayed) for size in sizes]


def _setting(method: str, **options: Any) -> Setting:
    return Setting(method).with_options(**options)


def _tuned(
    lab: Lab, places: Sequence[Place], methods: Sequence[str]
) -> dict[tuple[Place, str], Setting]:
    """The settings with the highest mean reward at the end, on other seeds and half the way."""
    tried = {
        (place, method, setting): _cells(place, setting, TUNING_SEEDS, place.queries // 2, 1)
        for place in places
        for method in methods
        for setting in _grid(method, lab.quick)
    }
    rows = _run(lab, [cell for group in tried.values() for cell in group])
    mean = {key: np.mean([rows[cell]["rewards"] for cell in tried[key]]) for key in tried}
    return {
        (place, method): max(
            _grid(method, lab.quick), key=lambda setting: mean[place, method, setting]
        )
        for place in places
        for method in methods
    }


def _cells(
    place: Place, setting: Setting, seeds: Sequence[int], queries: int, looks: int
) -> list[Schooling]:
    revision = optimizers.REGISTRY[setting.method].revision
    about = (place.env, place.shared, place.horizon, setting, queries)
    groups = [tuple(seeds[start : start + TOGETHER]) for start in range(0, len(seeds), TOGETHER)]
    return [Schooling(*about, group, place.looked_at, looks, revision) for group in groups]


def _run(lab: Lab, todo: Sequence[Schooling]) -> dict[Schooling, sweep.Row]:
    rows = sweep.run(
        attend,
        todo,
        lab.folder / "policies.cells.jsonl",
        version=VERSION,
        workers=lab.workers,
        console=lab.console,
    )
    return dict(zip(todo, rows, strict=True))


def _claims(name: str, place: Place, found: Found) -> list[Claim]:
    def ends(method: str) -> NDArray[np.float64]:
        return found[place, method][:, -1]

    ours = ends("zo-ranksgd")
    at = f"{place.queries} queries"
    if name == "rl":
        ahead = "ZO-RankSGD outperforms CMA-ES."
        par = "ZO-RankSGD is comparable to ZO-SGD, which sees rewards."
        # On par: no more behind than a tenth of what was gained.
        gained = float(np.mean(ours - found[place, "zo-ranksgd"][:, 0]))
        return [
            gains("ahead of CMA-ES", ahead, place.label, at, ours - ends("cma-es"), 0.0),
            gains(
                "on par with ZO-SGD", par, place.label, at, ours - ends("zo-sgd"), -0.1 * gained
            ),
        ]
    points = "With as many points, rankings are ahead of comparisons."
    pairs = "With as many comparisons, but more points, comparisons are ahead of rankings."
    return [
        gains("ahead of SCOBO, m = 5", points, place.label, at, ours - ends("scobo 5"), 0.0),
        gains("behind SCOBO, m = 11", pairs, place.label, at, ends("scobo 11") - ours, 0.0),
    ]


def _records(
    runs: Mapping[tuple[Place, str], Sequence[Schooling]], rows: Mapping[Schooling, sweep.Row]
) -> Iterable[tuple[Any, ...]]:
    for (place, method), group in runs.items():
        for cell in group:
            options = " ".join(f"{k}={v}" for k, v in cell.setting.options)
            row = rows[cell]
            for seed, rewards in zip(cell.seeds, row["rewards"], strict=True):
                for query, reward in zip(row["queries"], rewards, strict=True):
                    about = (place.env, place.shared, method, options, seed)
                    yield (*about, query, f"{reward:.6g}")


def _draw(figure: Any, places: Sequence[Place], methods: Sequence[str], found: Found) -> None:
    figure.set_size_inches(2.7 * len(places) + 0.4, 2.9)
    row = figure.subplots(1, len(places), squeeze=False)[0]
    for axes, place in zip(row, places, strict=True):
        for number, method in enumerate(methods):
            rewards = found[place, method]
            queries = np.linspace(0, place.queries, rewards.shape[1])
            mean, std, style = rewards.mean(axis=0), rewards.std(axis=0), STYLES[LABELS[method]]
            colour = style["color"]
            axes.plot(queries, mean, label=LABELS[method], **style)
            axes.fill_between(queries, mean - std, mean + std, color=colour, alpha=0.13, lw=0)
            beside = queries[-1] * (1.04 + 0.03 * number)
            axes.plot([beside] * len(rewards), rewards[:, -1], ".", ms=3, color=colour, alpha=0.6)
        axes.set_title(place.label)
        axes.set_xlabel("queries")
        axes.grid(True, color="#e6e6e6", lw=0.6)
    row[0].set_ylabel("reward on held-out resets")
    handles, labels = row[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)


__all__ = ["PLACES", "Place", "Schooling", "attend", "reproduce", "reproduce_scobo"]
