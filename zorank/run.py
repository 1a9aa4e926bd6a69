"""A run: an optimizer, a start, a seed, and the log of its rounds.

`Run` gives the ask/tell habit to people who like it and holds the state for them. It is the only
place where a log is folded into a state; everything it does is written to its store before it
becomes visible, so a process may die at any point and the run goes on as if it had not.

An answer is folded in once. What others add to the log is folded in on top of what is known, and
what is taken back is forgotten: a line's key says whether the past is still the same.
"""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank import optimizers, rng
from zorank._version import __version__
from zorank.errors import InvalidInput, ReplayError, StaleAnswer, StoreError
from zorank.estimators import as_answer
from zorank.protocols import AnyOptimizer, Store
from zorank.slates import Slate
from zorank.stores import MemoryStore, open_store
from zorank.types import Answer, Order, Round, RunRecord, Vector, as_start

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


TOLD = 8
"""How many numbers of a start an error repeats."""

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
            _new_record(
                self._optimizer,
                as_start(x0, getattr(self._optimizer, "takes_float32", False)),
                rng.check_seed(seed),
                name,
            ),
            meta=_plain_json(meta, "meta"),
        )
        self._optimizer.init(wanted.x0)  # a start that cannot work must not leave a run behind
        self._record = self._create_or_find(wanted)
        self._waiting: Round | None = None
        self._overtaken = False
        self._trace = trace
        self._start_over()
        self._load()

    @classmethod
    def open(
        cls,
        store: Store,
        name: str,
        optimizer: AnyOptimizer | None = None,
        trace: bool = False,
    ) -> Run:
        """The run of this name in a store, continued.

        An optimizer of your own, one that is not in the registry, has to be given again.
        """
        record = store.record(name)
        optimizer = optimizer_of(record) if optimizer is None else optimizer
        return cls(optimizer, record.x0, record.seed, store, name, trace=trace)

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
            index = len(self._history)
            after = self._log[-1].key if self._log else ""
            shown = (self.name, index, time.time(), after)
            self._commit(lambda: self._show(self._store.append(*shown)))
        self._overtaken = False
        return self._make_slate()

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
        _check_text(rater, "a rater's name")
        if round is not None and round != self._waiting.index:
            raise StaleAnswer(
                f"this answers round {round} of run {self.name!r}, "
                f"but round {self._waiting.index} waits"
            )
        answer, slate = as_answer(answer), self._make_slate()
        answer.check(len(slate))
        state = self._foresee(slate, answer)
        answered = replace(
            self._waiting,
            answer=answer,
            rater=rater,
            answered_at=time.time(),
            note=_plain_json(note, "a note"),
        )
        self._commit(lambda: self._store.answer(self.name, answered, ballots))  # durable first
        self._advance(answered, slate, state)
        self._waiting = None

    def preview(self, answer: Answer | Order) -> Slate:
        """The slate that would follow this answer to the waiting one; nothing is told."""
        answer, slate = as_answer(answer), self.ask()
        answer.check(len(slate))
        state = self._foresee(slate, answer)
        return self._optimizer.ask(state, rng.for_round(self._record.seed, len(self._log) + 1))

    def undo(self, rounds: int = 1) -> None:
        """Take back the last answered rounds; the first of them waits again, exactly as before."""
        answered = len(self._history)
        if isinstance(rounds, bool) or not isinstance(rounds, int) or not 1 <= rounds <= answered:
            raise InvalidInput(
                f"{rounds!r} rounds cannot be undone: run {self.name!r} has {answered} answered"
            )
        last = self._log[-1].key
        self._commit(lambda: self._store.undo(self.name, answered - rounds, last))
        self._load()
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
        _check_text(name, "a run's name")
        record = replace(self._record, name=name or _new_name(), created_at=time.time())
        self._store.create(record, answered[:kept])
        settings = (record.x0, record.seed, self._store, record.name)
        return Run(self._optimizer, *settings, trace=self._trace)

    def best(self) -> Vector:
        """The best point so far, as a new array."""
        return self._optimizer.best(self.state).copy()

    def rounds(self) -> list[Round]:
        """The log: every answered round, and the one that waits, if one does."""
        return [*self._log, *([self._waiting] if self._waiting else [])]

    def replay(self) -> Iterator[tuple[Round, Slate, Any]]:
        """Every answered round again: its line in the log, its slate, and the state after it."""
        state = self._optimizer.init(self._record.x0)
        for line in self._log:
            if line.answer is None:
                return
            slate = self._optimizer.ask(state, rng.for_round(self._record.seed, line.index))
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
        self._slate: Slate | None = None
        self._foreseen: tuple[Answer, Any] | None = None

    def _load(self) -> None:
        """Take in the store's log: keep what is the same, forget what is not, fold what is new."""
        lines = self._store.rounds(self.name)
        if [line.index for line in lines] != list(range(len(lines))):
            raise StoreError(f"the log of run {self.name!r} is damaged: rounds are missing")
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
        self._slate = self._foreseen = None

    def _fold(self, line: Round) -> None:
        if line.answer is None:
            raise StoreError(f"the log of run {self.name!r} is damaged: an answer is missing")
        slate = self._make_slate()
        line.answer.check(len(slate))
        self._advance(line, slate, self._foresee(slate, line.answer))

    def _create_or_find(self, wanted: RunRecord) -> RunRecord:
        try:
            self._store.create(wanted)
            return wanted
        except InvalidInput:
            found = self._store.record(wanted.name)
            _check_same(found, wanted)
            return found

    def _commit(self, write: Callable[[], None]) -> None:
        """Write to the store; if others went on with this run meanwhile, catch up with them."""
        try:
            write()
        except StaleAnswer:
            self._load()
            self._overtaken = True  # what waits now is not what the caller has seen
            raise

    def _show(self, waiting: Round) -> None:
        self._waiting = waiting

    def _advance(self, line: Round, slate: Slate, state: Any) -> None:
        if self._trace:
            self._steps.append(self._step(line, slate, self.state, state))
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

    def _make_slate(self) -> Slate:
        if self._slate is None:
            generator = rng.for_round(self._record.seed, len(self._log))
            self._slate = self._optimizer.ask(self.state, generator)
        return self._slate

    def _foresee(self, slate: Slate, answer: Answer) -> Any:
        """The state after this answer; the last one stays, as what is previewed is often told."""
        if self._foreseen is None or self._foreseen[0] != answer:
            self._foreseen = (answer, self._optimizer.tell(self.state, slate, answer))
        return self._foreseen[1]


def _same(a: Round | None, b: Round | None) -> bool:
    """Whether two lines are the same showing of a round with the same answer."""
    return a == b and (a is None or b is None or a.key == b.key)


def optimizer_of(record: RunRecord) -> AnyOptimizer:
    """The optimizer that a run was made with; refused if it would give other numbers by now."""
    if record.optimizer not in optimizers.REGISTRY:
        raise ReplayError(
            f"run {record.name!r} uses the optimizer {record.optimizer!r}, which is not in "
            "zorank's registry; give it to Run.open(store, name, optimizer)"
        )
    optimizer = optimizers.make(record.optimizer, record.options)
    _check_revision(record, optimizer.revision)
    return optimizer


def _new_record(optimizer: AnyOptimizer, x0: Vector, seed: int, name: str | None) -> RunRecord:
    _check_text(name, "a run's name")
    settings = _plain_json(optimizers.configuration(optimizer), "an optimizer's configuration")
    if not isinstance(getattr(optimizer, "name", None), str) or not hasattr(optimizer, "revision"):
        raise InvalidInput(
            "an optimizer needs the class variables `name` and `revision`, "
            f"found {optimizer!r:.60}"
        )
    return RunRecord(
        name=name or _new_name(),
        optimizer=optimizer.name,
        options=settings,
        revision=optimizer.revision,
        x0=x0,
        seed=seed,
        version=__version__,
        created_at=time.time(),
    )


def _check_text(text: object, what: str) -> None:
    """Raise unless a name, if there is one, is a text that every store can keep."""
    if text is None:
        return
    storable = isinstance(text, str) and "\0" not in text
    if not storable or not str(text).strip() or str(text).encode(errors="ignore").decode() != text:
        raise InvalidInput(f"{what} is a text that is not blank, found {text!r:.60}")


def _new_name() -> str:
    return f"run-{os.urandom(4).hex()}"


def _check_same(stored: RunRecord, wanted: RunRecord) -> None:
    """Raise unless the wanted run is the stored one, so that its log can be continued."""
    if stored.optimizer == wanted.optimizer:
        _check_revision(stored, wanted.revision)
    differences = [
        f"{what} is {_brief(old)} there and {_brief(new)} here"
        for what, old, new in _settings(stored, wanted)
        if old != new
    ]
    if differences:
        raise ReplayError(
            f"there is already a run named {stored.name!r} with another configuration: "
            f"{'; '.join(differences)}. Use its configuration to continue it, or another name"
        )


def _check_revision(stored: RunRecord, revision: int) -> None:
    if stored.revision != revision:
        raise ReplayError(
            f"run {stored.name!r} was recorded by zorank {stored.version}, whose "
            f"{stored.optimizer} gives other numbers than this zorank {__version__}; "
            f"to continue it: pip install zorank=={stored.version}"
        )


def _settings(stored: RunRecord, wanted: RunRecord) -> Iterator[tuple[str, Any, Any]]:
    yield "optimizer", stored.optimizer, wanted.optimizer
    yield "seed", stored.seed, wanted.seed
    if not np.array_equal(stored.x0, wanted.x0):  # as lists, but not of all of a billion numbers
        yield "x0", *(x0[:TOLD].tolist() for x0 in (stored.x0, wanted.x0))
    if stored.optimizer == wanted.optimizer:
        before = _completed(stored, wanted)
        for key in sorted({*before, *wanted.options}):
            yield key, before.get(key), wanted.options.get(key)


def _completed(stored: RunRecord, wanted: RunRecord) -> Mapping[str, Any]:
    """The stored options, with the defaults of settings that are younger than the run."""
    if stored.optimizer not in optimizers.REGISTRY or not {*wanted.options} - {*stored.options}:
        return stored.options
    complete = optimizers.configuration(optimizers.make(stored.optimizer, stored.options))
    return _plain_json(complete, "an optimizer's configuration")


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "…"


def _plain_json(data: Mapping[str, Any] | None, what: str) -> dict[str, Any]:
    try:
        return dict(json.loads(json.dumps(dict(data or {}), allow_nan=False)))
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{what} holds plain JSON values, found {data!r:.60}") from error
