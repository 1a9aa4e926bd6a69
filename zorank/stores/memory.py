"""A store that lives as long as the process: the default of `Run` and `minimize`."""

import os
import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from zorank.errors import InvalidInput, StaleAnswer, unknown_name
from zorank.types import Ballot, Round, RunRecord


class MemoryStore:
    """Runs in a dictionary."""

    def __init__(self) -> None:
        self._records: dict[str, RunRecord] = {}
        self._logs: dict[str, list[Round]] = {}
        self._ballots: dict[tuple[str, int], list[Ballot]] = {}
        self._lock = threading.Lock()

    def create(self, record: RunRecord, rounds: Iterable[Round] = ()) -> None:
        """Keep a new run; refuse a name that exists."""
        with self._lock:
            if record.name in self._records:
                raise InvalidInput(
                    f"there is already a run named {record.name!r}; choose another name"
                )
            self._records[record.name] = record
            self._logs[record.name] = list(rounds)

    def record(self, name: str) -> RunRecord:
        """The run of this name."""
        if name not in self._records:
            raise unknown_name("run", name, self._records)
        return self._records[name]

    def runs(self) -> list[RunRecord]:
        """All runs, oldest first."""
        return list(self._records.values())

    def rounds(self, name: str) -> list[Round]:
        """The log of a run in order."""
        self.record(name)
        return list(self._logs[name])

    def last(self, name: str) -> Round | None:
        """The newest line of a run's log."""
        return next(reversed(self._log(name)), None)

    def append(
        self,
        name: str,
        index: int,
        shown_at: float,
        after: str = "",
        slate: Mapping[str, Any] | None = None,
    ) -> Round:
        """The waiting round `index`, as it was first shown."""
        with self._lock:
            log = self._log(name)
            if index > len(log) or last_key(log[:index]) != after:
                raise stale(name, index, waiting_index(log))
            if index < len(log) and log[index].answer is None:
                return log[index]
            if index != len(log):
                raise stale(name, index, waiting_index(log))
            log.append(Round(index, shown_at, key=new_key(), slate=slate))
            return log[-1]

    def answer(self, name: str, answered: Round, ballots: int | None = None) -> None:
        """Answer the waiting round."""
        with self._lock:
            log = self._log(name)
            if waiting_index(log) != answered.index or log[-1].key != answered.key:
                raise stale(name, answered.index, waiting_index(log))
            if ballots is not None and len(self.ballots(name, answered.index)) != ballots:
                raise outvoted(name, answered.index)
            slate = log[-1].slate if answered.slate is None else answered.slate
            log[-1] = replace(answered, shown_at=log[-1].shown_at, slate=slate)

    def cast(self, name: str, index: int, ballot: Ballot) -> None:
        """Keep one rater's ballot for the waiting round."""
        with self._lock:
            log = self._log(name)
            if waiting_index(log) != index:
                raise stale(name, index, waiting_index(log))
            cast = self._ballots.setdefault((name, index), [])
            if any(b.rater == ballot.rater for b in cast):
                raise doubled(name, index, ballot.rater)
            cast.append(ballot)

    def ballots(self, name: str, index: int) -> list[Ballot]:
        """The ballots cast for a round."""
        self.record(name)
        return list(self._ballots.get((name, index), ()))

    def undo(self, name: str, index: int, last: str | None = None) -> None:
        """Take back every round from `index` on."""
        with self._lock:
            log = self._log(name)
            if last is not None and last_key(log) != last:
                raise overtaken(name)
            del log[index:]
            self._forget_ballots(name, index)

    def change_meta(
        self, name: str, changes: Mapping[str, Any], dropped: Iterable[str] = ()
    ) -> None:
        """Change and drop some of what an application keeps with a run."""
        with self._lock:
            record = self.record(name)
            self._records[name] = replace(record, meta=changed(record.meta, changes, dropped))

    def delete(self, name: str) -> None:
        """Forget a run and its log."""
        with self._lock:
            self.record(name)
            del self._records[name], self._logs[name]
            self._forget_ballots(name, 0)

    def _forget_ballots(self, name: str, index: int) -> None:
        for key in [key for key in self._ballots if key[0] == name and key[1] >= index]:
            del self._ballots[key]

    def _log(self, name: str) -> list[Round]:
        self.record(name)
        return self._logs[name]


def waiting_index(log: list[Round]) -> int | None:
    """The index of the round that waits for an answer, if one does."""
    return log[-1].index if log and log[-1].answer is None else None


def changed(
    meta: Mapping[str, Any], changes: Mapping[str, Any], dropped: Iterable[str]
) -> dict[str, Any]:
    """What is kept with a run after some of it was changed and some dropped."""
    gone = set(dropped)
    return {key: value for key, value in {**meta, **changes}.items() if key not in gone}


def new_key() -> str:
    """What tells one showing of a round from any other."""
    return os.urandom(8).hex()


def last_key(log: list[Round]) -> str:
    """The key of the last answered round, or nothing before the first."""
    return next((line.key for line in reversed(log) if line.answer is not None), "")


def overtaken(name: str) -> StaleAnswer:
    """The error for an undo of what is no longer the last answer."""
    return StaleAnswer(f"run {name!r} was answered elsewhere since; look at it before undoing")


def outvoted(name: str, index: int) -> StaleAnswer:
    """The error for an answer made of fewer ballots than there are."""
    return StaleAnswer(f"another ballot was cast for round {index} of run {name!r} meanwhile")


def doubled(name: str, index: int, rater: str) -> StaleAnswer:
    """The error for a second answer of one rater."""
    return StaleAnswer(f"{rater} has already answered round {index} of run {name!r}")


def stale(name: str, index: int, waiting: int | None) -> StaleAnswer:
    """The error for an answer to a round that does not wait."""
    now = "no round waits; ask first" if waiting is None else f"round {waiting} waits"
    return StaleAnswer(f"round {index} of run {name!r} is not waiting for an answer: {now}")
