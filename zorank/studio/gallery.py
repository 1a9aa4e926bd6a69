"""Renders exhibits in the background, the most urgent first, and keeps what was rendered.

An exhibit is asked for by its run and its candidate, so the same picture is never rendered twice
and a picture that was guessed ahead is simply there. Guesses can be dropped when they turn out
wrong. Nothing here needs to survive: whatever is lost is rendered again.
"""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from hashlib import blake2b
from queue import PriorityQueue
from typing import TypeAlias

from zorank.protocols import Renderer
from zorank.types import Exhibit, Vector

Key: TypeAlias = tuple[str, str, int]

NEEDED, SOON, DRAFTED, GUESSED = range(4)
"""How urgent an exhibit is."""


@dataclass(order=True)
class _Task:
    urgency: int
    number: int
    key: Key = field(compare=False)
    renderer: Renderer = field(compare=False)
    candidate: Vector = field(compare=False)
    guess: int = field(compare=False)


class Gallery:
    """A few rendering threads and a bounded memory of exhibits."""

    def __init__(self, workers: int = 2, capacity: int = 256 * 2**20) -> None:
        self._queue: PriorityQueue[_Task] = PriorityQueue()
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._waiting: dict[Key, Future[Exhibit]] = {}
        self._rendering: set[Key] = set()
        self._guess: dict[str, int] = {}
        self._kept: OrderedDict[Key, Exhibit] = OrderedDict()
        self._capacity = capacity
        self._size = 0
        for _ in range(workers):
            threading.Thread(target=self._work, daemon=True, name="zorank-render").start()

    def request(
        self, run: str, renderer: Renderer, candidate: Vector, urgency: int = NEEDED
    ) -> Future[Exhibit]:
        """The exhibit of a candidate, at once or when it is rendered."""
        key = (run, fingerprint(candidate), getattr(renderer, "size", 0))
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                ready: Future[Exhibit] = Future()
                ready.set_result(self._kept[key])
                return ready
            future = self._waiting.setdefault(key, Future())
        # Asked again, it is queued again: the more urgent task is first, the other finds it done.
        guess = self._guess.get(run, 0)
        self._queue.put(_Task(urgency, next(self._numbers), key, renderer, candidate, guess))
        return future

    def drop_guesses(self, run: str) -> None:
        """Render nothing more of what was only guessed for a run so far."""
        self._guess[run] = self._guess.get(run, 0) + 1

    def ready(self, run: str, candidates: Iterable[Vector], size: int) -> int:
        """How many of these candidates are rendered already."""
        with self._lock:
            return sum((run, fingerprint(x), size) in self._kept for x in candidates)

    @property
    def idle(self) -> bool:
        """Whether there is nothing left to render."""
        with self._lock:
            return self._queue.empty() and not self._rendering

    def forget(self, run: str) -> None:
        """Drop every exhibit of a run."""
        with self._lock:
            for key in [key for key in self._kept if key[0] == run]:
                self._size -= len(self._kept.pop(key).data)

    def _work(self) -> None:
        while True:
            task = self._queue.get()
            dropped = task.urgency >= DRAFTED and task.guess < self._guess.get(task.key[0], 0)
            with self._lock:
                future = self._waiting.get(task.key)
                if future is None or dropped or task.key in self._rendering:
                    continue
                self._rendering.add(task.key)
            self._render(task, future)

    def _render(self, task: _Task, future: Future[Exhibit]) -> None:
        try:
            (exhibit,) = task.renderer.render([task.candidate])
        except BaseException as error:  # a renderer of a user's own may raise anything
            with self._lock:
                self._done(task.key)
            future.set_exception(error)
            return
        with self._lock:
            self._done(task.key)
            self._kept[task.key] = exhibit
            self._size += len(exhibit.data)
            while self._size > self._capacity and len(self._kept) > 1:
                self._size -= len(self._kept.popitem(last=False)[1].data)
        future.set_result(exhibit)

    def _done(self, key: Key) -> None:
        self._waiting.pop(key, None)
        self._rendering.discard(key)


def fingerprint(candidate: Vector) -> str:
    """A short name for a vector's exact bits."""
    return blake2b(candidate.tobytes(), digest_size=9).hexdigest()
