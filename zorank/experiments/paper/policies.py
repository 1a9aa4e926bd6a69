"""Section 4.2 and its appendix: policies in MuJoCo from ranked episodes.

The setting is the paper's: linear policies with a constant, raw observations, η = μ decayed by .99
per estimate, no line search, a (5, 5)-oracle. ZO-SGD is tuned both as published and with values
divided by their spread, and the better is used. The paper does not state whether the episodes of a
question share their reset. Both are measured on Reacher, where it matters; elsewhere resets are
shared. SCOBO gets as many points (5) or as many comparisons (10, from 11 points) as a ranking of
five. `policy_tuning.py` chooses the settings on other seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from zorank.experiments.claims import Claim, difference_claim
from zorank.experiments.paper import curve_panels
from zorank.experiments.paper.context import FigureContext
from zorank.experiments.paper.policy_trials import SWEEP, Task, Trial, trials_of
from zorank.experiments.paper.policy_tuning import TUNING_SEEDS, tuned_settings
from zorank.experiments.report import Report
from zorank.experiments.sweep import Row

EVALUATIONS = 11
"""How often the reward is evaluated during a run; while tuning only at the end."""

LABELS = {**curve_panels.LABELS, "scobo 5": "SCOBO, m = 5", "scobo 11": "SCOBO, m = 11"}
STYLES = {
    **curve_panels.STYLES,
    "SCOBO, m = 5": curve_panels.STYLES["SCOBO"],
    "SCOBO, m = 11": {**curve_panels.STYLES["SCOBO"], "ls": (0, (4, 2))},
}

TASKS = (
    Task("Reacher-v4", False, 500, 20, 100),
    Task("Reacher-v4", True, 500, 20, 100),
    Task("Swimmer-v4", True, 100, 20, 8),
    Task("HalfCheetah-v4", True, 100, 10, 10),
)
QUICK = (Task("Reacher-v4", True, 20, 2, 10),)


def reproduce(context: FigureContext) -> Report:
    """Make the figure of section 4.2: rankings, CMA-ES and values."""
    return _figure(
        context, "rl", ("zo-ranksgd", "cma-es", "zo-sgd"), "Policies from ranked episodes"
    )


def reproduce_scobo(context: FigureContext) -> Report:
    """Make the figure of the appendix: rankings and comparisons."""
    methods = ("zo-ranksgd", "scobo 5", "scobo 11")
    return _figure(context, "rl-scobo", methods, "Policies from rankings and from comparisons")


Rewards: TypeAlias = Mapping[tuple[Task, str], NDArray[np.float64]]
"""By task and method: rewards, (seeds, evaluations)."""


def _figure(context: FigureContext, name: str, methods: Sequence[str], title: str) -> Report:
    tasks = QUICK if context.quick else TASKS
    tuned, tried = tuned_settings(context, tasks, methods)
    runs = {
        (task, method): trials_of(task, setting, range(task.seeds), task.queries, EVALUATIONS)
        for (task, method), setting in tuned.items()
    }
    rows = context.run(SWEEP, [trial for group in runs.values() for trial in group])
    found = {
        key: np.concatenate([rows[trial]["rewards"] for trial in group])
        for key, group in runs.items()
    }
    return context.report(
        name=name,
        title=title,
        claims=[claim for task in tasks for claim in _claims(name, task, found)],
        draw=lambda figure: _draw(figure, tasks, methods, found),
        columns=("env", "shared_resets", "method", "options", "seed", "queries", "reward"),
        records=_records(runs, rows),
        details={
            "policy": "linear with a constant, raw observations",
            "tuning_seeds": list(TUNING_SEEDS),
            "lines": [
                {
                    "env": task.env,
                    "shared": task.shared,
                    "method": method,
                    "options": dict(tuned[task, method].options),
                    "tried": [list(scale.sizes) for scale in tried[task, method]],
                    "seeds": task.seeds,
                    "queries": task.queries,
                    "rewards": rewards[:, -1].tolist(),
                }
                for (task, method), rewards in found.items()
            ],
        },
        measure="How much more reward, from paired runs",
    )


def _claims(name: str, task: Task, found: Rewards) -> list[Claim]:
    def ends(method: str) -> NDArray[np.float64]:
        return found[task, method][:, -1]

    ours = ends("zo-ranksgd")
    at = f"{task.queries} queries"
    if name == "rl":
        learns = "ZO-RankSGD can optimize policies from rankings of episodes."
        ahead = "ZO-RankSGD outperforms CMA-ES."
        par = "ZO-RankSGD is comparable to ZO-SGD, which sees rewards."
        # On par: behind by at most a tenth of the improvement.
        gains = ours - found[task, "zo-ranksgd"][:, 0]
        gained = float(np.mean(gains))
        return [
            difference_claim("ahead of the start", learns, task.label, at, gains, 0.0),
            difference_claim("ahead of CMA-ES", ahead, task.label, at, ours - ends("cma-es"), 0.0),
            difference_claim(
                "on par with ZO-SGD", par, task.label, at, ours - ends("zo-sgd"), -0.1 * gained
            ),
        ]
    points = "With as many points, rankings are ahead of comparisons."
    pairs = "With as many comparisons, but more points, comparisons are ahead of rankings."
    return [
        difference_claim(
            "ahead of SCOBO, m = 5", points, task.label, at, ours - ends("scobo 5"), 0.0
        ),
        difference_claim(
            "behind SCOBO, m = 11", pairs, task.label, at, ends("scobo 11") - ours, 0.0
        ),
    ]


def _records(
    runs: Mapping[tuple[Task, str], Sequence[Trial]], rows: Mapping[Trial, Row]
) -> Iterable[tuple[Any, ...]]:
    for (task, method), group in runs.items():
        for trial in group:
            options = " ".join(f"{k}={v}" for k, v in trial.setting.options)
            row = rows[trial]
            for seed, rewards in zip(trial.seeds, row["rewards"], strict=True):
                for query, reward in zip(row["queries"], rewards, strict=True):
                    about = (task.env, task.shared, method, options, seed)
                    yield (*about, query, f"{reward:.6g}")


def _draw(figure: Any, tasks: Sequence[Task], methods: Sequence[str], found: Rewards) -> None:
    figure.set_size_inches(2.7 * len(tasks) + 0.4, 2.9)
    row = figure.subplots(1, len(tasks), squeeze=False)[0]
    for axes, task in zip(row, tasks, strict=True):
        for number, method in enumerate(methods):
            rewards = found[task, method]
            queries = np.linspace(0, task.queries, rewards.shape[1])
            mean, std, style = rewards.mean(axis=0), rewards.std(axis=0), STYLES[LABELS[method]]
            colour = style["color"]
            axes.plot(queries, mean, label=LABELS[method], **style)
            axes.fill_between(queries, mean - std, mean + std, color=colour, alpha=0.13, lw=0)
            beside = queries[-1] * (1.04 + 0.03 * number)
            axes.plot([beside] * len(rewards), rewards[:, -1], ".", ms=3, color=colour, alpha=0.6)
        axes.set_title(task.label)
        axes.set_xlabel("queries")
        axes.grid(True, color="#e6e6e6", lw=0.6)
    row[0].set_ylabel("reward on held-out resets")
    handles, labels = row[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
