"""A session: a run that is loaded in memory, with its renderer, its judge and a lock.

State lives in the store. A session caches it; each request compares it with one snapshot of the
store, so a page reload, a second tab, a restart or a crash loses nothing. Its run keeps a trace:
an answer costs one `tell`, and reading earlier rounds costs none.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace

from zorank.errors import InvalidInput, StaleAnswer
from zorank.protocols import AnyOptimizer, Capabilities
from zorank.renderers.interface import ResolvedRenderer
from zorank.run import Run, Step
from zorank.slates import Slate
from zorank.studio.agreement import Agreement, agreements
from zorank.studio.judging import JudgeSpec
from zorank.studio.models.rounds import ShownRound
from zorank.studio.presentation import shown_order, to_candidates, without
from zorank.studio.render_pool import fingerprint
from zorank.types import (
    Ballot,
    Group,
    Json,
    Poll,
    Ranking,
    Round,
    RunRecord,
    Snapshot,
    Vector,
)


class NotFound(InvalidInput):
    """A round, a renderer or an exhibit that does not exist."""


class NoAccess(InvalidInput):
    """A link that has ended."""


class Outdated(StaleAnswer):
    """The run was changed in the store since this process has read it."""

    def __init__(self) -> None:
        super().__init__("the run was changed at this moment; load the round again")


@dataclass
class Session:
    """A loaded run.

    Attributes:
        lock: held by whoever reads or changes the session.
        ballots: the ballots cast for the waiting round, as of the last snapshot.
        unfinished: whether the work after a stored answer failed and must be done again.
        prepared: the key of the waiting round whose exhibits were requested already.
        likely: the probable next slate, if it hardly depends on the answer.
        ahead: candidates that are served before their round, by fingerprint.
        announced: the metadata that open pages were last told of, after a change elsewhere.
        record: the run's record without its log, with the metadata of the last snapshot.
        described: the waiting round as everybody sees it, and what that was made from.
        seen_at: when the last snapshot was read, by `time.perf_counter`.
        left_at: when the session was last used.
        options: the options that the renderer was made with.
    """

    run: Run
    renderer: ResolvedRenderer
    judge: JudgeSpec | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)
    ballots: list[Ballot] = field(default_factory=list)
    unfinished: bool = False
    prepared: str | None = None
    likely: Slate | None = None
    ahead: dict[str, Vector] = field(default_factory=dict)
    announced: Json | None = None
    described: tuple[object, ShownRound] | None = None
    record: RunRecord = field(init=False)
    seen_at: float = 0.0
    left_at: float = field(default_factory=time.perf_counter)
    options: Json = field(init=False)

    def __post_init__(self) -> None:
        self.record = self.run.record
        self.options = self.record.meta["renderer_options"]
        self._taken: Snapshot | None = None
        self._fingerprints: tuple[str, tuple[str, ...]] = ("", ())  # and the key of their round

    @property
    def meta(self) -> Json:
        """The studio's data about the run, as of the last snapshot."""
        return self.record.meta

    @property
    def raters_needed(self) -> int:
        """How many answers close a round."""
        return int(self.meta.get("raters", 1))

    @property
    def steps(self) -> list[Step]:
        """The answered rounds and their outcomes."""
        return self.run.steps

    @property
    def waiting(self) -> Round:
        """The round that waits for an answer."""
        return self.run.rounds()[-1]

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """The fingerprint of each candidate of the waiting round, computed once a round."""
        key = self.waiting.key
        if self._fingerprints[0] != key:
            self._fingerprints = (key, tuple(map(fingerprint, self.run.ask())))
        return self._fingerprints[1]

    @property
    def missing_answers(self) -> int:
        """How many more answers close the waiting round."""
        return max(self.raters_needed - len(self.ballots), 0)

    @property
    def closes_at(self) -> float | None:
        """When the waiting round closes if it has a ballot; None if only answers close it."""
        seconds = self.meta.get("deadline")
        if seconds is None or self.raters_needed == 1 or self.missing_answers == 0:
            return None
        return self.waiting.shown_at + float(seconds)

    @property
    def due(self) -> float | None:
        """When the waiting round closes with the ballots it has; None without any."""
        return self.closes_at if self.ballots else None

    def is_overdue(self, now: float) -> bool:
        """Whether the waiting round closes now with the ballots it has."""
        due = self.due
        return due is not None and due <= now

    @property
    def shown(self) -> Group:
        """The candidate at each screen position of the waiting round."""
        return shown_order(self.record, self.waiting.index, len(self.run.ask()))

    @property
    def start(self) -> Vector | None:
        """The point that was picked to start from, or given; None before the first answer."""
        if "start" not in self.meta or not self.steps:
            return next((step.best for step in self.steps if step.moved), None)
        optimizer = self.run.optimizer
        found: Vector = optimizer.best(optimizer.init(self.record.x0))
        return found

    @property
    def learns_raters(self) -> bool:
        """Whether the optimizer models each rater's noise, so that ballots need no weights."""
        return learns_raters(self.run.optimizer)

    def take(self, snapshot: Snapshot, read_at: float) -> bool:
        """Take over a snapshot of the store; return whether the log was changed elsewhere."""
        if snapshot.meta != self.record.meta:
            self.record = replace(self.record, meta=snapshot.meta)
        changed = self.run.refresh(snapshot)
        if changed:
            # They followed from answers that may be gone.
            self.likely, self.prepared, self.described = None, None, None
        self.ballots = list(snapshot.ballots)
        self._taken, self.seen_at = snapshot, read_at
        return changed

    def adopt(self, found: Snapshot) -> None:
        """Take over the ballots that a write has found; raise Outdated if all else differs."""
        if found.meta != self.meta or not self.run.is_current(found):
            raise Outdated
        self.ballots = list(found.ballots)

    def is_older(self, read_at: float) -> bool:
        """Whether a snapshot read at this time contains all that this process has stored."""
        if self.left_at <= read_at:
            return True
        taken, log = self._taken, self.run.rounds()
        if taken is None or self.seen_at > read_at:
            return False
        return taken.ends_with(log[-1] if log else None) and taken.ballots == (*self.ballots,)

    def check_waits(self, index: int, key: str | None = None) -> None:
        """Raise `StaleAnswer` unless round `index` waits and was shown under this key."""
        if self.waiting.index != index:
            raise StaleAnswer(
                f"round {index} is not waiting for an answer; round {self.waiting.index} is"
            )
        if key is not None and key != self.waiting.key:
            raise StaleAnswer(
                f"round {index} shows other pictures now; load it again and rank those"
            )

    def slate(self, index: int) -> tuple[Slate, Group]:
        """Return the slate of a round, waiting or answered, and its order on screen."""
        steps = self.steps
        if index > len(steps):
            raise NotFound(f"run {self.run.name!r} has no round {index}")
        slate = steps[index].slate if index < len(steps) else self.run.ask()
        return slate, shown_order(self.record, index, len(slate))

    def ranking(self, on_screen: Ranking) -> Ranking:
        """Map screen positions to candidates; an order of all but one also ranks that one last."""
        ranking = to_candidates(on_screen, self.shown)
        slate = self.run.ask()
        if slate.question == "rank":
            ranking = ranking.completed(len(self.shown))
        return without(
            ranking, [i for i, x in enumerate(slate) if self.renderer.absent(x)], len(slate)
        )

    def rater_agreements(self) -> dict[str, Agreement]:
        """Return every rater's agreement with the other raters of this run."""
        polls = ((step.line.answer, len(step.slate)) for step in self.steps)
        return agreements((a, n) for a, n in polls if isinstance(a, Poll))

    def rater_weight(self, known: Agreement | None) -> float:
        """Return the weight of a rater's ballots; 1 if the optimizer learns it itself."""
        return 1.0 if known is None or self.learns_raters else known.weight


def learns_raters(optimizer: AnyOptimizer) -> bool:
    """Whether an optimizer models each rater's noise, so that ballots need no weights."""
    return Capabilities.of(optimizer).learns_raters
