"""Plots of a run's history, for the command line."""

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from zorank._figures import check_history, draw_values, load_figure, new_figure
from zorank.errors import InvalidInput


def check_plot_file(path: Path) -> None:
    """Raise InvalidInput if the file's suffix is not a supported image format."""
    _, figure_class = load_figure()
    known = figure_class().canvas.get_supported_filetypes()
    if path.suffix.removeprefix(".").lower() not in known:
        raise InvalidInput(
            f"{path} has no supported image format; use one of: {', '.join(sorted(known))}"
        )


def plot_history(history: Sequence[Mapping[str, Any]], path: str | Path, title: str = "") -> None:
    """Plot the best value so far against points (`Result.history`)."""
    check_history(history)
    with new_figure(title) as figure:
        draw_values(figure.add_subplot(), history)
        _save(figure, path)


def plot_learning(rows: Sequence[Mapping[str, Any]], path: str | Path, title: str = "") -> None:
    """Plot the reward on held-out resets against ranked episodes."""
    finite = [row for row in rows if isfinite(row["reward"])]
    episodes, rewards = [row["episodes"] for row in finite], [row["reward"] for row in finite]
    with new_figure(title) as figure:
        axes = figure.add_subplot()
        axes.plot(episodes, rewards, marker="o", ms=3.5, lw=2, c="#2b5797")
        axes.set(xlabel="ranked episodes", ylabel="reward on held-out resets")
        axes.grid(alpha=0.25)
        _save(figure, path)


def _save(figure: Any, path: str | Path) -> None:
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"the plot cannot be written to {path}: {error}") from error
