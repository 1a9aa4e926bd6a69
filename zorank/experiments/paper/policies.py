"""Section 4.2 and its appendix: policies in MuJoCo from ranked episodes.

The setting is the paper's: linear policies with a constant, raw observations, η = μ decayed by .99
per estimate, no line search, a (5, 5)-oracle. ZO-SGD is tuned both as published and with values
divided by their spread, and the better is used. The paper does not state whether the episodes of a
question share their reset. Both are measured on Reacher, where it matters; elsewhere resets are
shared. SCOBO gets as many points (5) or as many comparisons (10, from 11 points) as a ranking of
five. Settings are tuned on other seeds; grids are widened until the best lies inside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from zorank import optimizers
from zorank.experiments.claims import Claim, difference_claim
from zorank.experiments.paper import curve_panels
from zorank.experiments.paper.context import FigureContext
from zorank.experiments.paper.curves import Setting
from zorank.experiments.report import Report
from zorank.experiments.sweep import Row, Sweep

VERSION = "policies 3"
TUNING_SEEDS = (1000, 1001, 1002)
TOGETHER = 10
"""The number of seeds that are simulated in lockstep."""
EVALUATIONS = 11
"""How often the reward is evaluated during a run; while tuning only at the end."""

LABELS = {**curve_panels.LABELS, "scobo 5": "SCOBO, m = 5", "scobo 11": "SCOBO, m = 11"}
STYLES = {
    **curve_panels.STYLES,
    "SCOBO, m = 5": curve_panels.STYLES["SCOBO"],
    "SCOBO, m = 11": {**curve_panels.STYLES["SCOBO"], "ls": (0, (4, 2))},
}


@dataclass(frozen=True)
class Task:
    """An environment and how policies are learned in it.

    Attributes:
        env: the environment.
        shared: whether the episodes of a question share their reset.
        queries: number of questions.
        seeds: number of runs.
        episodes: held-out episodes that a reward is the mean of.
        horizon: steps of an episode; None is the environment's own.
    """

    env: str
    shared: bool
    queries: int
    seeds: int
    episodes: int
    horizon: int | None = None

    @property
    def label(self) -> str:
        """The label in the figure."""
        return f"{self.env.partition('-')[0]}, {'shared' if self.shared else 'own'} resets"


@dataclass(frozen=True)
class Trial:
    """Runs that differ only in their seeds; the fields `looked_at` and `looks` are evaluations."""

    env: str
    shared: bool
    horizon: int | None
    setting: Setting
    queries: int
    seeds: tuple[int, ...]
    looked_at: int
    looks: int
    revision: int


TASKS = (
    Task("Reacher-v4", False, 500, 20, 100),
    Task("Reacher-v4", True, 500, 20, 100),
    Task("Swimmer-v4", True, 100, 20, 8),
    Task("HalfCheetah-v4", True, 100, 10, 10),
)
QUICK = (Task("Reacher-v4", True, 20, 2, 10),)


def run_trial(trial: Trial) -> Row:
    """Run all seeds of a trial; return their rewards on held-out resets during the run."""
    from zorank.rl import PolicyProblem, PolicySearch, rewards, step_together

    problem = PolicyProblem(
        trial.env,
        bias=True,
        normalise=False,
        shared=trial.shared,
        horizon=trial.horizon,
        clip=False,
    )
    optimizer = optimizers.make(trial.setting.method, dict(trial.setting.options))
    searches = [PolicySearch(problem, optimizer, seed) for seed in trial.seeds]
    marks = sorted({round(mark) for mark in np.linspace(trial.queries, 0, trial.looks)})
    evaluated = []
    for query in range(trial.queries + 1):
        if query in marks:
            evaluated.append(rewards(searches, trial.looked_at))
        if query < trial.queries:
            step_together(searches)
    return {"queries": marks, "rewards": np.transpose(evaluated).tolist()}


SWEEP = Sweep("policies", run_trial, VERSION, kind="Schooling")


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
    tuned, tried = _tuned(context, tasks, methods)
    runs = {
        (task, method): _trials(task, setting, range(task.seeds), task.queries, EVALUATIONS)
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


SIZES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
MOST_WIDENINGS = 4


@dataclass(frozen=True)
class Scale:
    """Settings that differ only in the size of their steps.

    Attributes:
        fixed: the method and the options that are not tuned.
        names: the options that are all set to the size.
        sizes: in increasing order.
    """

    fixed: Setting
    names: tuple[str, ...]
    sizes: tuple[float, ...]

    def settings(self) -> dict[Setting, float]:
        """Return the size of each setting."""
        return {
            self.fixed.with_options(**dict.fromkeys(self.names, size)): size for size in self.sizes
        }

    def widened(self, setting: Setting) -> Scale:
        """Return the scale with one more size beyond the end at which the setting lies."""
        size = self.settings().get(setting)
        if len(self.sizes) == 1 or size not in (self.sizes[0], self.sizes[-1]):
            return self
        if size == self.sizes[0]:
            return replace(self, sizes=(_beyond(size, self.sizes[1]), *self.sizes))
        return replace(self, sizes=(*self.sizes, _beyond(size, self.sizes[-2])))


def _beyond(end: float, before: float) -> float:
    """Return the next size of a scale whose last two are given, to one digit."""
    return float(f"{end * end / before:.1g}")


def _scales(method: str, quick: bool) -> list[Scale]:
    """Return the settings to try; those of ZO-SGD as published have the unit of a reward."""
    sizes: tuple[float, ...] = (0.1,) if quick else SIZES
    name, _, many = method.partition(" ")
    decayed = {"step_decay": 0.99, "mu_decay": 0.99, "line_search": 0}
    both = ("step", "mu")
    if name == "cma-es":
        return [Scale(_setting(name, m=5), ("sigma0",), sizes)]
    if name == "zo-sgd":
        by_value = _setting(name, m=5, baseline="mean", **decayed)
        by_spread = Scale(by_value.with_options(scale="spread"), both, sizes)
        steps = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
        published = Scale(by_value.with_options(mu=0.1), ("step",), steps)
        return [by_spread] if quick else [published, by_spread]
    if name == "scobo" and not quick:
        sizes = sizes[1:5]  # its direction has length 1; other steps were much worse on Reacher
    return [Scale(_setting(name, m=int(many or 5), **decayed), both, sizes)]


def _setting(method: str, **options: Any) -> Setting:
    return Setting(method).with_options(**options)


Tried: TypeAlias = dict[tuple[Task, str], list[Scale]]
"""The scales of a method on a task."""


def _tuned(
    context: FigureContext, tasks: Sequence[Task], methods: Sequence[str]
) -> tuple[dict[tuple[Task, str], Setting], Tried]:
    """Return the settings with the highest mean final reward on other seeds, at half length.

    Scales are widened until the best setting does not lie at an end.
    """
    trying = {(t, method): _scales(method, context.quick) for t in tasks for method in methods}
    for _ in range(MOST_WIDENINGS + 1):
        best = _best_settings(context, trying)
        widened = {
            key: [scale.widened(best[key]) for scale in scales] for key, scales in trying.items()
        }
        if widened == trying:
            break
        trying = widened
    return best, trying


def _best_settings(context: FigureContext, trying: Tried) -> dict[tuple[Task, str], Setting]:
    settings = {
        key: [setting for scale in scales for setting in scale.settings()]
        for key, scales in trying.items()
    }
    tried = {
        (task, setting): _trials(task, setting, TUNING_SEEDS, task.queries // 2, 1)
        for (task, _), group in settings.items()
        for setting in group
    }
    rows = context.run(SWEEP, [trial for group in tried.values() for trial in group])
    mean = {key: np.mean([rows[trial]["rewards"] for trial in tried[key]]) for key in tried}
    return {
        (task, method): max(group, key=lambda setting: mean[task, setting])
        for (task, method), group in settings.items()
    }


def _trials(
    task: Task, setting: Setting, seeds: Sequence[int], queries: int, evaluations: int
) -> list[Trial]:
    revision = optimizers.REGISTRY[setting.method].revision
    about = (task.env, task.shared, task.horizon, setting, queries)
    groups = [tuple(seeds[start : start + TOGETHER]) for start in range(0, len(seeds), TOGETHER)]
    return [Trial(*about, group, task.episodes, evaluations, revision) for group in groups]


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
