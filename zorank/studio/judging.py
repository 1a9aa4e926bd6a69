"""Judges look at slates in the background, so that people find them in an order to correct.

A judge keeps nobody waiting and breaks nothing: it looks in a thread of its own, one slate after
another, and one that fails has a problem to tell and no order. What it said of a round is noted
with the answer in the log, so an undo takes it back and a branch keeps it.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from queue import PriorityQueue
from typing import Any, TypeAlias

import numpy as np

from zorank.errors import ZorankError, unknown_name
from zorank.oracles.judges import JudgeKind, judge_kinds
from zorank.oracles.pictures import score_exhibits
from zorank.protocols import Scorer
from zorank.renderers.interface import ResolvedRenderer
from zorank.run import Step
from zorank.slates import Slate
from zorank.studio.agreement import Agreement, agreement_with
from zorank.studio.gallery import SOON, Gallery
from zorank.types import Exhibit, Poll, Ranking

Key: TypeAlias = tuple[str, str, str]

NOW, LATER = range(2)
"""How urgent a look is: somebody ranks this slate, or it is of the past."""

RECENT = 10
"""How many of the last rounds the agreement that is shown speaks of."""

REMEMBERED, MODELS = 4096, 4
"""How many verdicts and how many judges are kept."""


@dataclass(frozen=True)
class Choice:
    """A judge by its name, and the options it is made from."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What people call it: of module:object, the object."""
        return self.name.rpartition(":")[2]

    @property
    def key(self) -> str:
        """What tells it from other choices."""
        return json.dumps([self.name, dict(self.options)], sort_keys=True, default=str)


@dataclass(frozen=True)
class Panel:
    """The judges that a studio knows, and the default of runs that choose none."""

    judges: Mapping[str, JudgeKind] = field(default_factory=judge_kinds)
    default: Choice | None = None

    def choice(self, meta: Mapping[str, Any], renderer: ResolvedRenderer) -> Choice | None:
        """Return the judge of a run; without a prompt of its own, it takes the renderer's."""
        kept = meta.get("judge", self.default)
        if kept is None:
            return None
        chosen = kept if isinstance(kept, Choice) else Choice(kept["name"], kept["options"])
        prompt = renderer.prompt
        if not prompt or "prompt" in chosen.options or not self.reads_prompts(chosen.name):
            return chosen
        return replace(chosen, options={**chosen.options, "prompt": prompt})

    def reads_prompts(self, name: str) -> bool:
        """Whether a judge is made from a prompt."""
        return name in self.judges and self.judges[name].reads_prompts

    def offered(self) -> list[str]:
        """Return the names of installed judges, those that fit only some renderers first.

        The default judge is always offered. If a package is missing, it reports that itself.
        """
        found = [
            judge
            for judge in self.judges.values()
            if judge.is_installed or (self.default and self.default.name == judge.name)
        ]
        return [judge.name for judge in sorted(found, key=lambda judge: judge.renderers is None)]

    def make(self, choice: Choice) -> Scorer:
        """Make the chosen judge."""
        if choice.name not in self.judges:
            raise unknown_name("judge", choice.name, self.judges)
        return self.judges[choice.name].make(choice.options)


@dataclass(frozen=True)
class Verdict:
    """What came of a look: scores, higher is better, or a problem to tell; neither if nothing."""

    scores: tuple[float, ...] | None = None
    problem: str = ""

    @property
    def order(self) -> Ranking | None:
        """The candidates, best first."""
        return None if self.scores is None else Ranking.from_values(-np.array(self.scores))


@dataclass(order=True)
class _Look:
    urgency: int
    number: int
    key: Key = field(compare=False)
    choice: Choice = field(compare=False)
    exhibits: list[Future[Exhibit]] = field(compare=False)


class Bench:
    """The thread in which judges look, and a bounded memory of what they said."""

    def __init__(self, gallery: Gallery, panel: Panel) -> None:
        self._gallery = gallery
        self._panel = panel
        self._queue: PriorityQueue[_Look] = PriorityQueue()
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._asked: set[Key] = set()
        self._said: OrderedDict[Key, Verdict] = OrderedDict()
        self._made: OrderedDict[str, Scorer] = OrderedDict()
        self._worker: threading.Thread | None = None

    def verdict(
        self,
        run: str,
        choice: Choice,
        renderer: ResolvedRenderer,
        slate: Slate,
        urgency: int = NOW,
        ask: bool = True,
    ) -> Verdict | None:
        """What a judge says of a slate; None while it has not looked, which one may `ask` for."""
        key = (run, choice.key, _content(slate))
        with self._lock:
            if not ask or key in self._said or key in self._asked:
                return self._said.get(key)
            self._asked.add(key)
            if self._worker is None:
                self._worker = threading.Thread(
                    target=self._work, daemon=True, name="zorank-judge"
                )
                self._worker.start()
        exhibits = [self._gallery.request(run, renderer, x, SOON) for x in slate]
        self._queue.put(_Look(urgency, next(self._numbers), key, choice, exhibits))
        return None

    def agreements(
        self, run: str, choice: Choice | None, renderer: ResolvedRenderer, steps: Sequence[Step]
    ) -> dict[int, Agreement]:
        """How far people and the judge agree in each round that it has looked at, by its index."""
        found = {}
        for step in steps:
            name, verdict = noted(step)
            if name and verdict is None and choice is not None and choice.name == name:
                # The answer came first; to draw many old pictures again would be too much.
                recent = step.line.index >= len(steps) - RECENT
                verdict = self.verdict(run, choice, renderer, step.slate, LATER, ask=recent)
            if verdict is not None and verdict.order is not None:
                found[step.line.index] = agreement_in(step, verdict.order)
        return found

    def forget(self, run: str) -> None:
        """Drop every verdict of a run."""
        with self._lock:
            for key in [key for key in self._said if key[0] == run]:
                del self._said[key]

    def _work(self) -> None:
        while True:
            look = self._queue.get()
            verdict = self._look(look)
            with self._lock:
                self._asked.discard(look.key)
                self._said[look.key] = verdict
                while len(self._said) > REMEMBERED:
                    self._said.popitem(last=False)

    def _look(self, look: _Look) -> Verdict:
        try:
            exhibits = [future.result() for future in look.exhibits]
        except BaseException:  # the renderer's failure is told where its picture would be
            return Verdict()
        try:
            scores = score_exhibits(self._judge(look.choice).score, exhibits)
        except BaseException as error:  # a model of a user's own may raise anything
            return Verdict(problem=_problem(look.choice, error))
        return Verdict(tuple(scores.tolist()))

    def _judge(self, choice: Choice) -> Scorer:
        if choice.key not in self._made:
            self._made[choice.key] = self._panel.make(choice)
        self._made.move_to_end(choice.key)
        while len(self._made) > MODELS:
            self._made.popitem(last=False)
        return self._made[choice.key]


def note_of(choice: Choice, verdict: Verdict | None) -> dict[str, Any]:
    """What the log notes with an answer: what the judge said, null if the answer came first."""
    if verdict is not None and verdict.scores is None:
        return {}
    scores = None if verdict is None else list(verdict.scores or ())
    return {"judge": {"name": choice.name, "scores": scores}}


def noted(step: Step) -> tuple[str, Verdict | None]:
    """The judge that the log names with an answered round, and what it said if that is noted."""
    found = step.line.note.get("judge")
    if not isinstance(found, Mapping):
        return "", None
    scores = found.get("scores")
    fits = isinstance(scores, list) and len(scores) == len(step.slate)
    return str(found.get("name", "")), Verdict(tuple(scores)) if fits and scores else None


def agreement_in(step: Step, order: Ranking) -> Agreement:
    """How far those who answered a round and the judge agree."""
    answer, m = step.line.answer, len(step.slate)
    if isinstance(answer, Poll):
        found = (agreement_with(order, ballot.ranking, m) for ballot in answer.ballots)
        return sum(found, Agreement())
    return agreement_with(order, answer, m) if isinstance(answer, Ranking) else Agreement()


def _problem(choice: Choice, error: BaseException) -> str:
    said = str(error) if isinstance(error, ZorankError) else f"{type(error).__name__}: {error}"
    return f"The judge {choice.title} cannot look, so rank without it: {said:.300}."


def _content(slate: Slate) -> str:
    digest = blake2b(digest_size=12)
    for candidate in slate:
        digest.update(candidate.tobytes())
    return digest.hexdigest()
