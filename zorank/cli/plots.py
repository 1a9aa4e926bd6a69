"""Plots of a run's history, for the command line."""

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from zorank.errors import InvalidInput
from zorank.experiments.plotting import load_figure


def check_plot_file(path: Path) -> None:
    """Raise if a plot could not be written in the format that the file's name asks for."""
    _, figure_class = load_figure()
    known = figure_class().canvas.get_supported_filetypes()
    if path.suffix.removeprefix(".").lower() not in known:
        raise InvalidInput(f"{path} is no kind of picture; use one of: {', '.join(sorted(known))}")


def plot_history(history: Sequence[Mapping[str, Any]], path: str | Path, title: str = "") -> None:
    """Save a picture of the best value so far against points (`Result.history`)."""
    mpl, figure_class = load_figure()
    if not history:
        raise InvalidInput("there is nothing to plot yet: no round was answered")
    history = [row for row in history if "value" in row]
    points = [row["points"] for row in history]
    best = [row["best"] for row in history]
    with mpl.rc_context({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        figure = figure_class(figsize=(7, 4.2), layout="constrained")
        axes = figure.add_subplot()
        axes.plot(points, [row["value"] for row in history], ".", ms=3, c="#b8c4d6", label="round")
        axes.plot(points, best, lw=2, c="#2b5797", label="best so far")
        if min(best) > 0 and max(best) / min(best) > 50:
            axes.set_yscale("log")
        axes.set(xlabel="points", ylabel="value", title=title)
        axes.grid(alpha=0.25)
        axes.legend(frameon=False)
        try:
            figure.savefig(path, dpi=150)
        except (OSError, ValueError) as error:
            raise InvalidInput(f"the plot cannot be written to {path}: {error}") from error


def plot_learning(rows: Sequence[Mapping[str, Any]], path: str | Path, title: str = "") -> None:
    """Save a picture of the reward on held-out resets against ranked episodes."""
    mpl, figure_class = load_figure()
    with mpl.rc_context({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        figure = figure_class(figsize=(7, 4.2), layout="constrained")
        axes = figure.add_subplot()
        sane = [row for row in rows if isfinite(row["reward"])]
        episodes, rewards = [row["episodes"] for row in sane], [row["reward"] for row in sane]
        axes.plot(episodes, rewards, marker="o", ms=3.5, lw=2, c="#2b5797")
        axes.set(xlabel="ranked episodes", ylabel="reward on held-out resets", title=title)
        axes.grid(alpha=0.25)
        figure.savefig(path, dpi=150)
