"""The slates of a run: new ones from the optimizer, old ones from the log.

A logged slate is read from its line. The optimizer is asked again only for lines without a
recorded slate, as in logs of older versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from zorank import _slate_log, rng
from zorank.errors import InvalidInput, StoreError
from zorank.protocols import AnyOptimizer, Looks, uses_looks
from zorank.slates import Slate
from zorank.types import Round, RunRecord


def ask_optimizer(
    optimizer: AnyOptimizer, state: Any, rng: np.random.Generator, looks: Looks | None = None
) -> Slate:
    """Return the optimizer's next slate; looks are passed on if the optimizer uses them."""
    if uses_looks(optimizer):
        return optimizer.ask(state, rng, looks)
    return optimizer.ask(state, rng)


def with_looks(
    optimizer: AnyOptimizer, state: Any, slate: Slate, index: int, looks: Looks | None
) -> Slate:
    """Return the slate of round `index` with looks, if the optimizer uses them.

    The looks of candidates that were shown earlier without looks precede those of the slate.
    """
    if looks is None or not uses_looks(optimizer) or index < looks.begin:
        return slate
    earlier = optimizer.unlooked(state)
    if slate.looks is not None and not earlier:
        return slate
    return replace(slate, looks=looks(np.array([*earlier, *slate])))


def check_looks(looks: Looks | None) -> Looks | None:
    """Return the looks, or raise InvalidInput if they lack a member of the protocol."""
    if looks is None or isinstance(looks, Looks):
        return looks
    raise InvalidInput(
        "looks must have begin, reference and __call__, like the result of "
        f"zorank.looks.for_renderer(renderer, seed); found {type(looks).__name__}"
    )


class RunSlates:
    """Makes the slates of one run, and writes and reads them in its log.

    Attributes:
        shown: candidates of earlier rounds, which records refer to.
    """

    def __init__(self, optimizer: AnyOptimizer, record: RunRecord) -> None:
        self._optimizer = optimizer
        self._record = record
        self.shown = _slate_log.ShownCandidates(record.x0)

    def new(self, index: int, state: Any, looks: Looks | None = None) -> Slate:
        """Ask the optimizer for the slate of round `index`."""
        generator = rng.for_round(self._record.seed, index)
        return ask_optimizer(self._optimizer, state, generator, looks)

    def to_log(self, slate: Slate) -> tuple[dict[str, Any], Slate]:
        """Return a slate's JSON record, and the slate that is read back from it."""
        return _slate_log.record(slate, self.shown)

    def add_looks(
        self, line: Round, slate: Slate, state: Any, looks: Looks | None
    ) -> tuple[Round, Slate]:
        """Return the waiting line and its slate with looks, if the optimizer uses them."""
        looked = with_looks(self._optimizer, state, slate, line.index, looks)
        if looked.looks is None or line.slate is None:
            return line, slate
        if looked is slate and "looks" in line.slate:  # a line loaded again may lack them
            return line, slate
        return replace(line, slate=_slate_log.add_looks(line.slate, looked.looks)), looked

    def from_log(self, line: Round, state: Any) -> Slate:
        """Return the slate of a line in the log; `state` is the state before it.

        A line without a record was asked without looks: slates with looks are always recorded.
        """
        if line.slate is None:
            return self.new(line.index, state)
        recorded = self._read(line.index, line.slate)
        if _slate_log.has_design(line.slate):
            return recorded
        asked = self.new(line.index, state)  # `tell` may need the optimizer's own design
        if _slate_log.same_candidates(asked, recorded):
            return replace(asked, looks=recorded.looks)
        return recorded

    def _read(self, index: int, data: Mapping[str, Any]) -> Slate:
        try:
            return _slate_log.decode(data, self.shown)
        except StoreError as error:
            raise StoreError(f"round {index} of run {self._record.name!r}: {error}") from error
