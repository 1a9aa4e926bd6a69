"""A run: an optimizer, a start, a seed, and the log of its rounds.

`Run` is the ask-and-tell interface: it holds the optimizer's state for its caller. Everything is
written to the store before it takes effect, so a process may die at any point, and another one
continues the run exactly where it was.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from zorank import _figures, _mimebundle, preference_data, rng
from zorank._deprecation import renamed
from zorank._fold import Fold, Step
from zorank._records import (
    check_flags,
    check_index,
    check_text,
    create_or_load,
    new_record,
    optimizer_of,
    run_to_json,
    to_plain_json,
)
from zorank._run_log import RunLog
from zorank._run_slates import check_looks
from zorank._setup import set_up, space_of_run
from zorank._told import read_told
from zorank.errors import InvalidInput, LookError, StaleAnswer, short
from zorank.estimators import as_answer
from zorank.protocols import AnyOptimizer, Capabilities, Looks, Store, uses_looks
from zorank.slates import Slate
from zorank.spaces import Parameter, SearchSpace
from zorank.stores import as_store
from zorank.types import (
    Answer,
    Matrix,
    Order,
    Round,
    RunRecord,
    Snapshot,
    Vector,
    as_start,
    as_vector,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from pandas import DataFrame

T = TypeVar("T")

__all__ = ["Run", "Step", "optimizer_of"]

__getattr__ = renamed(__name__, {"question": "zorank._run_slates:ask_optimizer"})


class Run:
    """A run with ask, tell, undo and branch.

    Args:
        optimizer: an optimizer, or a name in `zorank.optimizers.REGISTRY`.
        x0: the start; its length is the dimension. Optimizers that declare `takes_float32` work in
            float32 if x0 does. An array of more than 4 million numbers is not copied but made
            read-only.
        seed: the seed of all random draws. Seed and answers determine all results.
        store: a store or its URL; None keeps the log in memory.
        name: the run's name in the store. An existing name continues that run; the configuration
            must be the same.
        meta: data of the application for a new run, such as a title; plain JSON values.
        trace: keep every round's slate and incumbent in memory, so that `steps` needs no replay;
            for applications that show the past.
        record_slates: write every slate to the log, so that the run can be continued by later
            versions of its optimizer. A log with recorded slates always records further ones.
        looks: what candidates look like, for an optimizer that uses it. Slates are then always
            recorded.
        options: settings of an optimizer that is given by its name.
        space: named parameters instead of x0, as in `minimize`; stored with the run.

    Attributes:
        space: the run's space; None if it has none.
        looks: as above; None continues without looks. Looks that fail are dropped.
        looks_problem: why looks were dropped; empty if they were not.
    """

    def __init__(
        self,
        optimizer: AnyOptimizer | str,
        x0: ArrayLike | None = None,
        seed: int = 0,
        store: Store | str | None = None,
        name: str | None = None,
        meta: Mapping[str, Any] | None = None,
        trace: bool = False,
        record_slates: bool = False,
        looks: Looks | None = None,
        options: Mapping[str, Any] | None = None,
        space: SearchSpace | Mapping[str, Parameter] | None = None,
    ) -> None:
        self._optimizer, x0, own_meta = set_up(optimizer, x0, options, space)
        check_flags(trace=trace, record_slates=record_slates)
        self._store = as_store(store)
        start = as_start(x0, Capabilities.of(self._optimizer).takes_float32)
        record = new_record(self._optimizer, start, rng.check_seed(seed), name)
        wanted = replace(record, meta={**to_plain_json(meta, "meta"), **own_meta})
        self._optimizer.init(wanted.x0)  # an invalid start must not create a run
        self._record = create_or_load(self._store, wanted)
        self.space = space_of_run(self._record, own_meta)
        self._trace = trace
        self._record_slates = record_slates
        self.looks = check_looks(looks)
        self.looks_problem = ""
        self._fold = Fold(self._optimizer, self._record, trace, keep_candidates=record_slates)
        self._log = RunLog(self._store, self._record, self._fold)

    @classmethod
    def open(
        cls,
        store: Store | str,
        name: str,
        optimizer: AnyOptimizer | None = None,
        trace: bool = False,
        record_slates: bool = False,
        looks: Looks | None = None,
    ) -> Run:
        """Continue the run with this name in a store, which may be given as its URL.

        `optimizer` is required if the run's optimizer is not in the registry.
        """
        store = as_store(store)
        record = store.record(name)
        if optimizer is None:
            optimizer = optimizer_of(record, store.rounds(name))
        return cls(
            optimizer,
            record.x0,
            record.seed,
            store,
            name,
            trace=trace,
            record_slates=record_slates,
            looks=looks,
        )

    def __repr__(self) -> str:
        return (
            f"<Run {self.name!r}: {self._record.optimizer}, {self._record.x0.size} dimensions, "
            f"{len(self._log)} rounds answered>"
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return _mimebundle.of_run(self)

    @property
    def name(self) -> str:
        """The run's name in its store."""
        return self._record.name

    @property
    def record(self) -> RunRecord:
        """The run's configuration."""
        return self._record

    @property
    def optimizer(self) -> AnyOptimizer:
        """The run's optimizer."""
        return self._optimizer

    @property
    def state(self) -> Any:
        """The optimizer's state after the last answer."""
        return self._fold.state

    @property
    def points(self) -> int:
        """The number of candidates judged so far."""
        return self._fold.points

    @property
    def history(self) -> list[dict[str, Any]]:
        """One row for each answered round: round, points, question, rater, seconds, and notes."""
        return list(self._fold.history)

    @property
    def latest(self) -> dict[str, Any]:
        """The last row of the history; raises IndexError before the first answer."""
        return dict(self._fold.history[-1])

    @property
    def steps(self) -> list[Step]:
        """Every answered round and its effect; replayed, unless the run was made with trace."""
        return self._fold.steps()

    def ask(self) -> Slate:
        """Return the slate that waits for an answer; the same one until `tell`."""
        if self._log.waiting is None:
            self._show_next()
        self._log.asked()
        return self._fold.slate_of(self._log.waiting_line())

    def tell(
        self,
        answer: Answer | Order | None = None,
        *,
        values: ArrayLike | None = None,
        rater: str | None = None,
        round: int | None = None,
        note: Mapping[str, Any] | None = None,
        ballots: int | None = None,
        check: Callable[[Snapshot], None] | None = None,
    ) -> None:
        """Answer the waiting slate.

        Args:
            answer: a Ranking, or a list such as [2, [0, 5]]: best first, an inner list is a tie.
            values: instead of an answer, one number for each candidate; lower is better, equal
                numbers tie, NaN and infinity are last. They are logged as an order.
            rater: who answers.
            round: the index of the answered round; None means the waiting one.
            note: data for the log and the history; the optimizer never sees it.
            ballots: the number of stored ballots that this answer was made from.
            check: called before the answer is written, with the run's state in the store, which
                no other process can change until then; an exception cancels the answer.

        Raises:
            StaleAnswer: if another round waits, or if there are more ballots by now.
        """
        waiting = self._log.waiting_line()
        check_text(rater, "a rater's name")
        check_index(round, "round")
        check_index(ballots, "ballots")
        if round is not None and round != waiting.index:
            raise StaleAnswer(
                f"this answers round {short(round)} of run {self.name!r}, "
                f"but round {waiting.index} waits"
            )
        answer = read_told(answer, values, self._fold.slate_of(waiting))
        slate = self._slate_with_looks()
        state = self._fold.state_after(slate, answer)
        note = to_plain_json(note, "a note")
        waiting = self._log.waiting_line()  # with the looks that were added
        answered = waiting.answered(answer, rater, time.time(), note)
        self._log.answer(answered, slate, state, ballots, check)

    def preview(self, answer: Answer | Order) -> Slate:
        """Return the slate that would follow this answer, without telling the answer."""
        self.ask()
        answer, slate = as_answer(answer), self._slate_with_looks()
        answer.check(len(slate))
        return self._ask(len(self._log) + 1, self._fold.state_after(slate, answer))

    def prospects(self) -> Matrix:
        """Return candidates, (n, d), whose looks the next slate needs whatever the answer is.

        An application computes their looks in the background while the judge decides. There are
        none for an optimizer that does not use looks.
        """
        if not uses_looks(self._optimizer):
            return np.empty((0, self._record.x0.size))
        generator = rng.for_round(self._record.seed, len(self._log) + 1)
        return np.asarray(self._optimizer.prospects(self.state, self.ask(), generator))

    def unlooked(self) -> list[Vector]:
        """Return the candidates that were shown without looks, if the optimizer uses looks."""
        return list(self._optimizer.unlooked(self.state)) if uses_looks(self._optimizer) else []

    def drop_looks(self, problem: str) -> None:
        """Continue without looks, and log the problem."""
        if self.looks is not None:
            self.looks, self.looks_problem = None, problem
            logging.getLogger("zorank").warning("run %s uses no looks: %s", self.name, problem)

    def undo(self, rounds: int = 1) -> None:
        """Undo the last answered rounds; the first of them then waits again, exactly as before."""
        undone = self._log.undo(rounds)
        if self._log.waiting is None and len(self._log) == undone.index:
            self._show_next(undone)
        self.ask()

    def is_current(self, seen: Snapshot) -> bool:
        """Return whether the log is as in this snapshot, as far as this process knows it."""
        return self._log.is_current(seen)

    def refresh(self, seen: Snapshot | None = None) -> bool:
        """Load changes that other processes made to this run; return whether there were any.

        Args:
            seen: a snapshot of the run, if the caller has read one already.
        """
        return self._log.refresh(seen)

    def branch(self, round: int | None = None, name: str | None = None) -> Run:
        """Create a run in the same store that starts with the first `round` answered rounds."""
        return Run.open(
            self._store,
            self._log.branch(round, name),
            self._optimizer,
            trace=self._trace,
            record_slates=self._record_slates,
            looks=self.looks,
        )

    def best(self) -> Vector:
        """Return the incumbent, as a new array."""
        return self._optimizer.best(self.state).copy()

    def params(self, x: ArrayLike | None = None) -> dict[str, Any]:
        """Return the named parameters of a candidate, or of the incumbent, in the run's space."""
        if self.space is None:
            raise InvalidInput(f"run {self.name!r} has no space; create it with Run(space=...)")
        return self.space.decode(self.best() if x is None else as_vector(x, "a candidate"))

    def rounds(self) -> list[Round]:
        """Return the log: all answered rounds, and the waiting round if there is one."""
        return self._log.lines()

    def replay(self) -> Iterator[tuple[Round, Slate, Any]]:
        """Replay the log: yield every answered line, its slate and the state after it."""
        return self._fold.replay()

    def export(self) -> dict[str, Any]:
        """Return the run as plain JSON values: configuration, log and incumbent."""
        return run_to_json(self._record, self._log.meta(), self.rounds(), self.best())

    def judgements(self) -> Iterator[preference_data.Judgement]:
        """Yield every rater's answer to every answered round, with the slate."""
        return preference_data.judgements(self.replay(), self._store.audit(self.name))

    def pairs(self, ties: bool = False) -> list[preference_data.Pair]:
        """Return every preference between two candidates of a round; with ties, if wanted."""
        return preference_data.pairs(self.judgements(), ties)

    def plot(self) -> Any:
        """Return a Matplotlib figure of the history: values if there are any, else reports."""
        return _figures.history_figure(self.history, self.name, self._record.meta.get("maximize"))

    def to_frame(self) -> DataFrame:
        """Return a pandas DataFrame with a row for each round, rater and candidate."""
        return preference_data.to_frame(self.judgements())

    def _show_next(self, undone: Round | None = None) -> None:
        """Append the next round to the log; `undone` is its earlier line, if it has one."""
        record = None if undone is None else undone.slate
        slate = None
        if record is None and self._records_next():
            asked = (
                self._ask(len(self._log), self.state)
                if undone is None
                else self._fold.slates.from_log(undone, self.state)
            )
            record, slate = self._fold.slates.to_log(asked)
        shown = self._log.show(record)
        if slate is not None and shown.slate == record:  # no other process was first
            self._fold.set_slate(shown, slate)

    def _records_next(self) -> bool:
        """Return whether the next slate is written to the log."""
        last = self._log.last
        last_recorded = last is not None and last.slate is not None
        has_looks = self.looks is not None and uses_looks(self._optimizer)
        return self._record_slates or last_recorded or has_looks

    def _slate_with_looks(self) -> Slate:
        """Return the waiting slate, with looks added if the optimizer uses them."""
        waiting, state = self._log.waiting_line(), self.state
        slate = self._fold.slate_of(waiting)
        line, looked = self._try_looks(
            lambda looks: self._fold.slates.add_looks(waiting, slate, state, looks)
        )
        self._log.waiting = line
        if looked is not slate:
            self._fold.set_slate(line, looked)
        return looked

    def _ask(self, index: int, state: Any) -> Slate:
        return self._try_looks(lambda looks: self._fold.ask(index, state, looks))

    def _try_looks(self, make: Callable[[Looks | None], T]) -> T:
        """Call `make` with the run's looks; if they fail, drop them and call it with None."""
        try:
            return make(self.looks)
        except LookError as error:
            self.drop_looks(str(error))
            return make(None)
