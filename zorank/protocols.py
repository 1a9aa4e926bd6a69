"""The roles in zorank, as protocols: read this page first.

    optimizer.ask → Slate → renderer → Exhibits → an oracle, or a person → Ranking → store
    → optimizer.tell → the next round

**A run is a seed, a configuration and a log of answers. State is the fold of that log.**
An optimizer is therefore a frozen dataclass of settings with pure methods: it never mutates a
state, stores no random generator and reads no clock. The same state and the generator of the same
round give the same slate, bit for bit. Resume, undo and branching need no other mechanism.

No class has to inherit from a protocol: an object with these members fits. `zorank.testing` has a
test suite for implementations of each role.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Protocol,
    TypeAlias,
    TypeGuard,
    TypeVar,
    runtime_checkable,
)

import numpy as np

from zorank.slates import Slate
from zorank.types import (
    Answer,
    Audit,
    Ballot,
    Edit,
    Exhibit,
    Json,
    Matrix,
    Round,
    RunRecord,
    Snapshot,
    Vector,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from PIL.Image import Image

S = TypeVar("S")
"""The state of an optimizer: any immutable object."""


class Optimizer(Protocol[S]):
    """Makes the next slate from a state, and the next state from an answer.

    Implementations are frozen dataclasses. Their fields are plain JSON values, because a store
    keeps them as the run's configuration. Optional features are class variables, listed in
    `Capabilities`.
    """

    name: ClassVar[str]
    """The name in the registry."""

    revision: ClassVar[int]
    """A version number. Raise it when the same seed and answers give different numbers."""

    def init(self, x0: Vector) -> S:
        """Return the state before the first round."""
        ...

    def ask(self, state: S, rng: np.random.Generator) -> Slate:
        """Return the next slate to be judged; all randomness comes from `rng`."""
        ...

    def tell(self, state: S, slate: Slate, answer: Answer) -> S:
        """Return the state after this answer to the slate that `ask` made from `state`."""
        ...

    def best(self, state: S) -> Vector:
        """Return the incumbent: the point that this state considers best."""
        ...

    def report(self, state: S) -> dict[str, float]:
        """Return numbers to show in the history, such as the radius of the search."""
        ...


AnyOptimizer: TypeAlias = Optimizer[Any]


@dataclass(frozen=True)
class Capabilities:
    """Optional features of an optimizer, which it declares as class variables of these names.

    `class MyOptimizer: takes_float32: ClassVar[bool] = True`, for example. A variable that is not
    declared has the default given here.
    """

    takes_float32: bool = False
    """It can work in float32. Other optimizers always get a float64 start."""

    learns_raters: bool = False
    """It estimates the noise of every rater, so nothing else may weight their ballots."""

    uses_looks: bool = False
    """It learns from what candidates look like: it is a `LookingOptimizer`."""

    @classmethod
    def of(cls, optimizer: AnyOptimizer) -> Capabilities:
        """Return the capabilities that an optimizer declares."""
        return cls(*(bool(getattr(optimizer, f.name, f.default)) for f in fields(cls)))


@runtime_checkable
class Looks(Protocol):
    """Descriptors of one run's candidates: candidates that look alike have near descriptors.

    Deterministic. `zorank.looks.for_renderer` makes an implementation.
    """

    begin: int
    """The index of the first round whose candidates get looks."""

    def __call__(self, candidates: Matrix) -> Matrix:
        """Return the looks z, (n, p), of candidates, (n, d); random candidates have E|z|² = 1."""
        ...

    def reference(self) -> tuple[Matrix, Matrix]:
        """Return random candidates, (r, d), and their looks, (r, p)."""
        ...


class LookingOptimizer(Optimizer[S], Protocol[S]):
    """An optimizer that also learns from what candidates look like.

    It puts the looks of the candidates it shows on its slate, where `tell` and the log find them.
    Without looks it works from the candidates' coordinates alone.
    """

    uses_looks: ClassVar[bool]
    """True: see `Capabilities`."""

    def ask(self, state: S, rng: np.random.Generator, looks: Looks | None = None) -> Slate:
        """Return the next slate to be judged; with looks, it carries those of its candidates."""
        ...

    def unlooked(self, state: S) -> Sequence[Vector]:
        """Return the candidates that were shown without looks, in the order of showing."""
        ...

    def prospects(self, state: S, slate: Slate, rng: np.random.Generator) -> Matrix:
        """Return candidates, (n, d), whose looks the next `ask` needs whatever the answer is.

        `slate` is the one that waits for an answer, `rng` the generator of the next round. An
        application computes their looks in the background while the judge decides.
        """
        ...


def uses_looks(optimizer: AnyOptimizer) -> TypeGuard[LookingOptimizer[Any]]:
    """Return whether an optimizer learns from what candidates look like."""
    return Capabilities.of(optimizer).uses_looks


class Renderer(Protocol):
    """Turns candidates into exhibits that a judge can look at or listen to. Deterministic.

    Only these two members are required. `zorank.renderers.interface.HOOKS` declares all optional
    ones, such as `media_type`, and their defaults.
    """

    @property
    def dim(self) -> int:
        """The number of coordinates of a candidate."""
        ...

    def render(self, candidates: Iterable[Vector]) -> Sequence[Exhibit]:
        """Return one exhibit for each candidate, in their order."""
        ...


class Oracle(Protocol):
    """Answers a slate automatically: a function, a noisy function, a model."""

    def answer(self, slate: Slate) -> Answer:
        """Return the answer to the slate's question."""
        ...


class Scorer(Protocol):
    """Scores pictures; higher is better. Deterministic."""

    def score(self, pictures: Sequence[Image]) -> ArrayLike:
        """Return one number for each picture (a Pillow RGB image), in their order."""
        ...


class Judge(Scorer, Protocol):
    """A scorer that declares what it needs and what it fits, so that it is offered accordingly.

    Both members are optional: `zorank.oracles.judges.JudgeKind.of` fills in these defaults.
    """

    requires: ClassVar[tuple[str, ...]] = ()
    """Packages that it imports. Without them, the studio does not offer it."""

    renderers: ClassVar[tuple[str, ...] | None] = None
    """Names of the renderers whose pictures it can judge; None stands for all of them."""


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

    def answer(self, name: str, answered: Round, ballots: int | None = None) -> None:
        """Replace the waiting line by its answered form.

        The stored `shown_at` is kept, and the stored slate unless `answered` has one: looks may
        have been added to it.

        Args:
            name: the run.
            answered: the line with its answer; index and key must be those of the waiting line.
            ballots: the number of ballots that the answer was made from.

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

    def cast(self, name: str, index: int, ballot: Ballot) -> list[Ballot]:
        """Add a rater's ballot for the waiting round `index`, and return all its ballots.

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
            edit: what to change; the keys, slates and times of lines stay as they are.
            edits: the number of edits as the caller knows it; None skips the check.

        Raises:
            StaleAnswer: if the run was edited since.
        """
        ...

    def delete(self, name: str) -> None:
        """Delete a run, its log and its ballots permanently."""
        ...

    def close(self) -> None:
        """Release connections and files. The store must not be used afterwards."""
        ...
