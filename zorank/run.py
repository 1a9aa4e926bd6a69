"""A run: an optimizer, a start, a seed, and the log of its rounds.

`Run` gives the ask/tell habit to people who like it and holds the state for them. It is the only
place where a log is folded into a state; everything it does is written to its store before it
becomes visible, so a process may die at any point and the run goes on as if it had not.

An answer is folded in once. What others add to the log is folded in on top of what is known, and
what is taken back is forgotten: a line's key says whether the past is still the same.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from zorank import optimizers, rng
from zorank._questions import Questions, question, uses_looks
from zorank._records import check_same, check_text, new_name, new_record, optimizer_of, plain_json
from zorank.errors import InvalidInput, LookError, StaleAnswer, StoreError
from zorank.estimators import as_answer
from zorank.protocols import AnyOptimizer, Looks, Store
from zorank.slates import Slate
from zorank.stores import MemoryStore, open_store
from zorank.types import Answer, Order, Round, RunRecord, Vector, as_start

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

W = TypeVar("W")

__all__ = ["Run", "Step", "optimizer_of", "question"]

REMEMBERED = 8
"""How many of its last states a traced run keeps, so that taking back a few rounds is free."""


@dataclass(frozen=True, eq=False)
class Step:
    """An answered round and what came of it.

    Attributes:
        line: the round in the log.
        slate: what was asked.
        best: the best point after it.
        moved: whether that is another point than before.
        report: what the optimizer says of its state after it.
    """

    line: Round
    slate: Slate
    best: Vector
    moved: bool
    report: Mapping[str, float]


class Run:
    """A run one can ask, tell, undo and branch.

    Args:
        optimizer: an optimizer, or a name in `zorank.optimizers.REGISTRY`.
        x0: the start; its length is the dimension. Optimizers that follow estimated directions
            work in float32 if it is. Beyond four million numbers it is not copied but frozen.
        seed: with the answers, all that the run's numbers depend on.
        store: where the log is kept, a store or its URL; None keeps it in memory.
        name: the run's name in the store. A name that exists continues that run, and refuses
            another configuration.
        meta: what an application keeps with a new run, such as a title; plain JSON values.
        trace: keep every round's slate and best point in memory, so that `steps` costs nothing;
            for applications that show the past.
        record_slates: write down every slate that is shown, so that the run outlives changes of
            its optimizer. A log that has slates goes on having them.
        looks: what candidates look like, for an optimizer that learns from it; its slates are
            then always written down.

    Attributes:
        looks: as above; None lets the run go on without. Looks that fail are dropped.
        looks_problem: why looks were dropped; empty if they were not.
    """

    def __init__(
        self,
        optimizer: AnyOptimizer | str,
        x0: ArrayLike,
        seed: int = 0,
        store: Store | str | None = None,
        name: str | None = None,
        meta: Mapping[str, Any] | None = None,
        trace: bool = False,
        record_slates: bool = False,
        looks: Looks | None = None,
    ) -> None:
        self._optimizer = optimizers.make(optimizer) if isinstance(optimizer, str) else optimizer
        self._store: Store = (
            MemoryStore()
            if store is None
            else open_store(store)
            if isinstance(store, str)
            else store
        )
        wanted = replace(
            new_record(
                self._optimizer,
                as_start(x0, getattr(self._optimizer, "takes_float32", False)),
                rng.check_seed(seed),
                name,
            ),
            meta=plain_json(meta, "meta"),
        )
        self._optimizer.init(wanted.x0)  # a start that cannot work must not leave a run behind
        self._record = self._create_or_find(wanted)
        self._waiting: Round | None = None
        self._overtaken = False
        self._trace = trace
        self._record_slates = self._keep_shown = record_slates
        self.looks = _checked(looks)
        self.looks_problem = ""
        self._start_over()
        self._load()

    @classmethod
    def open(
        cls,
        store: Store,
        name: str,
        optimizer: AnyOptimizer | None = None,
        trace: bool = False,
        record_slates: bool = False,
        looks: Looks | None = None,
    ) -> Run:
        """The run of this name in a store, continued.

        An optimizer of your own, one that is not in the registry, has to be given again.
        """
        record = store.record(name)
        if optimizer is None:
            optimizer = optimizer_of(record, store.rounds(name))
        settings = (optimizer, record.x0, record.seed, store, name)
        return cls(*settings, trace=trace, record_slates=record_slates, looks=looks)

    def __repr__(self) -> str:
        return (
            f"<Run {self.name!r}: {self._record.optimizer}, {self._record.x0.size} dimensions, "
            f"{len(self._history)} rounds answered>"
        )

    @property
    def name(self) -> str:
        """The run's name in its store."""
        return self._record.name

    @property
    def record(self) -> RunRecord:
        """What the run is, beside its log."""
        return self._record

    @property
    def optimizer(self) -> AnyOptimizer:
        """The optimizer that asks."""
        return self._optimizer

    @property
    def state(self) -> Any:
        """The fold of the log so far."""
        return self._states[-1]

    @property
    def points(self) -> int:
        """How many candidates have been judged."""
        return int(self._history[-1]["points"]) if self._history else 0

    @property
    def history(self) -> list[dict[str, Any]]:
        """One row for each answered round: round, points, question, seconds, and what is noted."""
        return list(self._history)

    @property
    def steps(self) -> list[Step]:
        """Every answered round and what came of it; replayed, unless the run keeps its trace."""
        if self._trace:
            return list(self._steps)
        before = self._optimizer.init(self._record.x0)
        steps = []
        for line, slate, state in self.replay():
            steps.append(self._step(line, slate, before, state))
            before = state
        return steps

    def ask(self) -> Slate:
        """The slate that waits for an answer; the same one until it is told."""
        if self._waiting is None:
            self._show_next()
        self._overtaken = False
        return self._waiting_slate()

    def tell(
        self,
        answer: Answer | Order,
        *,
        rater: str | None = None,
        round: int | None = None,
        note: Mapping[str, Any] | None = None,
        ballots: int | None = None,
    ) -> None:
        """Answer the waiting slate.

        Args:
            answer: a Ranking, or a list such as [2, [0, 5]]: best first, an inner list is a tie.
            rater: who answers.
            round: the index of the round this answers; refused if another one waits.
            note: kept in the log and shown in the history, never told to the optimizer.
            ballots: how many of the store's ballots this answer is made of; refused if there are
                others by now.
        """
        if self._waiting is None or self._overtaken:
            raise StaleAnswer(f"no round of run {self.name!r} waits for an answer; ask first")
        check_text(rater, "a rater's name")
        if round is not None and round != self._waiting.index:
            raise StaleAnswer(
                f"this answers round {round} of run {self.name!r}, "
                f"but round {self._waiting.index} waits"
            )
        answer, slate = as_answer(answer), self._looked_at()
        answer.check(len(slate))
        state = self._foresee(slate, answer)
        answered = replace(
            self._waiting,
            answer=answer,
            rater=rater,
            answered_at=time.time(),
            note=plain_json(note, "a note"),
        )
        self._commit(lambda: self._store.answer(self.name, answered, ballots))  # durable first
        self._advance(answered, slate, state)
        self._waiting = None

    def preview(self, answer: Answer | Order) -> Slate:
        """The slate that would follow this answer to the waiting one; nothing is told."""
        self.ask()
        answer, slate = as_answer(answer), self._looked_at()
        answer.check(len(slate))
        state = self._foresee(slate, answer)
        return self._asked(len(self._log) + 1, state)

    def prospects(self) -> NDArray[np.float64]:
        """Candidates that the next question looks at whatever the answer is; none for most.

        An application looks at them in the background while the judge thinks.
        """
        find = getattr(self._optimizer, "prospects", None)
        if find is None:
            return np.empty((0, self._record.x0.size))
        generator = rng.for_round(self._record.seed, len(self._log) + 1)
        return np.asarray(find(self.state, self.ask(), generator))

    def unlooked(self) -> list[Vector]:
        """The candidates that were shown without looks, for an optimizer that uses them."""
        find = getattr(self._optimizer, "unlooked", None)
        return [] if find is None else list(find(self.state))

    def undo(self, rounds: int = 1) -> None:
        """Take back the last answered rounds; the first of them waits again, exactly as before."""
        answered = len(self._history)
        if isinstance(rounds, bool) or not isinstance(rounds, int) or not 1 <= rounds <= answered:
            raise InvalidInput(
                f"{rounds!r} rounds cannot be undone: run {self.name!r} has {answered} answered"
            )
        kept, last = answered - rounds, self._log[-1].key
        before = self._log[kept]
        self._commit(lambda: self._store.undo(self.name, kept, last))
        self._load()
        if self._waiting is None and len(self._log) == kept:
            self._show_next(before)
        self.ask()

    def refresh(self) -> None:
        """Take in what others, through the store, did to this run since."""
        mine = self._waiting or (self._log[-1] if self._log else None)
        if not _same(self._store.last(self.name), mine):
            self._load()

    def branch(self, round: int | None = None, name: str | None = None) -> Run:
        """A new run in the same store that shares this one's first `round` answered rounds."""
        answered = [line for line in self._log if line.answer is not None]
        kept = len(answered) if round is None else round
        if isinstance(kept, bool) or not isinstance(kept, int) or not 0 <= kept <= len(answered):
            raise InvalidInput(
                f"run {self.name!r} has {len(answered)} answered rounds; "
                f"a branch keeps from 0 to {len(answered)} of them, found {round!r}"
            )
        check_text(name, "a run's name")
        meta = self._store.record(self.name).meta  # it may have changed since
        named = replace(self._record, name=name or new_name(), meta=meta)
        record = replace(named, created_at=time.time())
        self._store.create(record, answered[:kept])
        settings = (record.x0, record.seed, self._store, record.name)
        return Run(
            self._optimizer,
            *settings,
            trace=self._trace,
            record_slates=self._record_slates,
            looks=self.looks,
        )

    def best(self) -> Vector:
        """The best point so far, as a new array."""
        return self._optimizer.best(self.state).copy()

    def rounds(self) -> list[Round]:
        """The log: every answered round, and the one that waits, if one does."""
        return [*self._log, *([self._waiting] if self._waiting else [])]

    def replay(self) -> Iterator[tuple[Round, Slate, Any]]:
        """Every answered round again: its line in the log, its slate, and the state after it."""
        state = self._optimizer.init(self._record.x0)
        questions = Questions(self._optimizer, self._record)
        for line in self._log:
            if line.answer is None:
                return
            slate = questions.again(line, state)
            if self._keep_shown or line.slate is not None:
                questions.shown.add(line.index, slate)
            line.answer.check(len(slate))
            state = self._optimizer.tell(state, slate, line.answer)
            yield line, slate, state

    def export(self) -> dict[str, Any]:
        """The run as plain JSON values: enough to make it again anywhere, and its best point."""
        record = self._record
        return {
            "name": record.name,
            "optimizer": record.optimizer,
            "options": dict(record.options),
            "revision": record.revision,
            "seed": record.seed,
            "version": record.version,
            "created_at": record.created_at,
            "meta": dict(self._store.record(self.name).meta),
            "x0": record.x0.tolist(),
            "rounds": [
                {**asdict(line), "answer": line.answer.to_json() if line.answer else None}
                for line in self.rounds()
            ],
            "best": self.best().tolist(),
        }

    def _start_over(self) -> None:
        self._log: list[Round] = []
        self._history: list[dict[str, Any]] = []
        self._steps: list[Step] = []
        first = self._optimizer.init(self._record.x0)
        self._states: deque[Any] = deque([first], REMEMBERED if self._trace else 1)
        self._questions = Questions(self._optimizer, self._record)
        self._slate: tuple[str, Slate] | None = None
        self._foreseen: tuple[Answer, Any] | None = None
        self._last_asked: tuple[Any, Slate] | None = None

    def _load(self) -> None:
        """Take in the store's log: keep what is the same, forget what is not, fold what is new."""
        lines = self._store.rounds(self.name)
        if [line.index for line in lines] != list(range(len(lines))):
            raise StoreError(f"the log of run {self.name!r} is damaged: rounds are missing")
        if not self._keep_shown and any(line.slate is not None for line in lines):
            self._keep_shown = True  # records may refer to any earlier round
            self._start_over()
        waits = bool(lines) and lines[-1].answer is None
        self._waiting = lines.pop() if waits else None
        self._take_back(len(lines))
        while self._log and not _same(self._log[-1], lines[len(self._log) - 1]):
            self._take_back(len(self._log) - 1)
        for line in lines[len(self._log) :]:
            self._fold(line)

    def _take_back(self, kept: int) -> None:
        """Forget all rounds but the first; to the state before them, if it is remembered."""
        back = len(self._log) - kept
        if back <= 0:
            return
        if back >= len(self._states):
            self._start_over()
            return
        for _ in range(back):
            self._states.pop()
        del self._log[kept:], self._history[kept:], self._steps[kept:]
        self._questions.shown.cut(kept)
        self._slate = self._foreseen = None

    def _fold(self, line: Round) -> None:
        if line.answer is None:
            raise StoreError(f"the log of run {self.name!r} is damaged: an answer is missing")
        slate = self._slate_of(line)
        line.answer.check(len(slate))
        self._advance(line, slate, self._foresee(slate, line.answer))

    def _create_or_find(self, wanted: RunRecord) -> RunRecord:
        try:
            self._store.create(wanted)
            return wanted
        except InvalidInput:
            found = self._store.record(wanted.name)
            check_same(found, wanted, self._store.rounds(wanted.name))
            return found

    def _commit(self, write: Callable[[], W]) -> W:
        """Write to the store; if others went on with this run meanwhile, catch up with them."""
        try:
            return write()
        except StaleAnswer:
            self._load()
            self._overtaken = True  # what waits now is not what the caller has seen
            raise

    def _show_next(self, before: Round | None = None) -> None:
        """Append the next round to the log; `before`, if it was shown before and undone."""
        index, record = len(self._log), None if before is None else before.slate
        slate = None
        if record is None and self._records():
            asked = (
                self._asked(index, self.state)
                if before is None
                else self._questions.again(before, self.state)
            )
            record, slate = self._questions.record(asked)
        after = self._log[-1].key if self._log else ""
        shown = (self.name, index, time.time(), after, record)
        self._waiting = self._commit(lambda: self._store.append(*shown))
        if slate is not None and self._waiting.slate == record:  # else others asked first
            self._slate, self._foreseen = (self._waiting.key, slate), None

    def _records(self) -> bool:
        """Whether the next slate is written down."""
        goes_on = bool(self._log) and self._log[-1].slate is not None
        by_looks = self.looks is not None and uses_looks(self._optimizer)
        return self._record_slates or goes_on or by_looks

    def _advance(self, line: Round, slate: Slate, state: Any) -> None:
        if self._trace:
            self._steps.append(self._step(line, slate, self.state, state))
        if self._keep_shown or line.slate is not None:
            self._questions.shown.add(line.index, slate)
        self._history.append(self._row(line, slate, state))
        self._log.append(line)
        self._states.append(state)
        self._slate = self._foreseen = None

    def _step(self, line: Round, slate: Slate, before: Any, after: Any) -> Step:
        best = self._optimizer.best(after)
        moved = best.tobytes() != self._optimizer.best(before).tobytes()
        return Step(line, slate, best, moved, self._optimizer.report(after))

    def _row(self, line: Round, slate: Slate, state: Any) -> dict[str, Any]:
        seconds = None if line.answered_at is None else line.answered_at - line.shown_at
        known = {
            "round": line.index,
            "points": self.points + len(slate),
            "question": slate.question,
            "rater": line.rater,
            "seconds": seconds,
            **self._optimizer.report(state),
        }
        return known | {key: value for key, value in line.note.items() if key not in known}

    def _waiting_slate(self) -> Slate:
        if self._waiting is None:
            raise StaleAnswer(f"no round of run {self.name!r} waits for an answer; ask first")
        return self._slate_of(self._waiting)

    def _looked_at(self) -> Slate:
        """The waiting slate with looks, if the optimizer uses them; the log gets them with it."""
        slate = self._waiting_slate()
        if self._waiting is None:
            return slate
        waiting, state = self._waiting, self.state
        line, seen = self._with_looks(
            lambda looks: self._questions.looked_at(waiting, slate, state, looks)
        )
        self._waiting = line
        if seen is not slate:
            self._slate, self._foreseen = (line.key, seen), None
        return seen

    def drop_looks(self, problem: str) -> None:
        """Go on without looks, and say why."""
        if self.looks is not None:
            self.looks, self.looks_problem = None, problem
            logging.getLogger("zorank").warning("run %s uses no looks: %s", self.name, problem)

    def _asked(self, index: int, state: Any) -> Slate:
        """What is asked in this state; the last one stays, as what is previewed is often told."""
        if self._last_asked is None or self._last_asked[0] is not state:
            slate = self._with_looks(lambda looks: self._questions.new(index, state, looks))
            self._last_asked = (state, slate)
        return self._last_asked[1]

    def _with_looks(self, make: Callable[[Looks | None], W]) -> W:
        """What is made with the looks, or without them if they fail."""
        try:
            return make(self.looks)
        except LookError as error:
            self.drop_looks(str(error))
            return make(None)

    def _slate_of(self, line: Round) -> Slate:
        """The slate of the next line of the log, made once."""
        if self._slate is None or self._slate[0] != line.key:
            self._slate = (line.key, self._questions.again(line, self.state))
            self._foreseen = None
        return self._slate[1]

    def _foresee(self, slate: Slate, answer: Answer) -> Any:
        """The state after this answer; the last one stays, as what is previewed is often told."""
        if self._foreseen is None or self._foreseen[0] != answer:
            self._foreseen = (answer, self._optimizer.tell(self.state, slate, answer))
        return self._foreseen[1]


def _checked(looks: Looks | None) -> Looks | None:
    """The looks, or an InvalidInput if they cannot be used as such."""
    if looks is None or isinstance(looks, Looks):
        return looks
    raise InvalidInput(
        "looks must have begin, reference and __call__, as those that "
        f"zorank.looks.for_renderer(renderer, seed) makes; found {type(looks).__name__}"
    )


def _same(a: Round | None, b: Round | None) -> bool:
    """Whether two lines are the same showing of a round with the same answer."""
    return a == b and (a is None or b is None or a.key == b.key)
