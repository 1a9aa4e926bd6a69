"""Renders exhibits in the background, the most urgent first, and keeps what was rendered.

An exhibit is asked for by its run and its candidate, so the same picture is never rendered twice
and a picture that was guessed ahead is simply there. Guesses can be dropped when they turn out
wrong. Nothing here needs to survive: whatever is lost is rendered again. A slow renderer may say
how far it is, show previews, and say how many candidates it likes to be given at once.
"""

from __future__ import annotations

import atexit
import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from hashlib import blake2b
from queue import Empty, PriorityQueue
from typing import TypeAlias

from zorank.errors import RenderError
from zorank.renderers.interface import ResolvedRenderer
from zorank.types import Exhibit, Vector

Key: TypeAlias = tuple[str, str, int]

NEEDED, SOON, DRAFTED, GUESSED = range(4)
"""How urgent an exhibit is."""


@dataclass(order=True)
class _Task:
    urgency: int
    number: int
    key: Key = field(compare=False)
    renderer: ResolvedRenderer = field(compare=False)
    candidate: Vector = field(compare=False)
    guess: int = field(compare=False)


class Gallery:
    """A few rendering threads and a bounded memory of exhibits."""

    def __init__(self, workers: int = 2, capacity: int = 256 * 2**20) -> None:
        self._queue: PriorityQueue[_Task] = PriorityQueue()
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._waiting: dict[Key, Future[Exhibit]] = {}
        self._rendering: dict[Key, float | None] = {}
        self._previews: dict[Key, Exhibit] = {}
        self._guess: dict[str, int] = {}
        self._kept: OrderedDict[Key, Exhibit] = OrderedDict()
        self._capacity = capacity
        self._size = 0
        self._closed = False
        # A thread that dies with Python inside of a model's library would take it down noisily.
        atexit.register(self.close)
        for _ in range(workers):
            threading.Thread(target=self._work, daemon=True, name="zorank-render").start()

    def request(
        self, run: str, renderer: ResolvedRenderer, candidate: Vector, urgency: int = NEEDED
    ) -> Future[Exhibit]:
        """The exhibit of a candidate, at once or when it is rendered."""
        key = (run, fingerprint(candidate), renderer.size or 0)
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

    def shares(self, run: str, candidates: Iterable[Vector], size: int) -> list[float | None]:
        """How far each of these is, from 0 to 1; None while nobody says."""
        with self._lock:
            keys = [(run, fingerprint(x), size) for x in candidates]
            return [1.0 if key in self._kept else self._rendering.get(key) for key in keys]

    def previews(self, run: str, candidates: Iterable[Vector], size: int) -> list[Exhibit | None]:
        """What is there to see of each of these while it is rendered."""
        with self._lock:
            return [self._previews.get((run, fingerprint(x), size)) for x in candidates]

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

    def close(self, patience: float = 10.0) -> None:
        """Render nothing more, and wait, but not for ever, for what is being rendered."""
        self._closed = True
        deadline = time.monotonic() + patience
        while self._rendering and time.monotonic() < deadline:
            time.sleep(0.02)

    def _work(self) -> None:
        while not self._closed:
            task = self._queue.get()
            if not self._closed and self._claim(task):
                self._render([task, *self._companions(task)])

    def _claim(self, task: _Task) -> bool:
        """Whether a task is still to be done, by whoever asks first."""
        dropped = task.urgency >= DRAFTED and task.guess < self._guess.get(task.key[0], 0)
        with self._lock:
            if dropped or task.key not in self._waiting or task.key in self._rendering:
                return False
            self._rendering[task.key] = None
            return True

    def _companions(self, task: _Task) -> list[_Task]:
        """The next tasks that can be rendered in the same call, if the renderer likes several."""
        found: list[_Task] = []
        room = task.renderer.together - 1
        while len(found) < room:
            try:
                other = self._queue.get_nowait()
            except Empty:
                break
            if not _joins(other, task):
                self._queue.put(other)
                break
            if self._claim(other):
                found.append(other)
        return found

    def _render(self, tasks: Sequence[_Task]) -> None:
        renderer, urgency = tasks[0].renderer, tasks[0].urgency
        candidates = [task.candidate for task in tasks]

        def tell(share: float) -> None:
            if self._closed:
                raise RuntimeError("the studio is closing")
            with self._lock:
                self._rendering |= {task.key: float(share) for task in tasks}

        def show(position: int, preview: Exhibit) -> None:
            with self._lock:
                self._previews[tasks[position].key] = preview

        try:
            exhibits = renderer.render(candidates, tell, show if urgency <= SOON else None)
        except BaseException as error:  # a renderer of a user's own may raise anything
            ours = isinstance(error, Exception)  # what would end the studio ends with the picture
            for future in self._done(tasks):
                future.set_exception(error if ours else RenderError(repr(error)))
            return
        for future, exhibit in zip(self._done(tasks, exhibits), exhibits, strict=True):
            future.set_result(exhibit)

    def _done(
        self, tasks: Sequence[_Task], exhibits: Sequence[Exhibit] = ()
    ) -> list[Future[Exhibit]]:
        """Keep what was made; those who wait for it."""
        with self._lock:
            for task, exhibit in zip(tasks, exhibits, strict=False):
                self._kept[task.key] = exhibit
                self._size += len(exhibit.data)
            while self._size > self._capacity and len(self._kept) > 1:
                self._size -= len(self._kept.popitem(last=False)[1].data)
            for task in tasks:
                del self._rendering[task.key]
                self._previews.pop(task.key, None)
            return [self._waiting.pop(task.key) for task in tasks]


def _joins(other: _Task, task: _Task) -> bool:
    """Whether two tasks are of one run and kind, and neither would hold up the other."""
    (run, _, size), (other_run, _, other_size) = task.key, other.key
    return (run, size) == (other_run, other_size) and (other.urgency <= SOON) == (
        task.urgency <= SOON
    )


def fingerprint(candidate: Vector) -> str:
    """A short name for a vector's exact bits."""
    return blake2b(candidate.tobytes(), digest_size=9).hexdigest()
