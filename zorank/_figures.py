"""Figures of a run's history, for notebooks and the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import accumulate
from typing import Any

from zorank.errors import InvalidInput, required_by

STYLE = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
NOT_REPORTED = ("round", "points", "seconds")
"""Numbers of a history's row that are not the optimizer's report."""
MOST_PANELS = 6

Rows = Sequence[Mapping[str, Any]]


def load_figure(extra: str = "experiments") -> tuple[Any, Any]:
    """Import Matplotlib and its Figure, or raise an error that names the missing extra."""
    with required_by("a plot", "matplotlib", extra):
        import matplotlib as mpl
        from matplotlib.figure import Figure
    return mpl, Figure


@contextmanager
def new_figure(title: str = "", extra: str = "experiments") -> Iterator[Any]:
    """Yield an empty figure in the style of all plots of a history."""
    mpl, figure_class = load_figure(extra)
    with mpl.rc_context(STYLE):
        figure = figure_class(figsize=(7, 4.2), layout="constrained")
        if title:
            figure.suptitle(title, fontsize=12)
        yield figure


def history_figure(history: Rows, title: str = "", maximize: bool | None = False) -> Any:
    """Return a figure that a notebook shows: the values of rounds, else the optimizer's report.

    Args:
        history: rows of `Run.history` or `Result.history`.
        title: the title of the figure.
        maximize: whether larger values are better, for rows without the best so far.
    """
    check_history(history)
    with new_figure(title, "notebook") as figure:
        if any("value" in row for row in history):
            draw_values(figure.add_subplot(), history, bool(maximize))
        else:
            _draw_reports(figure, history)
    figure._repr_png_ = partial(_png, figure)  # IPython knows figures of pyplot only
    return figure


def check_history(history: Rows) -> None:
    """Raise InvalidInput if there is no answered round."""
    if not history:
        raise InvalidInput("there is nothing to plot: no round is answered yet")


def draw_values(axes: Any, history: Rows, maximize: bool = False) -> None:
    """Plot the value of each round and the best so far against points."""
    rows = [row for row in history if "value" in row]
    points, values = [row["points"] for row in rows], [row["value"] for row in rows]
    known = all("best" in row for row in rows)
    so_far = accumulate(values, max if maximize else min)
    best = [row["best"] for row in rows] if known else list(so_far)
    axes.plot(points, values, ".", ms=3, c="#b8c4d6", label="round")
    axes.plot(points, best, lw=2, c="#2b5797", label="best so far")
    if min(best) > 0 and max(best) / min(best) > 50:
        axes.set_yscale("log")
    axes.set(xlabel="points", ylabel="value")
    axes.legend(frameon=False)
    axes.grid(alpha=0.25)


def _draw_reports(figure: Any, history: Rows) -> None:
    """Plot each number of the optimizer's report against rounds, in a panel of its own."""
    names = _reported(history)
    if not names:
        raise InvalidInput("there is nothing to plot: the history has neither values nor reports")
    columns = 1 if len(names) == 1 else 2
    rows = -(-len(names) // columns)
    for number, name in enumerate(names, start=1):
        shown = [row for row in history if _is_number(row.get(name))]
        axes = figure.add_subplot(rows, columns, number)
        axes.plot(
            [row["round"] for row in shown],
            [row[name] for row in shown],
            marker=".",
            lw=1.5,
            c="#2b5797",
        )
        axes.set_title(name, fontsize=10)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.grid(alpha=0.25)
        if number > len(names) - columns:
            axes.set_xlabel("round")


def _reported(history: Rows) -> list[str]:
    names = dict.fromkeys(name for row in history for name in row if _is_number(row[name]))
    return [name for name in names if name not in NOT_REPORTED][:MOST_PANELS]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _png(figure: Any) -> bytes:
    from io import BytesIO

    file = BytesIO()
    figure.savefig(file, format="png", dpi=100)
    return file.getvalue()
