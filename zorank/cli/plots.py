"""Plots of a run's history, for the command line."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Any

from zorank.errors import InvalidInput
from zorank.experiments.plotting import load_figure


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
    if not history:
        raise InvalidInput("there is nothing to plot: no round is answered yet")
    history = [row for row in history if "value" in row]
    points = [row["points"] for row in history]
    best = [row["best"] for row in history]
    with _figure(path, title) as axes:
        axes.plot(points, [row["value"] for row in history], ".", ms=3, c="#b8c4d6", label="round")
        axes.plot(points, best, lw=2, c="#2b5797", label="best so far")
        if min(best) > 0 and max(best) / min(best) > 50:
            axes.set_yscale("log")
        axes.set(xlabel="points", ylabel="value")
        axes.legend(frameon=False)


def plot_learning(rows: Sequence[Mapping[str, Any]], path: str | Path, title: str = "") -> None:
    """Plot the reward on held-out resets against ranked episodes."""
    finite = [row for row in rows if isfinite(row["reward"])]
    episodes, rewards = [row["episodes"] for row in finite], [row["reward"] for row in finite]
    with _figure(path, title) as axes:
        axes.plot(episodes, rewards, marker="o", ms=3.5, lw=2, c="#2b5797")
        axes.set(xlabel="ranked episodes", ylabel="reward on held-out resets")


@contextmanager
def _figure(path: str | Path, title: str) -> Iterator[Any]:
    """Yield the axes of a new figure, and save it on exit."""
    mpl, figure_class = load_figure()
    with mpl.rc_context({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        figure = figure_class(figsize=(7, 4.2), layout="constrained")
        axes = figure.add_subplot(title=title)
        yield axes
        axes.grid(alpha=0.25)
        try:
            figure.savefig(path, dpi=150)
        except (OSError, ValueError) as error:
            raise InvalidInput(f"the plot cannot be written to {path}: {error}") from error
