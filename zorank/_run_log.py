"""The log of one run, as this process reads it from the store and writes to it.

Another process may answer, undo or edit at any time. A write that comes too late raises
`StaleAnswer`: the changes are loaded first, and the caller must ask before it answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from zorank._fold import Fold
from zorank._records import check_text, new_name
from zorank._store_protocol import Check
from zorank.errors import InvalidInput, StaleAnswer, StoreError, short
from zorank.protocols import Store
from zorank.slates import Slate
from zorank.types import Json, Round, RunRecord, Snapshot

T = TypeVar("T")


class RunLog:
    """The lines of a run's log and their fold, in step with the store.

    Attributes:
        store: where the log is.
        record: the run's configuration.
        fold: the answered lines and the optimizer's state after them.
        waiting: the line that waits for an answer; None if there is none.
    """

    def __init__(self, store: Store, record: RunRecord, fold: Fold) -> None:
        self.store = store
        self.record = record
        self.fold = fold
        self.waiting: Round | None = None
        self._edits = Snapshot(record.meta).edits
        self._outdated = False
        self._loaded_others = False
        self._load()

    def __len__(self) -> int:
        return len(self.fold.log)

    @property
    def last(self) -> Round | None:
        """The last answered line."""
        return self.fold.log[-1] if self.fold.log else None

    def lines(self) -> list[Round]:
        """Return all answered lines, and the waiting line if there is one."""
        return [*self.fold.log, *([self.waiting] if self.waiting else [])]

    def meta(self) -> Json:
        """Return the run's metadata as they are now; other processes may have changed them."""
        return self.store.record(self.record.name).meta

    def asked(self) -> None:
        """Note that the caller has asked: it knows the line that waits now."""
        self._outdated = False

    def waiting_line(self) -> Round:
        """Return the line that waits for an answer; raise if the caller has not asked for it."""
        if self.waiting is None or self._outdated:
            raise StaleAnswer(
                f"no round of run {self.record.name!r} waits for an answer; ask first"
            )
        return self.waiting

    def is_current(self, seen: Snapshot) -> bool:
        """Return whether the log in the store is the one that was loaded."""
        return seen.ends_with(self.waiting or self.last) and seen.edits == self._edits

    def refresh(self, seen: Snapshot | None) -> bool:
        """Load the changes of other processes; return whether there were any."""
        seen = self.store.snapshot(self.record.name) if seen is None else seen
        if self.is_current(seen) and not self._loaded_others:
            return False
        self._edits = seen.edits
        self._load()
        self._loaded_others = False
        return True

    def show(self, slate: Json | None) -> Round:
        """Append the next line, with the record of its slate, and let it wait."""
        index, after, now = len(self), self.last.key if self.last else "", time.time()
        self.waiting = self._write(
            lambda: self.store.append(self.record.name, index, now, after, slate)
        )
        return self.waiting

    def answer(
        self,
        answered: Round,
        slate: Slate,
        state: Any,
        ballots: int | None,
        check: Check | None = None,
    ) -> None:
        """Answer the waiting line; `state` is the state after it."""
        checked = {} if check is None else {"check": check}
        self._write(lambda: self.store.answer(self.record.name, answered, ballots, **checked))
        self.fold.append(answered, slate, state)
        self.waiting = None

    def undo(self, rounds: int) -> Round:
        """Undo the last answered lines; return the first of them."""
        count = len(self)
        if isinstance(rounds, bool) or not isinstance(rounds, int) or not 1 <= rounds <= count:
            raise InvalidInput(
                f"{short(rounds)} rounds cannot be undone: run {self.record.name!r} has {count} "
                "answered"
            )
        undone, last = self.fold.log[count - rounds], self.fold.log[-1].key
        self._write(lambda: self.store.undo(self.record.name, undone.index, last))
        self._load()
        return undone

    def branch(self, round: int | None, name: str | None) -> str:
        """Create a run with the first `round` answered lines; return its name."""
        count = len(self)
        kept = count if round is None else round
        if isinstance(kept, bool) or not isinstance(kept, int) or not 0 <= kept <= count:
            raise InvalidInput(
                f"run {self.record.name!r} has {count} answered rounds; "
                f"a branch keeps from 0 to {count} of them, found {short(round)}"
            )
        check_text(name, "a run's name")
        name = name or new_name()
        record = replace(self.record, name=name, meta=self.meta(), created_at=time.time())
        self.store.create(record, self.fold.log[:kept])
        return name

    def _load(self) -> None:
        """Fold in the changes of the store's log."""
        lines = self.store.rounds(self.record.name)
        if [line.index for line in lines] != list(range(len(lines))):
            raise StoreError(f"the log of run {self.record.name!r} is damaged: rounds are missing")
        if any(line.slate is not None for line in lines):
            self.fold.keep_candidates()
        waits = bool(lines) and lines[-1].answer is None
        self.waiting = lines.pop() if waits else None
        self.fold.update(lines)

    def _write(self, write: Callable[[], T]) -> T:
        """Write to the store; if another process was first, load its changes and raise."""
        try:
            return write()
        except StaleAnswer:
            before = self.waiting or self.last
            self._load()
            self._outdated = True
            # The next `refresh` reports these changes.
            self._loaded_others |= (self.waiting or self.last) != before
            raise
