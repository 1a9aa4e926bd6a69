"""A store in memory: the default of `Run` and `minimize`. Its runs end with the process."""

import threading
import time
from collections.abc import Iterable
from dataclasses import replace

from zorank._store_protocol import Check
from zorank.errors import InvalidInput, unknown_name
from zorank.protocols import Store
from zorank.stores._errors import (
    answered_elsewhere,
    ballot_missed,
    edited_elsewhere,
    not_waiting,
    second_ballot,
)
from zorank.stores._shared import changed_meta, edited_line, edited_meta, new_key
from zorank.types import Audit, Ballot, CastBallot, Edit, Json, Round, RunRecord


class MemoryStore(Store):
    """Keeps runs in dictionaries."""

    def __init__(self) -> None:
        self._records: dict[str, RunRecord] = {}
        self._logs: dict[str, list[Round]] = {}
        self._ballots: dict[tuple[str, int], list[CastBallot]] = {}
        self._lock = threading.Lock()

    def create(self, record: RunRecord, rounds: Iterable[Round] = ()) -> None:
        with self._lock:
            if record.name in self._records:
                raise InvalidInput(
                    f"there is already a run named {record.name!r}; choose another name"
                )
            self._records[record.name] = record
            self._logs[record.name] = list(rounds)

    def record(self, name: str) -> RunRecord:
        if name not in self._records:
            raise unknown_name("run", name, self._records)
        return self._records[name]

    def runs(self) -> list[RunRecord]:
        return list(self._records.values())

    def rounds(self, name: str) -> list[Round]:
        self.record(name)
        return list(self._logs[name])

    def last(self, name: str) -> Round | None:
        return next(reversed(self._log(name)), None)

    def append(
        self, name: str, index: int, shown_at: float, after: str = "", slate: Json | None = None
    ) -> Round:
        with self._lock:
            log = self._log(name)
            if index > len(log) or _last_key(log, index) != after:
                raise not_waiting(name, index, _waiting_index(log))
            if index < len(log) and log[index].answer is None:
                return log[index]
            if index != len(log):
                raise not_waiting(name, index, _waiting_index(log))
            log.append(Round(index, shown_at, key=new_key(), slate=slate))
            return log[-1]

    def answer(
        self, name: str, answered: Round, ballots: int | None = None, check: Check | None = None
    ) -> None:
        with self._lock:
            if check is not None:
                check(self.snapshot(name))
            log = self._log(name)
            if _waiting_index(log) != answered.index or log[-1].key != answered.key:
                raise not_waiting(name, answered.index, _waiting_index(log))
            if ballots is not None and len(self.ballots(name, answered.index)) != ballots:
                raise ballot_missed(name, answered.index)
            shown_at = log[-1].shown_at
            slate = log[-1].slate if answered.slate is None else answered.slate
            if answered.shown_at != shown_at or answered.slate is not slate:
                answered = replace(answered, shown_at=shown_at, slate=slate)
            log[-1] = answered

    def cast(
        self, name: str, index: int, ballot: Ballot, check: Check | None = None
    ) -> list[Ballot]:
        with self._lock:
            if check is not None:
                check(self.snapshot(name))
            log = self._log(name)
            if _waiting_index(log) != index:
                raise not_waiting(name, index, _waiting_index(log))
            cast = self._ballots.setdefault((name, index), [])
            if any(c.ballot.rater == ballot.rater for c in cast):
                raise second_ballot(name, index, ballot.rater)
            cast.append(CastBallot(index, ballot, time.time()))
            return [c.ballot for c in cast]

    def ballots(self, name: str, index: int) -> list[Ballot]:
        self.record(name)
        return [c.ballot for c in self._ballots.get((name, index), ())]

    def undo(self, name: str, index: int, last: str | None = None) -> None:
        with self._lock:
            log = self._log(name)
            if last is not None and _last_key(log, len(log)) != last:
                raise answered_elsewhere(name)
            del log[index:]
            self._delete_ballots(name, index)

    def change_meta(self, name: str, changes: Json, dropped: Iterable[str] = ()) -> None:
        with self._lock:
            record = self.record(name)
            self._records[name] = replace(record, meta=changed_meta(record.meta, changes, dropped))

    def audit(self, name: str) -> Audit:
        with self._lock:
            lines = tuple((replace(line, slate=None), None) for line in self._log(name))
            cast = (c for key, cast in self._ballots.items() if key[0] == name for c in cast)
            return Audit(lines, tuple(sorted(cast, key=lambda c: c.cast_at)))

    def rewrite(self, name: str, edit: Edit, edits: int | None = None) -> None:
        with self._lock:
            log, record = self._log(name), self.record(name)
            if edits not in (None, record.meta.get("edits", 0)):
                raise edited_elsewhere(name)
            if log and not edit.fits(log[-1].key, log[-1].answer is None):
                raise answered_elsewhere(name)
            changed = [edited_line(edit, line) for line in log]
            ballots = {
                key: [replace(c, ballot=b) for c in cast if (b := edit.ballot(c.ballot))]
                for key, cast in self._ballots.items()
                if key[0] == name
            }
            self._records[name] = replace(record, meta=edited_meta(edit, record.meta))
            log[:] = changed
            self._ballots.update(ballots)

    def delete(self, name: str) -> None:
        with self._lock:
            self.record(name)
            del self._records[name], self._logs[name]
            self._delete_ballots(name, 0)

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _delete_ballots(self, name: str, index: int) -> None:
        for key in [key for key in self._ballots if key[0] == name and key[1] >= index]:
            del self._ballots[key]

    def _log(self, name: str) -> list[Round]:
        self.record(name)
        return self._logs[name]


def _waiting_index(log: list[Round]) -> int | None:
    """Return the index of the waiting round, or None."""
    return log[-1].index if log and log[-1].answer is None else None


def _last_key(log: list[Round], end: int) -> str:
    """Return the key of the last answered round before `end`, "" if there is none."""
    before = (log[i] for i in reversed(range(end)))
    return next((line.key for line in before if line.answer is not None), "")
