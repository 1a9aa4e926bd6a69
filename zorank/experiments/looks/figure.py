"""The figure of the study of looks: gains by round, and the lead of rank-looks by taste."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank.experiments import plotting
from zorank.experiments.looks.cases import DREAM, FACES, LANDSCAPE, PEERS, STYLE
from zorank.experiments.looks.findings import (
    LABELS,
    by_method,
    group_of,
    label_of,
    leads,
    mean_gains,
)
from zorank.experiments.looks.picture_tastes import HELD_OUT, NUMBERS, SKETCHED
from zorank.experiments.looks.study import (
    ALGORITHM_3,
    BOTORCH,
    LOOKS,
    NEIGHBOURS,
    OPTUNA,
    PROCESS,
    RANDOM,
    Results,
    Study,
)
from zorank.experiments.studies import standard_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

STYLES: dict[str, dict[str, Any]] = {
    LOOKS: {"color": "#b3261e", "lw": 2.2, "zorder": 6},
    PROCESS: {"color": "#1f4e9c", "lw": 1.8, "zorder": 5},
    ALGORITHM_3: {"color": "#d1691f", "lw": 1.3},
    NEIGHBOURS: {"color": "#3f8f5b", "lw": 1.3},
    BOTORCH: {"color": "#7b4ea3", "lw": 1.8},
    OPTUNA: {"color": "#b07c1e", "lw": 1.3},
    RANDOM: {"color": "#8a8f98", "lw": 1.4, "ls": (0, (1, 1.5))},
}
COLUMNS = 3

Panel = Callable[[Any], None]


def draw(figure: Any, study: Study, results: Results) -> None:
    """Draw all parts that were run."""
    panels = [*_curves(study, results)]
    bars = _lead_panels(study, results)
    rows = max(-(-len(panels) // COLUMNS), 1)
    height = 0.16 * max((len(found) for _, found in bars), default=0) + (0.7 if bars else 0)
    figure.set_size_inches(8.6, 2.1 * rows + height + 0.5)
    blocks = np.atleast_1d(
        figure.subfigures(1 + bool(bars), 1, height_ratios=[2.1 * rows, height][: 1 + bool(bars)])
    )
    grid = blocks[0].subplots(rows, COLUMNS, squeeze=False).ravel()
    labels: dict[str, Any] = {}
    for axes, plot in zip(grid, panels, strict=False):
        plot(axes)
        labels |= dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True))
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    figure.legend(labels.values(), labels, loc="outside upper center", ncols=4, frameon=False)
    if bars:
        row = blocks[1].subplots(1, len(bars), squeeze=False)[0]
        for axes, (title, found) in zip(row, bars, strict=True):
            _plot_leads(axes, title, found)


def _curves(study: Study, results: Results) -> Iterator[Panel]:
    """Yield a panel per noise and group of tastes, and per case of the other parts."""

    def panel(title: str, gains: dict[str, NDArray[np.float64]]) -> Panel:
        return lambda axes: _plot_curves(axes, title, gains)

    for noise in study.noises if LANDSCAPE in study.parts else ():
        for group in (SKETCHED, HELD_OUT, NUMBERS):
            cases = [c for c in study.cases(LANDSCAPE) if (c.noise, group_of(c)) == (noise, group)]
            gains = mean_gains(study, results, cases)
            if gains:
                yield panel(f"landscapes, {group}, noise {noise:g}", gains)
    for part in (part for part in (DREAM, FACES, STYLE, PEERS) if part in study.parts):
        for case in study.cases(part):
            where = f"{'box' if part == PEERS else part}: {label_of(case)}"
            found = by_method(study, results, case)
            yield panel(where, {method: sessions.gains for method, sessions in found.items()})


def _plot_curves(axes: Any, title: str, gains: dict[str, NDArray[np.float64]]) -> None:
    for method, found in gains.items():
        style = {**STYLES[method], "label": LABELS.get(method, method)}
        plotting.band(axes, np.arange(found.shape[1]), found, style)
    axes.set_title(title)
    axes.set_xlabel("rounds")
    axes.set_ylabel("gain (sd)")
    axes.grid(alpha=0.2, lw=0.6)


def _lead_panels(study: Study, results: Results) -> list[tuple[str, dict[str, Any]]]:
    """Return the title and the final leads over rank-process by taste, for each noise."""
    found = []
    for noise in study.noises if LANDSCAPE in study.parts else ():
        cases = [case for case in study.cases(LANDSCAPE) if case.noise == noise]
        by_taste = {
            f"{case.taste} ({group_of(case)})": lead
            for case in cases
            for lead in leads(study, results, [case], PROCESS).values()
        }
        if by_taste:
            found.append((f"rank-looks − rank-process, noise {noise:g}", by_taste))
    return found


def _plot_leads(axes: Any, title: str, found: dict[str, NDArray[np.float64]]) -> None:
    names = list(found)
    axes.barh(
        range(len(names)),
        [lead.mean() for lead in found.values()],
        height=0.7,
        xerr=[standard_error(lead) or 0.0 for lead in found.values()],
        color=STYLES[LOOKS]["color"],
        error_kw={"lw": 0.9, "ecolor": "#333333"},
    )
    axes.axvline(0, color="#333333", lw=0.8)
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("sd of random pictures")
    axes.set_title(title)
    axes.grid(alpha=0.2, lw=0.6, axis="x")
