"""The style of all figures, and how they are saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank._figures import load_figure
from zorank.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["STYLE", "band", "load_figure", "save"]

STYLE = {
    "font.size": 8.5,
    "axes.titlesize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "svg.hashsalt": "zorank",  # the same data give the same file
}


def save(draw: Callable[[Any], None], files: Sequence[Path]) -> None:
    """Draw on an empty figure, and save it to each file in the format of its suffix."""
    mpl, figure_class = load_figure()
    with mpl.rc_context(STYLE):
        figure = figure_class(layout="constrained")
        draw(figure)
        for file in files:
            dated = {"metadata": {"Date": None}} if file.suffix == ".svg" else {}
            try:
                figure.savefig(file, dpi=180, **dated)
            except OSError as error:
                raise InvalidInput(f"{file} cannot be written: {error.strerror}") from error


def band(axes: Any, x: Any, gains: NDArray[np.float64], style: dict[str, Any]) -> None:
    """Plot the mean of gains, (seeds, x), with a band of one standard error."""
    mean = gains.mean(axis=0)
    axes.plot(x, mean, **style)
    if len(gains) > 1:
        error = gains.std(axis=0, ddof=1) / np.sqrt(len(gains))
        axes.fill_between(x, mean - error, mean + error, color=style["color"], alpha=0.16, lw=0)
