"""Shared by the figures of policies: settings, tuned on seeds that the figures do not use.

Grids are widened until the best setting lies inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from zorank.experiments.paper.context import FigureContext
from zorank.experiments.paper.curves import Setting
from zorank.experiments.paper.policy_trials import SWEEP, Task, trials_of

TUNING_SEEDS = (1000, 1001, 1002)
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


def tuned_settings(
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
        (task, setting): trials_of(task, setting, TUNING_SEEDS, task.queries // 2, 1)
        for (task, _), group in settings.items()
        for setting in group
    }
    rows = context.run(SWEEP, [trial for group in tried.values() for trial in group])
    mean = {key: np.mean([rows[trial]["rewards"] for trial in tried[key]]) for key in tried}
    return {
        (task, method): max(group, key=lambda setting: mean[task, setting])
        for (task, method), group in settings.items()
    }
