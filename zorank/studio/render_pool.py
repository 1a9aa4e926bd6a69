"""Renders exhibits in background threads and caches them.

The cache key is the run and the candidate, so no exhibit is rendered twice, and one that was
rendered ahead of time is served at once. Every request gets a future of its own. If all futures of
an exhibit are cancelled before its rendering begins, it is not rendered. Speculative requests can
be cancelled by run. The cache may be lost: exhibits are rendered again. A slow renderer may report
progress, show intermediate previews, and set how many candidates it takes at once.

Runs take turns (`render_queue.py`), and one run never occupies all threads, if there are several:
a rendering cannot be interrupted, and the exhibits of other runs must not wait for a slow one.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from functools import partial
from hashlib import blake2b

from zorank.errors import RenderError, TooManyRequests
from zorank.renderers.interface import ResolvedRenderer
from zorank.studio.exhibit_cache import ExhibitCache, check_data
from zorank.studio.render_limits import RenderLimits, RenderStats
from zorank.studio.render_queue import FairQueue, Key, RenderTask, Urgency, cancel, fail, fulfil
from zorank.studio.shared_exhibits import SharedExhibits
from zorank.types import Exhibit, Vector

__all__ = ["RenderLimits", "RenderPool", "RenderStats", "Urgency", "fingerprint"]
PATIENCE = 60.0
"""Seconds to wait for another process that renders the same exhibit."""
PAUSE = 0.02
"""Seconds between two looks for that exhibit."""
CLOSING = "the studio is closing"


class RenderPool:
    """Rendering threads and a bounded cache of exhibits.

    Args:
        workers: number of threads; if there are several, one run uses all but one of them.
        limits: bounds of the cache and of the queue.
        on_change: called with a run's name when one of its exhibits is finished or has failed, and
            when progress or a preview arrives. Any thread may call it, and a slow renderer often.
        shared: exhibits that other processes render.
    """

    def __init__(
        self,
        workers: int = 3,
        limits: RenderLimits | None = None,
        on_change: Callable[[str], None] | None = None,
        shared: SharedExhibits | None = None,
    ) -> None:
        self.on_change = on_change
        self._shared = shared
        self._limits = limits or RenderLimits()
        self._threads_per_run = max(workers - 1, 1)
        self._changed = threading.Condition(threading.Lock())
        self._numbers = itertools.count()
        self._queue = FairQueue()
        self._rendering: dict[Key, RenderTask] = {}
        self._threads: Counter[str] = Counter()
        self._cache = ExhibitCache(self._limits.cache)
        self._done, self._failed, self._refused, self._seconds = 0, 0, 0, 0.0
        self._from_others = 0
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
        """Return a future of the candidate's exhibit, done already if it is cached.

        If the queue is full, the future of a request that is not needed now is cancelled.

        Raises:
            TooManyRequests: if the exhibit is needed and the queue is full.
        """
        try:
            return self._request(run, renderer, candidate, urgency)
        except TooManyRequests:
            if urgency is Urgency.NEEDED:
                raise
            dropped: Future[Exhibit] = Future()
            dropped.cancel()
            return dropped

    def cancel_speculative(self, run: str) -> None:
        """Cancel the speculative requests of a run that are still queued."""
        cancelled: list[Future[Exhibit]] = []
        with self._changed:
            for task in self._queue.tasks(run):
                cancelled += task.release_speculative()
                if not task.waiting:
                    self._queue.remove(task)
        cancel(cancelled)

    def ready(self, run: str, fingerprints: Iterable[str], size: int) -> int:
        """Count the candidates with these fingerprints that are rendered already."""
        with self._changed:
            return sum((run, digest, size) in self._cache for digest in fingerprints)

    def shares(self, run: str, candidates: Iterable[Vector], size: int) -> list[float | None]:
        """Return each candidate's rendering progress from 0 to 1; None while it is unknown."""
        keys = [(run, fingerprint(x), size) for x in candidates]
        with self._changed:
            tasks = [self._rendering.get(key) for key in keys]
            return [
                1.0 if key in self._cache else task.share if task else None
                for key, task in zip(keys, tasks, strict=True)
            ]

    def previews(self, run: str, candidates: Iterable[Vector], size: int) -> list[Exhibit | None]:
        """Return each candidate's latest intermediate preview while it is rendered."""
        with self._changed:
            tasks = [self._rendering.get((run, fingerprint(x), size)) for x in candidates]
            return [task.preview if task else None for task in tasks]

    @property
    def idle(self) -> bool:
        """Whether no request is queued or being rendered."""
        with self._changed:
            return not len(self._queue) and not self._rendering

    def stats(self) -> RenderStats:
        """Return the numbers about this pool."""
        with self._changed:
            return RenderStats(
                self._done,
                self._failed,
                self._refused,
                self._seconds,
                len(self._queue),
                len(self._rendering),
                self._cache.size,
                self._from_others,
            )

    def forget(self, run: str) -> None:
        """Drop every cached exhibit of a run, and its queued requests."""
        with self._changed:
            self._cache.forget(run)
            dropped = self._queue.tasks(run)
            for task in dropped:
                self._queue.remove(task)
            waiting = [future for task in dropped for future in task.release()]
        if self._shared is not None:
            self._shared.forget(run)
        fail(waiting, RenderError(f"run {run!r} was deleted before this was rendered"))

    def close(self, patience: float = 10.0) -> None:
        """Stop, and wait at most `patience` seconds for renderings in progress."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._rendering, patience)
            waiting = [future for task in self._queue.clear() for future in task.release()]
        fail(waiting, RenderError(CLOSING))

    def _request(
        self, run: str, renderer: ResolvedRenderer, candidate: Vector, urgency: Urgency
    ) -> Future[Exhibit]:
        key = (run, fingerprint(candidate), renderer.size or 0)
        future: Future[Exhibit] = Future()
        dropped: list[Future[Exhibit]] = []
        with self._changed:
            if (cached := self._cache.get(key)) is not None:
                future.set_result(cached)
                return future
            if self._closed:
                future.set_exception(RenderError(CLOSING))
                return future
            task = self._rendering.get(key) or self._queue.get(key)
            if task is None:
                dropped = self._make_room(run, urgency)
                task = RenderTask(key, renderer, candidate)
                self._queue.add(task)
            task.join(future, urgency, next(self._numbers))
            self._changed.notify_all()
        future.add_done_callback(partial(self._leave, task))
        cancel(dropped)
        return future

    def _make_room(self, run: str, urgency: Urgency) -> list[Future[Exhibit]]:
        """Drop a speculative task if the queue is full, and return its futures."""
        run_is_full = self._queue.count(run) >= self._limits.queued_per_run
        if not run_is_full and len(self._queue) < self._limits.queued:
            return []
        self._refused += 1
        least = self._queue.least_urgent(run if run_is_full else None)
        if least is None or urgency.speculative or not least.urgency.speculative:
            whose = "of this run " if run_is_full else ""
            raise TooManyRequests(
                f"too many exhibits {whose}wait to be rendered; wait a moment and try again"
            )
        self._queue.remove(least)
        return least.release()

    def _leave(self, task: RenderTask, future: Future[Exhibit]) -> None:
        """Drop a queued task when the last request for it was cancelled."""
        if future.cancelled():
            with self._changed:
                task.leave(future)
                if not task.waiting:
                    self._queue.remove(task)

    def _work(self) -> None:
        while tasks := self._next():
            if self._shared is None:
                self._render(tasks)
            else:
                self._render_once(tasks, self._shared)
            with self._changed:
                self._threads -= Counter([tasks[0].run])  # removes a run that has no thread left
                self._changed.notify_all()

    def _next(self) -> list[RenderTask]:
        """Wait for tasks that can share a call, and start them; none if the pool is closed."""
        with self._changed:
            while (task := self._take()) is None:
                if self._closed:
                    return []
                self._changed.wait()
        together = task.renderer.together  # without the lock: it may load a model
        tasks = [task]
        with self._changed:
            while len(tasks) < together and (other := self._queue.take_with(task)) is not None:
                self._rendering[other.key] = other
                tasks.append(other)
        return tasks

    def _take(self) -> RenderTask | None:
        """Take the next task, unless the pool is closed."""
        if self._closed:
            return None
        task = self._queue.take(lambda run: self._threads[run] < self._threads_per_run)
        if task is not None:
            self._rendering[task.key] = task
            self._threads[task.run] += 1
        return task

    def _render_once(self, tasks: Sequence[RenderTask], shared: SharedExhibits) -> None:
        """Render tasks, but take the exhibits that other processes render from them."""
        left, deadline = list(tasks), time.monotonic() + PATIENCE
        while left:
            found, claimed, left = shared.sort(left)
            for task, exhibit in found:
                self._finish([task], [exhibit])
            if claimed:
                shared.release(claimed, self._render(claimed))
            elif left and self._closed:
                closing = RenderError(CLOSING)
                self._finish(left, [], time.perf_counter(), closing)
                return
            elif left and time.monotonic() > deadline:
                self._render(left)
                return
            elif left:
                time.sleep(PAUSE)

    def _render(self, tasks: Sequence[RenderTask]) -> Sequence[Exhibit]:
        """Render tasks in one call, and return the exhibits; none if that failed."""
        renderer, urgency, run = tasks[0].renderer, tasks[0].urgency, tasks[0].run
        started = time.perf_counter()

        def tell(share: float) -> None:
            if self._closed:
                raise RuntimeError(CLOSING)
            with self._changed:
                told = any(task.share != float(share) for task in tasks)
                for task in tasks:
                    task.share = float(share)
            if told:
                self._notify(run)

        def show(position: int, preview: Exhibit) -> None:
            with self._changed:
                tasks[position].preview = preview
            self._notify(run)

        candidates = [task.candidate for task in tasks]
        try:
            exhibits = renderer.render(candidates, tell, None if urgency.speculative else show)
            check_data(exhibits)
        except BaseException as error:  # a user's renderer may raise anything, also SystemExit
            reported = error if isinstance(error, Exception) else RenderError(repr(error))
            self._finish(tasks, [], started, reported)
            return []
        self._finish(tasks, exhibits, started)
        return exhibits

    def _finish(
        self,
        tasks: Sequence[RenderTask],
        exhibits: Sequence[Exhibit],
        started: float | None = None,
        error: Exception | None = None,
    ) -> None:
        """Cache exhibits and fulfil their futures, or report an error to them.

        `started` is None for exhibits of another process.
        """
        with self._changed:
            for task, exhibit in zip(tasks, exhibits, strict=error is None):
                self._cache.add(task.key, exhibit)
            for task in tasks:
                del self._rendering[task.key]
            if started is None:
                self._from_others += len(exhibits)
            else:
                self._done += len(exhibits)
                self._failed += len(tasks) - len(exhibits)
                self._seconds += time.perf_counter() - started
            self._changed.notify_all()
            finished = [task.release() for task in tasks]
        if error is not None:
            fail(itertools.chain(*finished), error)
        for futures, exhibit in zip(finished, exhibits, strict=error is None):
            fulfil(futures, exhibit)
        self._notify(tasks[0].run)

    def _notify(self, run: str) -> None:
        if self.on_change is not None:
            with contextlib.suppress(Exception):  # a listener must not fail a rendering
                self.on_change(run)


def fingerprint(candidate: Vector) -> str:
    """Return a short digest of a vector's exact bits."""
    return blake2b(candidate.tobytes(), digest_size=9).hexdigest()
