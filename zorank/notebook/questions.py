"""The questions of a widget and the effect of an answer: the rounds of a run, or one slate.

Positions on screen are shuffled, as in the studio. Only these classes map them to candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from zorank import rng
from zorank._presentation import shown_order, to_candidates, to_screen
from zorank.errors import InvalidInput, short
from zorank.run import Run
from zorank.slates import Slate
from zorank.types import Group, Ranking

WORDS = {
    "start": ("Pick one to start from", "or rank the ones you like, best first"),
    "rank": (
        "Rank the ones you like, best first",
        "as many as you want; the rest count as worse, and equal to each other",
    ),
    "best": ("Which is best?", "click once to choose, again to continue"),
}
"""Heading and hint for each question that a person can answer here."""


@dataclass(frozen=True, eq=False)
class Shown:
    """A slate on screen: `order[p]` is the candidate at position p; `index` is the round's."""

    slate: Slate
    order: Group
    index: int | None = None

    def __post_init__(self) -> None:
        if self.slate.question not in WORDS:
            raise InvalidInput(
                f"a notebook can ask the questions {', '.join(WORDS)}, found "
                f"{self.slate.question!r}; use an optimizer that learns from rankings, such as "
                "rank-process"
            )

    def words(self) -> dict[str, Any]:
        """Return the texts of the page."""
        heading, hint = WORDS[self.slate.question]
        depth = self.slate.depth()
        if self.slate.question == "rank" and depth < len(self.slate):
            heading, hint = f"Rank the best {depth}, best first", "fewer or more are fine"
        same = "Show me others" if self.slate.question == "start" else "They look the same"
        name = "" if self.index is None else f"Round {self.index}"
        return {
            "question": self.slate.question,
            "heading": heading,
            "hint": hint,
            "same": same,
            "name": name,
        }

    def ranking(self, order: Any) -> Ranking:
        """Return the ranking of candidates that an order of positions on screen stands for."""
        if not isinstance(order, Sequence) or isinstance(order, str):
            raise InvalidInput(
                f"an order must be a list such as [2, [0, 5]], found {short(order)}"
            )
        ranking = to_candidates(Ranking.of(order), self.order)
        is_ranked = self.slate.question == "rank"
        return ranking.completed(len(self.order)) if is_ranked else ranking

    def picks(self, ranking: Any) -> list[list[int]]:
        """Return the positions on screen of an answer, if the page can show all of it."""
        if not isinstance(ranking, Ranking) or ranking.worst or ranking.among is not None:
            return []
        return [list(group) for group in to_screen(ranking, self.order).best]


class Questions(Protocol):
    """The source of slates, which also takes their answers."""

    def shown(self) -> Shown:
        """Return the slate that waits, as it is on screen."""
        ...

    def answer(self, shown: Shown, ranking: Ranking) -> bool:
        """Take an answer; return whether there is another slate."""
        ...

    @property
    def can_undo(self) -> bool:
        """Whether an answer can be undone."""
        ...

    def undo(self) -> list[list[int]]:
        """Undo the last answer; return it, as positions on screen."""
        ...


@dataclass(frozen=True, eq=False)
class RunQuestions:
    """The rounds of a run; each answer is passed to `Run.tell`."""

    run: Run
    rater: str | None = None

    def shown(self) -> Shown:
        """Return the slate that waits, as it is on screen."""
        slate, index = self.run.ask(), len(self.run.history)
        return Shown(slate, shown_order(self.run.record, index, len(slate)), index)

    def answer(self, shown: Shown, ranking: Ranking) -> bool:
        """Pass the answer to the run, which then has another slate."""
        self.run.tell(ranking, rater=self.rater, round=shown.index)
        return True

    @property
    def can_undo(self) -> bool:
        """Whether the run has an answered round."""
        return len(self.run.history) > 0

    def undo(self) -> list[list[int]]:
        """Undo the last round; return its answer, as positions on screen."""
        lines = [line for line in self.run.rounds() if line.answer is not None]
        self.run.undo()
        return self.shown().picks(lines[-1].answer)


@dataclass(frozen=True, eq=False)
class SlateQuestion:
    """One slate, whose answer is only returned."""

    slate: Shown

    can_undo = False

    @classmethod
    def of(cls, shown: Slate | Run) -> SlateQuestion:
        """Return the question of a slate, or of the slate that waits in a run."""
        if isinstance(shown, Run):
            return cls(RunQuestions(shown).shown())
        found: Any = shown
        if not isinstance(found, Slate):
            raise InvalidInput(f"ask needs a Slate or a Run, found {type(found).__name__}")
        generator = rng.for_content(0, shown[0].tobytes())
        return cls(Shown(shown, tuple(generator.permutation(len(shown)).tolist())))

    def shown(self) -> Shown:
        """Return the slate as it is on screen."""
        return self.slate

    def answer(self, shown: Shown, ranking: Ranking) -> bool:
        """Check the answer; there is no other slate."""
        ranking.check(len(shown.slate))
        return False

    def undo(self) -> list[list[int]]:
        """Raise, because the one slate has no answer yet."""
        raise InvalidInput("there is no answer to undo")
