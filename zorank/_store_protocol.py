"""The role of a store, as a protocol. Import `Store` from `zorank.protocols`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from zorank.types import Audit, Ballot, Edit, Json, Round, RunRecord, Snapshot

Check = Callable[[Snapshot], None]
"""Called with the state of a run before a write, in its transaction; an exception cancels it."""


class Store(Protocol):
    """Keeps runs and their logs. A change is durable when the method returns.

    A log is a list of rounds. All but the last are answered; the last one may be waiting for its
    answer. Rounds are addressed by the run's name and the round's index. Every method that takes a
    name raises `InvalidInput`, with the closest names, if there is no such run. Methods may be
    called from several threads and processes: the keys of rounds show whether a writer's view of
    the log is outdated, and if so it gets `StaleAnswer`.
    """

    def create(self, record: RunRecord, rounds: Iterable[Round] = ()) -> None:
        """Add a run; a branch starts with a copied log.

        Raises:
            InvalidInput: if the name is taken.
        """
        ...

    def record(self, name: str) -> RunRecord:
        """Return the record of the run with this name."""
        ...

    def runs(self) -> list[RunRecord]:
        """Return the records of all runs, oldest first.

        The record of a run that is damaged has a `problem`; every other method that reads such a
        run raises `StoreError`. It can be deleted.
        """
        ...

    def rounds(self, name: str) -> list[Round]:
        """Return the log of a run, in order of index."""
        ...

    def last(self, name: str) -> Round | None:
        """Return the last line of a run's log, or None if the log is empty."""
        ...

    def append(
        self, name: str, index: int, shown_at: float, after: str = "", slate: Json | None = None
    ) -> Round:
        """Append round `index`, which then waits for an answer, and return its line.

        If the round waits already, its existing line is returned unchanged.

        Args:
            name: the run.
            index: the index of the new round.
            shown_at: when it was first shown, in seconds since 1970.
            after: the key of the last answered round, "" if there is none.
            slate: the slate in the JSON form of `zorank._slate_log`; None does not record it.

        Raises:
            StaleAnswer: if the log does not end with the round whose key is `after`.
        """
        ...

    def answer(
        self, name: str, answered: Round, ballots: int | None = None, check: Check | None = None
    ) -> None:
        """Replace the waiting line by its answered form.

        The stored `shown_at` is kept, and the stored slate unless `answered` has one: looks may
        have been added to it.

        Args:
            name: the run.
            answered: the line with its answer; index and key must be those of the waiting line.
            ballots: the number of ballots that the answer was made from.
            check: called first, with the run's state in this transaction.

        Raises:
            StaleAnswer: if another round waits or none does, or if the number of stored ballots
                is not `ballots`: no acknowledged ballot may be left out.
        """
        ...

    def snapshot(self, name: str) -> Snapshot:
        """Return the metadata, the end of the log and the waiting ballots of a run, read at once.

        This is the cheap check for updates, and everything that one request needs to know.
        """
        record, last = self.record(name), self.last(name)
        if last is None:
            return Snapshot(record.meta)
        waits = last.answer is None
        ballots = tuple(self.ballots(name, last.index)) if waits else ()
        return Snapshot(record.meta, last.index, last.key, waits, ballots)

    def listen(self, on_change: Callable[[str | None], None]) -> Callable[[], None]:
        """Call `on_change`, in another thread, when another process may have changed a run.

        It is called with the run's name, or with None if any run may have changed. A store that
        only one process can use never calls it, which is what this default does.

        Returns:
            A function that ends the calls.
        """
        return lambda: None

    def cast(
        self, name: str, index: int, ballot: Ballot, check: Check | None = None
    ) -> list[Ballot]:
        """Add a rater's ballot for the waiting round `index`, and return all its ballots.

        Args:
            name: the run.
            index: the round.
            ballot: the ballot.
            check: called first, with the run's state in this transaction.

        Raises:
            StaleAnswer: if round `index` is not waiting, or this rater has already voted in it.
        """
        ...

    def ballots(self, name: str, index: int) -> list[Ballot]:
        """Return the ballots for a round, in the order in which they were cast."""
        ...

    def undo(self, name: str, index: int, last: str | None = None) -> None:
        """Remove all rounds from `index` on, with their ballots, from the log.

        A store may keep removed rounds for an audit; no method here returns them.

        Args:
            name: the run.
            index: the first round to remove.
            last: the key of the last answered round as the caller knows it; None skips the check.

        Raises:
            StaleAnswer: if `last` is outdated, because another process has answered since.
        """
        ...

    def change_meta(self, name: str, changes: Json, dropped: Iterable[str] = ()) -> None:
        """Set some keys of the run's `meta` and delete others, atomically."""
        ...

    def audit(self, name: str) -> Audit:
        """Return all lines and ballots of a run, with undone ones if the store keeps them."""
        ...

    def rewrite(self, name: str, edit: Edit, edits: int | None = None) -> None:
        """Apply an edit to all lines, ballots and metadata of a run, in one transaction.

        Undone lines and ballots are edited too: this is how a person is forgotten. The number of
        edits is counted in `meta["edits"]`, so that programs notice and load the log again.

        Args:
            name: the run.
            edit: what to change; the keys and times of lines stay as they are, and all slates
                but those of `edit.slates`.
            edits: the number of edits as the caller knows it; None skips the check.

        Raises:
            StaleAnswer: if the run was edited since, or if its log does not end with `edit.end`.
        """
        ...

    def delete(self, name: str) -> None:
        """Delete a run, its log and its ballots permanently."""
        ...

    def close(self) -> None:
        """Release connections and files. The store must not be used afterwards."""
        ...
