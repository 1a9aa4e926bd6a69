"""The page to read first: the roles in zorank, and how data flows between them.

    optimizer.ask → Slate → renderer → Exhibits → an oracle, or a person → Ranking → store
    → optimizer.tell → the next round

**A run is a seed, a configuration and a log of answers. State is the fold of that log.** So an
optimizer is a frozen dataclass of settings with pure methods: it never mutates a state, holds no
generator and reads no clock. Give it the same state and the generator of the same round, and it
asks the same question, bit for bit. Resume, undo and branching need nothing more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, runtime_checkable

import numpy as np

from zorank.slates import Slate
from zorank.types import Answer, Ballot, Exhibit, Round, RunRecord, Vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from PIL.Image import Image

S = TypeVar("S")


class Optimizer(Protocol[S]):
    """Makes the next slate from a state, and the next state from an answer.

    Implementations are frozen dataclasses whose fields are plain JSON values: the fields are the
    configuration that a store keeps. One that models every rater's own noise may say so by
    `learns_raters = True`: then nobody else weighs their ballots. One that can work in float32
    says `takes_float32 = True`; others are given float64.
    """

    name: ClassVar[str]
    """Its name in the registry."""

    revision: ClassVar[int]
    """Raise it when the same seed and answers no longer give the same numbers."""

    def init(self, x0: Vector) -> S:
        """The state before the first round."""
        ...

    def ask(self, state: S, rng: np.random.Generator) -> Slate:
        """The question this state asks next."""
        ...

    def tell(self, state: S, slate: Slate, answer: Answer) -> S:
        """The state after this answer to the slate that `ask` made of this state."""
        ...

    def best(self, state: S) -> Vector:
        """The point this state holds to be best."""
        ...

    def report(self, state: S) -> dict[str, float]:
        """What a history shows of this state beside the best point, such as its radius."""
        ...


@runtime_checkable
class Looks(Protocol):
    """What the candidates of one run look like: near means alike. Deterministic."""

    begin: int
    """The index of the first round whose candidates are looked at when it is answered."""

    def __call__(self, candidates: NDArray[np.float64]) -> NDArray[np.float64]:
        """An (n, p) array for (n, d) candidates; among random candidates E|z|² is 1."""
        ...

    def reference(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Random candidates that were looked at already, (r, d), and their looks, (r, p)."""
        ...


class LookingOptimizer(Optimizer[S], Protocol[S]):
    """An optimizer that also learns from what candidates look like.

    It puts the looks of the candidates it shows on its slate, where `tell` and the log find them.
    Without looks it works from the candidates' numbers alone.
    """

    uses_looks: ClassVar[bool]
    """True: `ask` takes looks."""

    def ask(self, state: S, rng: np.random.Generator, looks: Looks | None = None) -> Slate:
        """The question this state asks next."""
        ...

    def unlooked(self, state: S) -> Sequence[Vector]:
        """The candidates that were shown without looks, in the order of their showing."""
        ...

    def prospects(self, state: S, slate: Slate, rng: np.random.Generator) -> NDArray[np.float64]:
        """Candidates, (n, d), that the next `ask` will look at whatever the answer to `slate` is.

        `rng` is the generator of the next round. An application looks at them in the background
        while the judge thinks.
        """
        ...


class Renderer(Protocol):
    """Turns candidates into what a judge can look at or listen to. Deterministic.

    These two members are all it needs. What else it may have, such as `media_type`, and which
    default stands for what it lacks, is declared in `zorank.renderers.interface.HOOKS`.
    """

    @property
    def dim(self) -> int:
        """The number of coordinates of a candidate."""
        ...

    def render(self, candidates: Iterable[Vector]) -> Sequence[Exhibit]:
        """One exhibit for each candidate, in their order."""
        ...


class Oracle(Protocol):
    """Anything that answers a slate by itself: a function, a noisy function, a model."""

    def answer(self, slate: Slate) -> Answer:
        """The answer to the slate's question."""
        ...


class Scorer(Protocol):
    """Looks at pictures and says how good each of them is, higher is better. Deterministic."""

    def score(self, pictures: Sequence[Image]) -> ArrayLike:
        """One number for each picture (an RGB picture of Pillow), in their order."""
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
    """Where runs and their logs are kept. A method that returns has made its change durable.

    Rounds are addressed by the run's name and the round's index. An undone round leaves the log
    but not the store's memory: an audit can still see it.
    """

    def create(self, record: RunRecord, rounds: Iterable[Round] = ()) -> None:
        """Keep a new run, with a log if it branches off another; refuse a name that exists."""
        ...

    def record(self, name: str) -> RunRecord:
        """The run of this name; an error that lists the closest names if there is none."""
        ...

    def runs(self) -> list[RunRecord]:
        """All runs, oldest first."""
        ...

    def rounds(self, name: str) -> list[Round]:
        """The log of a run in order: answered rounds, and at most one that waits, last."""
        ...

    def last(self, name: str) -> Round | None:
        """The newest line of a run's log, if it has one.

        Keys are given once and answered lines do not change, so a log whose newest line is still
        the same is the same: this is the cheap way to ask whether anything happened.
        """
        ...

    def append(
        self,
        name: str,
        index: int,
        shown_at: float,
        after: str = "",
        slate: Mapping[str, Any] | None = None,
    ) -> Round:
        """The waiting round `index`; new if it was never shown, else as it was first shown.

        `after` is the key of the last answered round; if the log has another one there, the
        question was made from another past and is refused. `slate` is what is shown, in the form
        of `zorank._slate_log`; of a round that waits already, the slate of its line counts.
        """
        ...

    def answer(self, name: str, answered: Round, ballots: int | None = None) -> None:
        """Answer the waiting round; refuse if it is not the one, by index and key, that waits.

        If the answered line has a slate, it replaces the stored one: looks may have joined it.

        The line keeps when and what was shown.
        `ballots` is how many the answer was made of; if another was cast meanwhile, the answer is
        refused, so that no ballot that was acknowledged is left out.
        """
        ...

    def cast(self, name: str, index: int, ballot: Ballot) -> None:
        """Keep one rater's ballot for the waiting round; refuse a second one of the same rater."""
        ...

    def ballots(self, name: str, index: int) -> list[Ballot]:
        """The ballots cast for a round, in their order of arrival."""
        ...

    def undo(self, name: str, index: int, last: str | None = None) -> None:
        """Take back every round from `index` on, waiting ones and ballots included.

        `last` is the key of the last answered round as the caller knows it; if others have
        answered since, nothing is taken back.
        """
        ...

    def change_meta(
        self, name: str, changes: Mapping[str, Any], dropped: Iterable[str] = ()
    ) -> None:
        """Change and drop some of what an application keeps with a run, in one go."""
        ...

    def delete(self, name: str) -> None:
        """Forget a run and its log for good."""
        ...


AnyOptimizer = Optimizer[Any]
