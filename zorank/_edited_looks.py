"""The looks on recorded slates after answers were removed from a log.

The first slate with looks also has rows for the candidates that were shown before it without looks
(`with_looks` in `_run_slates.py`). Without the answer to a slate of starts, the optimizer does not
have these starts among its candidates: the records must lose their rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from zorank import _slate_log
from zorank.protocols import uses_looks
from zorank.run import Run
from zorank.slates import Slate
from zorank.types import Json, Matrix, Round, Vector


def fitted_slates(before: Run, after: Run) -> dict[str, Json]:
    """Return the records whose looks do not fit a run without some of its answers, made to fit.

    Args:
        before: the run with all answers.
        after: the run without some of them; its slates are the same.

    Returns:
        New records by the keys of their lines.
    """
    fitted: dict[str, Json] = {}
    for (line, slate, old), (_, _, new) in zip(_slates(before), _slates(after), strict=True):
        if line.slate is None or slate.looks is None:
            continue
        rows = _fitted_rows(slate, slate.looks, old, new)
        if rows is not slate.looks:
            fitted[line.key] = _slate_log.add_looks(line.slate, rows)
    return fitted


def _slates(run: Run) -> Iterator[tuple[Round, Slate, Sequence[Vector]]]:
    """Yield every line, its slate and the candidates that had no looks before it."""
    optimizer = run.optimizer
    if not uses_looks(optimizer):
        return
    state = optimizer.init(run.record.x0)
    for line, slate, after in run.replay():
        yield line, slate, optimizer.unlooked(state)
        state = after
    lines = run.rounds()
    if lines and lines[-1].answer is None:
        yield lines[-1], run.ask(), optimizer.unlooked(state)


def _fitted_rows(
    slate: Slate, looks: Matrix, old: Sequence[Vector], new: Sequence[Vector]
) -> Matrix:
    """Return the rows of the candidates without looks that are left, then those of the slate.

    Looks that had too many rows before are returned as they are.
    """
    shown = [_slate_log.digest(x) for x in slate]
    had = [*map(_slate_log.digest, old), *shown]
    if len(looks) > len(had):
        return looks
    by_digest = dict(zip(had[-len(looks) :], looks, strict=True))
    rows: list[Vector] = []
    for key in reversed([*map(_slate_log.digest, new), *shown]):
        if key not in by_digest:
            break
        rows.append(by_digest[key])
    fitted = np.array(rows[::-1])
    return looks if np.array_equal(fitted, looks) else fitted
