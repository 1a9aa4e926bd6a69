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

from collections.abc import Iterable, Sequence
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

from zorank._store_protocol import Store
from zorank.slates import Slate
from zorank.types import Answer, Exhibit, Matrix, Vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from PIL.Image import Image

__all__ = [
    "AnyOptimizer",
    "Capabilities",
    "Judge",
    "LookingOptimizer",
    "Looks",
    "Optimizer",
    "Oracle",
    "Renderer",
    "Scorer",
    "Store",
    "uses_looks",
]

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

    takes_levels: bool = False
    """It has the settings `levels` and `choices`, which say what coordinates are whole numbers
    and which ones together are a categorical parameter (`zorank.spaces.SearchSpace`). Other
    optimizers search the unit cube, whose points are rounded."""

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
    return bool(getattr(optimizer, "uses_looks", Capabilities.uses_looks))


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
