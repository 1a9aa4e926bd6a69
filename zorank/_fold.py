"""The fold of a run's log into the optimizer's state, with caches.

Each answered line is folded once. When the log changes, lines that are still the same keep their
states, lines that were undone are dropped, and new lines are folded on top. The key of a line
tells whether it is still the same. Previews are cached too, because the previewed answer is often
the one that is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zorank._run_slates import RunSlates
from zorank.errors import InvalidInput, StoreError
from zorank.protocols import AnyOptimizer, Looks
from zorank.slates import Slate
from zorank.types import Answer, Round, RunRecord, Vector

RECENT_STATES = 8
"""The number of recent states that a traced run keeps: undoing fewer rounds needs no replay."""

EARLIER_STATES = 16
"""The number of earlier states that it keeps, evenly spaced: undoing many rounds replays few."""


@dataclass(frozen=True, eq=False)
class Step:
    """An answered round and its effect.

    Attributes:
        line: the round in the log.
        slate: the slate that was shown.
        best: the incumbent after the round.
        moved: whether the round changed the incumbent.
        report: the optimizer's report after the round.
    """

    line: Round
    slate: Slate
    best: Vector
    moved: bool
    report: Mapping[str, float]


class Fold:
    """The states, the history and the slates that follow from the answered lines of a log.

    Args:
        optimizer: the run's optimizer.
        record: the run's configuration.
        trace: keep a `Step` for every line, and the last states.
        keep_candidates: keep the candidates of all rounds, which recorded slates may refer to.

    Attributes:
        log: the answered lines.
        history: one row for each line.
        slates: makes and reads slates.
    """

    def __init__(
        self, optimizer: AnyOptimizer, record: RunRecord, trace: bool, keep_candidates: bool
    ) -> None:
        self._optimizer = optimizer
        self._record = record
        self._trace = trace
        self._keep_candidates = keep_candidates
        self._reset()

    def _reset(self) -> None:
        self.log: list[Round] = []
        self.history: list[dict[str, Any]] = []
        self.slates = RunSlates(self._optimizer, self._record)
        self._steps: list[Step] = []
        self._states: dict[int, Any] = {0: self._optimizer.init(self._record.x0)}
        self._current_slate: tuple[str, Slate] | None = None  # by the key of its line
        self._next_state: tuple[Answer, Any] | None = None  # by the answer to the current slate
        self._next_slate: tuple[Any, Slate] | None = None  # by the state that it was asked in

    @property
    def state(self) -> Any:
        """The state after the last line."""
        return self._states[len(self.log)]

    @property
    def points(self) -> int:
        """The number of candidates judged."""
        return int(self.history[-1]["points"]) if self.history else 0

    def update(self, lines: Sequence[Round]) -> None:
        """Make these answered lines the log, reusing the states of lines that did not change."""
        pairs = enumerate(zip(self.log, lines, strict=False))
        same = min(len(self.log), len(lines))
        self._truncate(next((i for i, (a, b) in pairs if not same_line(a, b)), same))
        for line in lines[len(self.log) :]:
            if line.answer is None:
                raise StoreError(
                    f"the log of run {self._record.name!r} is damaged: an answer is missing"
                )
            slate = self.slate_of(line)
            try:
                line.answer.check(len(slate))
                state = self.state_after(slate, line.answer)
            except InvalidInput as error:
                raise StoreError(
                    f"round {line.index} of run {self._record.name!r} is damaged: {error}"
                ) from error
            self.append(line, slate, state)

    def keep_candidates(self) -> None:
        """Keep the candidates of all rounds from now on, because records may refer to them."""
        if not self._keep_candidates:
            self._keep_candidates = True
            self._reset()

    def append(self, line: Round, slate: Slate, state: Any) -> None:
        """Add an answered line, its slate and the state after it."""
        if self._trace:
            self._steps.append(self._step(line, slate, self.state, state))
        if self._keep_candidates or line.slate is not None:
            self.slates.shown.add(line.index, slate)
        self.history.append(self._history_row(line, slate, state))
        self.log.append(line)
        self._states[len(self.log)] = state
        self._drop_states()
        self._current_slate = self._next_state = None

    def slate_of(self, line: Round) -> Slate:
        """Return the slate of the line that follows the log."""
        if self._current_slate is not None and self._current_slate[0] == line.key:
            return self._current_slate[1]
        slate = self.slates.from_log(line, self.state)
        self.set_slate(line, slate)
        return slate

    def set_slate(self, line: Round, slate: Slate) -> None:
        """Set the slate of the line that follows the log."""
        self._current_slate, self._next_state = (line.key, slate), None

    def state_after(self, slate: Slate, answer: Answer) -> Any:
        """Return the state after this answer to the slate that follows the log."""
        if self._next_state is None or self._next_state[0] != answer:
            self._next_state = (answer, self._optimizer.tell(self.state, slate, answer))
        return self._next_state[1]

    def ask(self, index: int, state: Any, looks: Looks | None) -> Slate:
        """Return the slate that the optimizer asks in this state, as round `index`."""
        if self._next_slate is None or self._next_slate[0] is not state:
            self._next_slate = (state, self.slates.new(index, state, looks))
        return self._next_slate[1]

    def steps(self) -> list[Step]:
        """Return a step for every line; replayed, unless the run is traced."""
        if self._trace:
            return list(self._steps)
        before = self._optimizer.init(self._record.x0)
        steps = []
        for line, slate, state in self.replay():
            steps.append(self._step(line, slate, before, state))
            before = state
        return steps

    def replay(self) -> Iterator[tuple[Round, Slate, Any]]:
        """Fold the log again: yield every line, its slate and the state after it."""
        state = self._optimizer.init(self._record.x0)
        slates = RunSlates(self._optimizer, self._record)
        for line in self.log:
            if line.answer is None:
                return
            slate = slates.from_log(line, state)
            if self._keep_candidates or line.slate is not None:
                slates.shown.add(line.index, slate)
            line.answer.check(len(slate))
            state = self._optimizer.tell(state, slate, line.answer)
            yield line, slate, state

    def _truncate(self, kept: int) -> None:
        """Truncate to the first `kept` lines, or to fewer if the state after them was dropped."""
        if kept >= len(self.log):
            return
        kept = max((i for i in self._states if i <= kept), default=0)
        if kept not in self._states:
            self._reset()
            return
        self._states = {i: state for i, state in self._states.items() if i <= kept}
        del self.log[kept:], self.history[kept:], self._steps[kept:]
        self.slates.shown.truncate(kept)
        self._current_slate = self._next_state = None

    def _drop_states(self) -> None:
        """Drop the states that are neither recent nor evenly spaced."""
        last = len(self.log)
        if not self._trace:
            self._states = {last: self._states[last]}
            return
        spacing = 1
        while last > EARLIER_STATES * spacing:
            spacing *= 2
        self._states = {
            i: state
            for i, state in self._states.items()
            if last - i < RECENT_STATES or i % spacing == 0
        }

    def _step(self, line: Round, slate: Slate, before: Any, after: Any) -> Step:
        best = self._optimizer.best(after)
        moved = best.tobytes() != self._optimizer.best(before).tobytes()
        return Step(line, slate, best, moved, self._optimizer.report(after))

    def _history_row(self, line: Round, slate: Slate, state: Any) -> dict[str, Any]:
        seconds = None if line.answered_at is None else line.answered_at - line.shown_at
        row = {
            "round": line.index,
            "points": self.points + len(slate),
            "question": slate.question,
            "rater": line.rater,
            "seconds": seconds,
            **self._optimizer.report(state),
        }
        return row | {key: value for key, value in line.note.items() if key not in row}


def same_line(a: Round | None, b: Round | None) -> bool:
    """Return whether two lines are equal, keys included."""
    return a == b and (a is None or b is None or a.key == b.key)
