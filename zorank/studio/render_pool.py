"""Renders exhibits in background threads, the most urgent first, and caches them.

The cache key is the run and the candidate, so no exhibit is rendered twice, and one that was
rendered ahead of time is served at once. Speculative requests can be cancelled. The cache may be
lost: exhibits are rendered again. A slow renderer may report progress, show intermediate previews,
and set how many candidates it takes at once.
"""

from __future__ import annotations

import atexit
import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from enum import IntEnum
from hashlib import blake2b
from queue import Empty, PriorityQueue
from typing import TypeAlias

from zorank.errors import RenderError
from zorank.renderers.interface import ResolvedRenderer
from zorank.types import Exhibit, Vector

Key: TypeAlias = tuple[str, str, int]


class Urgency(IntEnum):
    """How urgent an exhibit is; lower is more urgent."""

    NEEDED = 0
    """A browser is waiting for it."""
    SOON = 1
    """It belongs to the waiting round."""
    PREVIEWED = 2
    """It would follow a draft answer."""
    LIKELY = 3
    """It would follow the most probable answer."""

    @property
    def speculative(self) -> bool:
        """Whether the exhibit is rendered ahead of time and may never be shown."""
        return self >= Urgency.PREVIEWED


@dataclass(order=True)
class QueuedTask:
    """A task of a priority queue: the most urgent first, of equally urgent ones the oldest.

    A subclass adds fields that are not compared, as a dataclass with eq=False.
    """

    urgency: int
    number: int


@dataclass(eq=False)
class _Task(QueuedTask):
    urgency: Urgency
    key: Key
    renderer: ResolvedRenderer
    candidate: Vector
    generation: int


class RenderPool:
    """Rendering threads and a bounded cache of exhibits.

    Args:
        workers: number of threads.
        capacity: size of the cache in bytes.
    """

    def __init__(self, workers: int = 2, capacity: int = 256 * 2**20) -> None:
        self._queue: PriorityQueue[_Task] = PriorityQueue()
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._waiting: dict[Key, Future[Exhibit]] = {}
        self._rendering: dict[Key, float | None] = {}
        self._previews: dict[Key, Exhibit] = {}
        self._generation: dict[str, int] = {}
        self._kept: OrderedDict[Key, Exhibit] = OrderedDict()
        self._capacity = capacity
        self._size = 0
        self._closed = False
        # A thread that is inside of a model's library when Python exits would crash the process.
        atexit.register(self.close)
        for _ in range(workers):
            threading.Thread(target=self._work, daemon=True, name="zorank-render").start()

    def request(
        self,
        run: str,
        renderer: ResolvedRenderer,
        candidate: Vector,
        urgency: Urgency = Urgency.NEEDED,
    ) -> Future[Exhibit]:
        """Return a future of the candidate's exhibit, done already if it is cached."""
        key = (run, fingerprint(candidate), renderer.size or 0)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                ready: Future[Exhibit] = Future()
                ready.set_result(self._kept[key])
                return ready
            future = self._waiting.setdefault(key, Future())
        # A second request is queued too: the more urgent task runs, the other is skipped.
        generation = self._generation.get(run, 0)
        self._queue.put(_Task(urgency, next(self._numbers), key, renderer, candidate, generation))
        return future

    def cancel_speculative(self, run: str) -> None:
        """Cancel the speculative requests of a run that are still queued."""
        self._generation[run] = self._generation.get(run, 0) + 1

    def ready(self, run: str, candidates: Iterable[Vector], size: int) -> int:
        """Count the candidates that are rendered already."""
        with self._lock:
            return sum((run, fingerprint(x), size) in self._kept for x in candidates)

    def shares(self, run: str, candidates: Iterable[Vector], size: int) -> list[float | None]:
        """Return each candidate's rendering progress from 0 to 1; None while it is unknown."""
        with self._lock:
            keys = [(run, fingerprint(x), size) for x in candidates]
            return [1.0 if key in self._kept else self._rendering.get(key) for key in keys]

    def previews(self, run: str, candidates: Iterable[Vector], size: int) -> list[Exhibit | None]:
        """Return each candidate's latest intermediate preview while it is rendered."""
        with self._lock:
            return [self._previews.get((run, fingerprint(x), size)) for x in candidates]

    @property
    def idle(self) -> bool:
        """Whether no request is queued or being rendered."""
        with self._lock:
            return self._queue.empty() and not self._rendering

    def forget(self, run: str) -> None:
        """Drop every cached exhibit of a run."""
        with self._lock:
            for key in [key for key in self._kept if key[0] == run]:
                self._size -= len(self._kept.pop(key).data)

    def close(self, patience: float = 10.0) -> None:
        """Stop, and wait at most `patience` seconds for renderings in progress."""
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
        """Mark a task as being rendered; False if it was cancelled, is done, or is claimed."""
        newest = self._generation.get(task.key[0], 0)
        cancelled = task.urgency.speculative and task.generation < newest
        with self._lock:
            if cancelled or task.key not in self._waiting or task.key in self._rendering:
                return False
            self._rendering[task.key] = None
            return True

    def _companions(self, task: _Task) -> list[_Task]:
        """Claim the next tasks that fit into the same call, if the renderer takes several."""
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
            exhibits = renderer.render(candidates, tell, None if urgency.speculative else show)
        except BaseException as error:  # a user's renderer may raise anything, also SystemExit
            reported = error if isinstance(error, Exception) else RenderError(repr(error))
            for future in self._done(tasks):
                future.set_exception(reported)
            return
        for future, exhibit in zip(self._done(tasks, exhibits), exhibits, strict=True):
            future.set_result(exhibit)

    def _done(
        self, tasks: Sequence[_Task], exhibits: Sequence[Exhibit] = ()
    ) -> list[Future[Exhibit]]:
        """Cache these exhibits, and return the futures of the tasks."""
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
    """Whether two tasks share a run and a size, and both or neither are speculative."""
    (run, _, size), (other_run, _, other_size) = task.key, other.key
    return (run, size) == (other_run, other_size) and (
        other.urgency.speculative == task.urgency.speculative
    )


def fingerprint(candidate: Vector) -> str:
    """Return a short digest of a vector's exact bits."""
    return blake2b(candidate.tobytes(), digest_size=9).hexdigest()
