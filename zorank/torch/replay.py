"""Keeps the weights of a module in step with the log of a run.

After an answer, an undo, a resume, or an answer of another process, `WeightReplay.sync` moves the
weights to where the log ends: by exact moves if possible, else from a checkpoint or the start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from zorank.errors import InvalidInput, ReplayError, short
from zorank.estimators import rank_coefficients
from zorank.run import Run
from zorank.torch.checkpoints import Checkpoints
from zorank.torch.descent import DescentState, ModuleDescent
from zorank.torch.grid import digest
from zorank.torch.weights import Weights
from zorank.types import Round, Vector


@dataclass(frozen=True)
class AppliedRound:
    """An answered round that the weights include, and the move that it made."""

    line: Round
    coefficients: Vector
    before: DescentState
    reversible: bool = False


class WeightReplay:
    """Applies the answers of a log to weights, and reverts them.

    Args:
        run: the run that has the log.
        optimizer: its optimizer.
        weights: the weights to move.
        checkpoints: None if there is no folder for them.
    """

    def __init__(
        self,
        run: Run,
        optimizer: ModuleDescent,
        weights: Weights,
        checkpoints: Checkpoints | None,
    ) -> None:
        self._run, self._optimizer, self._weights = run, optimizer, weights
        self.checkpoints = checkpoints
        self._metadata: Mapping[str, Any] = run.record.meta["torch"]
        self._applied: list[AppliedRound] = []
        self._restart(self._answered())
        self.sync()

    @property
    def rounds(self) -> int:
        """The number of answers that the weights include."""
        return len(self._applied)

    def sync(self) -> None:
        """Move the weights to where the log ends."""
        log = self._answered()
        while self._applied and not _is_prefix(self._applied, log):
            if not self._applied[-1].reversible:
                self._restart(log)
                break
            self._revert()
        if len(self._applied) == len(log):
            return
        before = self._optimizer.init(self._run.record.x0)
        for line, _, after in self._run.replay():
            if line.index >= len(self._applied):
                self.apply(line, before, after)
            before = after

    def apply(self, line: Round, before: DescentState, after: DescentState) -> None:
        """Move the weights by the answer of a round."""
        answer: Any = line.answer
        coefficients = rank_coefficients(answer, self._optimizer.m)
        eta, radius = self._optimizer.eta(before), self._optimizer.radius(after)
        applied = AppliedRound(line, coefficients, before)
        self._applied.append(applied)  # not reversible until the move is complete
        reversible = self._weights.move(line.index, coefficients, eta, radius)
        self._applied[-1] = replace(applied, reversible=reversible)

    def undo(self, rounds: int) -> None:
        """Undo the last rounds of the log and move the weights back, bit for bit."""
        undone = self._applied[-rounds:] if isinstance(rounds, int) and rounds > 0 else []
        if self.checkpoints is None and not all(applied.reversible for applied in undone):
            raise InvalidInput(
                f"the last {short(rounds)} rounds cannot be undone exactly: their moves were made "
                "by another process, or are inexact because a grid has grown or the weights are "
                "of half precision; give the trainer a folder for checkpoints to go back to"
            )
        self._run.undo(rounds)
        if self.checkpoints is not None:
            self.checkpoints.tidy(len(self._run.history))
        self.sync()

    def save(self) -> Path:
        """Write a checkpoint of the weights."""
        if self.checkpoints is None:
            raise InvalidInput(
                "there is no folder for checkpoints; give the trainer one: "
                "RankTrainer(model, folder='tuned')"
            )
        return self.checkpoints.write(self._weights, [applied.line for applied in self._applied])

    def _answered(self) -> list[Round]:
        return [line for line in self._run.rounds() if line.answer is not None]

    def _revert(self) -> None:
        applied = self._applied.pop()
        eta, radius = self._optimizer.eta(applied.before), self._optimizer.radius(applied.before)
        self._weights.move(applied.line.index, applied.coefficients, -eta, radius)

    def _restart(self, log: Sequence[Round]) -> None:
        """Go to the newest checkpoint of this log, or else to the start."""
        known = 0
        if self.checkpoints is not None:
            known = self.checkpoints.load_newest(self._weights, log) or 0
        if not known:
            self._check_start(log)
        self._applied = [AppliedRound(line, np.zeros(0), DescentState()) for line in log[:known]]

    def _check_start(self, log: Sequence[Round]) -> None:
        """Raise unless the module holds the run's initial weights, from which it is replayed."""
        units = [row["unit"] for row in self._metadata["parameters"].values()]
        if digest(self._weights.values(), units) != self._metadata["start"]:
            raise ReplayError(
                f"the weights are not the initial weights of run {self._run.name!r}, and there "
                "is no checkpoint to resume from; make the model exactly as at its start (same "
                "seed, same file), or give the folder with the run's checkpoints"
            )
        if log and self._weights.draws_digest() != self._metadata["draws"]:
            raise ReplayError(
                f"run {self._run.name!r} was started on a device, or with a torch release, that "
                "draws other random numbers, so its answers cannot be replayed here; save a "
                "checkpoint there after the last answer, and resume from it"
            )
        self._weights.set_units(units)


def _is_prefix(applied: Sequence[AppliedRound], log: Sequence[Round]) -> bool:
    """Whether the log begins with these rounds; keys are unique, so the last one suffices."""
    return len(applied) <= len(log) and log[len(applied) - 1].key == applied[-1].line.key
