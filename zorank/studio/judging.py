"""Judges score slates in a background thread, so that people get them pre-sorted.

People never wait for a judge: it scores one slate after another in its own thread, and a judge
that fails reports a problem instead of an order. The log stores its scores with the answer, so an
undo removes them and a branch keeps them.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
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
from zorank.studio.render_pool import RenderPool, Urgency
from zorank.types import Exhibit, Poll, Ranking

Key: TypeAlias = tuple[str, str, str]

NOW, LATER = range(2)
"""How urgent a verdict is: the slate waits for an answer, or it was answered already."""

RECENT = 10
"""Number of last rounds over which the agreement with the judge is averaged."""

REMEMBERED, MODELS = 4096, 4
"""Sizes of the caches of verdicts and of judges."""


@dataclass(frozen=True)
class JudgeSpec:
    """A judge's name and options."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The name on the page: of module:object, the object."""
        return self.name.rpartition(":")[2]

    @property
    def key(self) -> str:
        """A string that identifies the name and options."""
        return json.dumps([self.name, dict(self.options)], sort_keys=True, default=str)


@dataclass(frozen=True)
class Panel:
    """The judges of a studio, and the default one for runs that have none of their own."""

    judges: Mapping[str, JudgeKind] = field(default_factory=judge_kinds)
    default: JudgeSpec | None = None

    def choice(self, meta: Mapping[str, Any], renderer: ResolvedRenderer) -> JudgeSpec | None:
        """Return the judge of a run; without a prompt of its own, it gets the renderer's."""
        kept = meta.get("judge", self.default)
        if kept is None:
            return None
        given = isinstance(kept, JudgeSpec)
        chosen = kept if given else JudgeSpec(kept["name"], kept["options"])
        prompt = renderer.prompt
        if not prompt or "prompt" in chosen.options or not self.reads_prompts(chosen.name):
            return chosen
        return replace(chosen, options={**chosen.options, "prompt": prompt})

    def reads_prompts(self, name: str) -> bool:
        """Whether a judge has an option `prompt`."""
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

    def make(self, spec: JudgeSpec) -> Scorer:
        """Create the judge."""
        if spec.name not in self.judges:
            raise unknown_name("judge", spec.name, self.judges)
        return self.judges[spec.name].make(spec.options)


@dataclass(frozen=True)
class Verdict:
    """A judge's scores, higher is better, or its problem; neither if the slate did not render."""

    scores: tuple[float, ...] | None = None
    problem: str = ""

    @property
    def order(self) -> Ranking | None:
        """The candidates, best first."""
        return None if self.scores is None else Ranking.from_values(-np.array(self.scores))


@dataclass(order=True)
class _Task:
    """A slate to score: the most urgent first, of equally urgent ones the oldest."""

    urgency: int
    number: int
    key: Key = field(compare=False)
    spec: JudgeSpec = field(compare=False)
    exhibits: list[Future[Exhibit]] = field(compare=False)


class JudgeWorker:
    """The thread in which judges score slates, and a bounded cache of their verdicts.

    Args:
        pool: renders what is scored.
        panel: the available judges.
        on_verdict: called with the run of each new verdict.
    """

    def __init__(
        self, pool: RenderPool, panel: Panel, on_verdict: Callable[[str], None] = lambda run: None
    ) -> None:
        self._pool = pool
        self._on_verdict = on_verdict
        self._panel = panel
        self._queue: PriorityQueue[_Task] = PriorityQueue()
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._pending: set[Key] = set()
        self._verdicts: OrderedDict[Key, Verdict] = OrderedDict()
        self._judges: OrderedDict[str, Scorer] = OrderedDict()
        self._thread: threading.Thread | None = None

    def verdict(
        self,
        run: str,
        spec: JudgeSpec,
        renderer: ResolvedRenderer,
        slate: Slate,
        urgency: int = NOW,
        ask: bool = True,
    ) -> Verdict | None:
        """Return a judge's verdict on a slate, or None and, with `ask`, queue the slate for it."""
        key = (run, spec.key, _digest(slate))
        with self._lock:
            if not ask or key in self._verdicts or key in self._pending:
                return self._verdicts.get(key)
            self._pending.add(key)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._work, daemon=True, name="zorank-judge"
                )
                self._thread.start()
        exhibits = [self._pool.request(run, renderer, x, Urgency.SOON) for x in slate]
        self._queue_when_rendered(_Task(urgency, next(self._numbers), key, spec, exhibits))
        return None

    def agreements(
        self, run: str, spec: JudgeSpec | None, renderer: ResolvedRenderer, steps: Sequence[Step]
    ) -> dict[int, Agreement]:
        """Return how far people and the judge agree, by the index of each round it has scored."""
        found = {}
        for step in steps:
            name, verdict = noted(step)
            if name and verdict is None and spec is not None and spec.name == name:
                # The answer came before the verdict. Render only recent slates again: it is slow.
                recent = step.line.index >= len(steps) - RECENT
                verdict = self.verdict(run, spec, renderer, step.slate, LATER, ask=recent)
            if verdict is not None and verdict.order is not None:
                found[step.line.index] = agreement_in(step, verdict.order)
        return found

    def forget(self, run: str) -> None:
        """Drop every verdict of a run."""
        with self._lock:
            for key in [key for key in self._verdicts if key[0] == run]:
                del self._verdicts[key]

    def _queue_when_rendered(self, task: _Task) -> None:
        """Queue a task when its last exhibit is done, so that no other slate waits for them."""
        missing = set(task.exhibits)

        def count(exhibit: Future[Exhibit]) -> None:
            with self._lock:
                missing.remove(exhibit)
                complete = not missing
            if complete:
                self._queue.put(task)

        for exhibit in task.exhibits:
            exhibit.add_done_callback(count)

    def _work(self) -> None:
        while True:
            task = self._queue.get()
            verdict = self._score(task)
            with self._lock:
                self._pending.discard(task.key)
                if any(exhibit.cancelled() for exhibit in task.exhibits):
                    continue  # the render queue was full; the next request for a verdict retries
                self._verdicts[task.key] = verdict
                while len(self._verdicts) > REMEMBERED:
                    self._verdicts.popitem(last=False)
            self._on_verdict(task.key[0])

    def _score(self, task: _Task) -> Verdict:
        try:
            exhibits = [future.result() for future in task.exhibits]
        except BaseException:  # the page shows the renderer's failure in the picture's place
            return Verdict()
        try:
            scores = score_exhibits(self._judge(task.spec).score, exhibits)
        except BaseException as error:  # a user's model may raise anything
            return Verdict(problem=_problem(task.spec, error))
        return Verdict(tuple(scores.tolist()))

    def _judge(self, spec: JudgeSpec) -> Scorer:
        if spec.key not in self._judges:
            self._judges[spec.key] = self._panel.make(spec)
        self._judges.move_to_end(spec.key)
        while len(self._judges) > MODELS:
            self._judges.popitem(last=False)
        return self._judges[spec.key]


def note_of(spec: JudgeSpec, verdict: Verdict | None) -> dict[str, Any]:
    """Return the log's note on an answer: the judge's scores, null if the answer came first."""
    if verdict is not None and verdict.scores is None:
        return {}
    scores = None if verdict is None else list(verdict.scores or ())
    return {"judge": {"name": spec.name, "scores": scores}}


def noted(step: Step) -> tuple[str, Verdict | None]:
    """Return the judge that the log names with an answered round, and its verdict if noted."""
    found = step.line.note.get("judge")
    if not isinstance(found, Mapping):
        return "", None
    scores = found.get("scores")
    fits = isinstance(scores, list) and len(scores) == len(step.slate)
    return str(found.get("name", "")), Verdict(tuple(scores)) if fits and scores else None


def agreement_in(step: Step, order: Ranking) -> Agreement:
    """Return how far the raters of a round and the judge agree."""
    answer, m = step.line.answer, len(step.slate)
    if isinstance(answer, Poll):
        found = (agreement_with(order, ballot.ranking, m) for ballot in answer.ballots)
        return sum(found, Agreement())
    return agreement_with(order, answer, m) if isinstance(answer, Ranking) else Agreement()


def _problem(spec: JudgeSpec, error: BaseException) -> str:
    said = str(error) if isinstance(error, ZorankError) else f"{type(error).__name__}: {error}"
    return f"The judge {spec.title} failed; rank without it. The error was: {said:.300}."


def _digest(slate: Slate) -> str:
    digest = blake2b(digest_size=12)
    for candidate in slate:
        digest.update(candidate.tobytes())
    return digest.hexdigest()
