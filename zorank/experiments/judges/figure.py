"""The figure of the study of judges: gains by pictures seen, by kind of rater, and by (m, k)."""

from __future__ import annotations

from typing import Any

import numpy as np

from zorank.experiments import plotting
from zorank.experiments.judges.findings import (
    BEST,
    WORST,
    Case,
    by_method,
    by_rater,
    cases,
    measured,
)
from zorank.experiments.judges.study import (
    NEIGHBOURS,
    PROCESS,
    RANDOM,
    SEPCMA,
    M,
    Results,
    Study,
)
from zorank.experiments.measured import compare
from zorank.experiments.studies import standard_error

STYLES: dict[str, dict[str, Any]] = {
    PROCESS: {"color": "#1f4e9c", "lw": 2.2, "label": "rank-process", "zorder": 5},
    BEST: {"color": "#d1691f", "lw": 1.6, "label": "Algorithm 3, best μ and η in hindsight"},
    WORST: {
        "color": "#d1691f",
        "lw": 1.2,
        "ls": (0, (4, 2)),
        "label": "Algorithm 3, worst μ and η",
    },
    SEPCMA: {"color": "#7b4ea3", "lw": 1.4, "label": "sep-CMA-ES, best σ in hindsight"},
    NEIGHBOURS: {"color": "#3f8f5b", "lw": 1.4, "label": "best neighbour, best μ in hindsight"},
    RANDOM: {"color": "#8a8f98", "lw": 1.4, "ls": (0, (1, 1.5)), "label": "best of random"},
}
UTILITY_NAMES = {"hidden": "hidden directions", "sine": "sine features"}
DEPTH_COLOURS = {1: "#9dbbe3", 2: "#5f90d0", 3: "#2b65b5", None: "#12305f"}
HEIGHT = 2.15


def draw(figure: Any, study: Study, results: Results) -> None:
    """Draw all parts that were run."""
    rows = _case_rows(study)
    extra = _extra_panels(study)
    panels = len(rows) + (1 if extra else 0)
    figure.set_size_inches(8.6, HEIGHT * panels + (1.2 if extra else 0.6))
    heights = [1.0] * len(rows) + ([1.3] if extra else [])
    blocks = np.atleast_1d(figure.subfigures(panels, 1, height_ratios=heights))
    for block, row in zip(blocks, rows, strict=False):
        _plot_cases(block, study, results, row)
    if rows:
        handles, labels = blocks[0].axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    if extra:
        for axes, plot in zip(
            blocks[-1].subplots(1, len(extra), squeeze=False)[0], extra, strict=True
        ):
            plot(axes, study, results)


def _case_rows(study: Study) -> list[list[Case]]:
    if "people" not in study.parts:
        return []
    found = cases(study, study.claimed)
    return [found[i : i + len(study.noises)] for i in range(0, len(found), len(study.noises))]


def _extra_panels(study: Study) -> list[Any]:
    raters = [_plot_raters] if "judges" in study.parts else []
    return raters + ([_plot_mk_pictures, _plot_mk_minutes] if "mk" in study.parts else [])


def _plot_cases(block: Any, study: Study, results: Results, row: list[Case]) -> None:
    pictures = M * np.arange(1, study.rounds + 2)
    for axes, case in zip(
        block.subplots(1, len(row), sharey=True, squeeze=False)[0], row, strict=True
    ):
        for label, sessions in by_method(study, results, case).items():
            if label in STYLES:
                plotting.band(axes, pictures, sessions.gains, STYLES[label])
        utility, noise, dim = case
        axes.set_title(f"{UTILITY_NAMES.get(utility, utility)}, d = {dim:,}, noise {noise:g}")
        axes.set_xlim(0, pictures[-1])
        axes.grid(alpha=0.2, lw=0.6)
        if case is row[0]:
            axes.set_ylabel("gain (sd of random pictures)")
    block.supxlabel("pictures looked at", fontsize=8.5)


def _plot_raters(axes: Any, study: Study, results: Results) -> None:
    of = by_rater(study, results)
    names = list(of)
    for shift, label in ((-0.19, PROCESS), (0.19, BEST)):
        gains = [np.mean([by[label].gains[:, -1] for by in of[n].values()], axis=0) for n in names]
        axes.barh(
            np.arange(len(names)) + shift,
            [g.mean() for g in gains],
            height=0.36,
            xerr=[standard_error(g) or 0.0 for g in gains],
            color=STYLES[label]["color"],
            error_kw={"lw": 0.9, "ecolor": "#333333"},
            label=STYLES[label]["label"],
        )
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("gain (sd of random pictures)")
    axes.set_title(f"judges of noise 0.1, d = {study.judged_dim}")
    axes.grid(alpha=0.2, lw=0.6, axis="x")


def _plot_mk_pictures(axes: Any, study: Study, results: Results) -> None:
    rows = measured(study, results).rows
    _mk_lines(axes, study, [(r.m, r.k, r.noise, r.gain, r.standard_error) for r in rows])
    axes.set_title(f"after {study.pictures} pictures, d = {study.judged_dim}")
    axes.set_ylabel("gain of rank-process")


def _plot_mk_minutes(axes: Any, study: Study, results: Results) -> None:
    rows = measured(study, results).rows
    minutes, _ = compare(rows)
    _mk_lines(axes, study, [(r.m, r.k, r.noise, r.gain_within(minutes), None) for r in rows])
    axes.set_title(f"after {minutes:.1f} minutes of a person")
    axes.legend(frameon=False, title="ranked", fontsize=7.5, ncols=2)


def _mk_lines(axes: Any, study: Study, points: list[tuple[Any, ...]]) -> None:
    """Draw one line per k: solid for the first noise, dashed for the next."""
    for noise, dashes in zip(study.mk_noises, ("-", "--", ":"), strict=False):
        for k in (*study.ranked, None):
            here = [(m, gain, error) for m, kk, n, gain, error in points if (kk, n) == (k, noise)]
            if not here:
                continue
            m, gain, error = zip(*here, strict=True)
            axes.errorbar(
                *(m, gain),
                yerr=None if None in error else error,
                ls=dashes,
                marker="o",
                ms=3,
                lw=1.3,
                elinewidth=0.8,
                color=DEPTH_COLOURS.get(k, "#2b65b5"),
                label=("all" if k is None else str(k)) if dashes == "-" else None,
            )
    axes.set_xticks(study.shown)
    noises = "; ".join(
        f"{dashes} noise {noise:g}"
        for noise, dashes in zip(study.mk_noises, ("—", "– –", "···"), strict=False)
    )
    axes.set_xlabel(f"pictures shown at once\n({noises})")
    axes.grid(alpha=0.2, lw=0.6)
