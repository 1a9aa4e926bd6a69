"""How a run's slates are made, and made again from its log.

A new slate comes from the optimizer. An old one comes from its line in the log; the optimizer is
asked again only where the line has none, as in logs of older versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from zorank import _slate_log, rng
from zorank.errors import StoreError
from zorank.protocols import AnyOptimizer, Looks
from zorank.slates import Slate
from zorank.types import Round, RunRecord


def uses_looks(optimizer: AnyOptimizer) -> bool:
    """Whether an optimizer learns from what candidates look like."""
    return bool(getattr(type(optimizer), "uses_looks", False))


def question(
    optimizer: Any, state: Any, rng: np.random.Generator, looks: Looks | None = None
) -> Slate:
    """What the optimizer asks next; it is given the looks if it learns from them."""
    asked: Slate = (
        optimizer.ask(state, rng, looks) if uses_looks(optimizer) else optimizer.ask(state, rng)
    )
    return asked


def with_looks(optimizer: Any, state: Any, slate: Slate, index: int, looks: Looks | None) -> Slate:
    """The slate of round `index` with the looks of its candidates, if the optimizer uses them.

    Candidates that were shown earlier without looks come before its own.
    """
    if looks is None or not uses_looks(optimizer) or index < looks.begin:
        return slate
    earlier = optimizer.unlooked(state)
    if slate.looks is not None and not earlier:
        return slate
    return replace(slate, looks=looks(np.array([*earlier, *slate])))


class Questions:
    """The slates of one run.

    Attributes:
        shown: the candidates of earlier rounds, as far as they are kept, to which records refer.
    """

    def __init__(self, optimizer: AnyOptimizer, record: RunRecord) -> None:
        self._optimizer = optimizer
        self._record = record
        self.shown = _slate_log.Shown(record.x0)

    def new(self, index: int, state: Any, looks: Looks | None = None) -> Slate:
        """The slate of round `index`, asked in this state."""
        return question(self._optimizer, state, rng.for_round(self._record.seed, index), looks)

    def record(self, slate: Slate) -> tuple[dict[str, Any], Slate]:
        """The slate as the log keeps it, and as it is read back."""
        return _slate_log.record(slate, self.shown)

    def looked_at(
        self, line: Round, slate: Slate, state: Any, looks: Looks | None
    ) -> tuple[Round, Slate]:
        """The waiting line and its slate with looks, where the optimizer uses them."""
        seen = with_looks(self._optimizer, state, slate, line.index, looks)
        if seen.looks is None or line.slate is None:
            return line, slate
        if seen is slate and "looks" in line.slate:  # a line that was read again has none yet
            return line, slate
        return replace(line, slate=_slate_log.add_looks(line.slate, seen.looks)), seen

    def again(self, line: Round, state: Any) -> Slate:
        """The slate of a line in the log, whose state before it is given.

        A line without a record was asked without looks: with looks, slates are always recorded.
        """
        if line.slate is None:
            return self.new(line.index, state)
        recorded = self._read(line.index, line.slate)
        if _slate_log.is_whole(line.slate):
            return recorded
        asked = self.new(line.index, state)  # a design of its own that the optimizer needs back
        if _slate_log.same_candidates(asked, recorded):
            return replace(asked, looks=recorded.looks)
        return recorded

    def _read(self, index: int, data: Mapping[str, Any]) -> Slate:
        try:
            return _slate_log.decode(data, self.shown)
        except StoreError as error:
            raise StoreError(f"round {index} of run {self._record.name!r}: {error}") from error
