"""Exhibits that wait to be rendered, and the order in which they are taken.

The most urgent task comes first. Among equally urgent tasks the runs take turns, so a run waits
for one task of each other run, however many they have. Within a run, the oldest request comes
first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeAlias

from zorank.renderers.interface import ResolvedRenderer
from zorank.types import Exhibit, Vector

Key: TypeAlias = tuple[str, str, int]
"""A run, the fingerprint of a candidate, and a size."""


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


@dataclass(eq=False)
class RenderTask:
    """An exhibit to render, and the requests that wait for it.

    Attributes:
        waiting: how urgent each request is, by the future that it got.
        urgency: that of the most urgent request.
        number: orders equally urgent tasks of a run.
        share: the rendering progress from 0 to 1; None while it is unknown.
        preview: the latest intermediate preview.
    """

    key: Key
    renderer: ResolvedRenderer
    candidate: Vector
    waiting: dict[Future[Exhibit], Urgency] = field(default_factory=dict)
    urgency: Urgency = Urgency.LIKELY
    number: int = 0
    share: float | None = None
    preview: Exhibit | None = None

    @property
    def run(self) -> str:
        """The run that the exhibit belongs to."""
        return self.key[0]

    def join(self, future: Future[Exhibit], urgency: Urgency, number: int) -> None:
        """Add a request. If it is more urgent than the others, its number counts from now on."""
        if not self.waiting or urgency < self.urgency:
            self.urgency, self.number = urgency, number
        self.waiting[future] = urgency

    def leave(self, future: Future[Exhibit]) -> None:
        """Remove a request that was cancelled."""
        self.waiting.pop(future, None)
        if self.waiting and self.urgency not in self.waiting.values():
            self.urgency = min(self.waiting.values())

    def release(self) -> list[Future[Exhibit]]:
        """Remove all requests, and return their futures."""
        futures = list(self.waiting)
        self.waiting.clear()
        return futures

    def release_speculative(self) -> list[Future[Exhibit]]:
        """Remove the speculative requests, and return their futures."""
        futures = [future for future, urgency in self.waiting.items() if urgency.speculative]
        for future in futures:
            self.leave(future)
        return futures

    def fits_with(self, other: RenderTask) -> bool:
        """Whether two tasks can share a call: of one run and size, both or neither speculative."""
        (run, _, size), (other_run, _, other_size) = self.key, other.key
        return (run, size) == (other_run, other_size) and (
            self.urgency.speculative == other.urgency.speculative
        )


class FairQueue:
    """The queued tasks of all runs. Its callers hold a lock."""

    def __init__(self) -> None:
        # In order of turns: the run that was served last is the last one.
        self._runs: dict[str, dict[Key, RenderTask]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._runs.values()))

    def count(self, run: str) -> int:
        """Return the number of queued tasks of a run."""
        return len(self._runs.get(run, ()))

    def tasks(self, run: str) -> list[RenderTask]:
        """Return the queued tasks of a run."""
        return list(self._runs.get(run, {}).values())

    def get(self, key: Key) -> RenderTask | None:
        """Return the queued task with this key."""
        return self._runs.get(key[0], {}).get(key)

    def add(self, task: RenderTask) -> None:
        """Queue a task; a run without queued tasks gets the last turn."""
        self._runs.setdefault(task.run, {})[task.key] = task

    def remove(self, task: RenderTask) -> None:
        """Remove a task, unless it was removed already."""
        if self.get(task.key) is task:
            del self._runs[task.run][task.key]
            if not self._runs[task.run]:
                del self._runs[task.run]

    def clear(self) -> list[RenderTask]:
        """Remove and return the tasks of all runs."""
        tasks = [task for run in self._runs for task in self.tasks(run)]
        self._runs.clear()
        return tasks

    def take(self, may_start: Callable[[str], bool]) -> RenderTask | None:
        """Take the next task of the runs that may start one; None if there is none."""
        found = [_first(tasks.values()) for run, tasks in self._runs.items() if may_start(run)]
        if not found:
            return None
        task = min(found, key=lambda task: task.urgency)  # the first of equals: its turn is next
        self.remove(task)
        if task.run in self._runs:
            self._runs[task.run] = self._runs.pop(task.run)
        return task

    def take_with(self, task: RenderTask) -> RenderTask | None:
        """Take the run's next task if it can share a call with this one."""
        tasks = self._runs.get(task.run)
        following = _first(tasks.values()) if tasks else None
        if following is None or not following.fits_with(task):
            return None
        self.remove(following)
        return following

    def least_urgent(self, run: str | None = None) -> RenderTask | None:
        """Return the newest of the least urgent tasks of a run, or of all runs."""
        runs = list(self._runs) if run is None else [run]
        tasks = [task for name in runs for task in self.tasks(name)]
        return max(tasks, key=lambda task: (task.urgency, task.number), default=None)


def _first(tasks: Iterable[RenderTask]) -> RenderTask:
    return min(tasks, key=lambda task: (task.urgency, task.number))


def cancel(futures: Iterable[Future[Exhibit]]) -> None:
    """Cancel futures."""
    for future in futures:
        future.cancel()


def fail(futures: Iterable[Future[Exhibit]], error: Exception) -> None:
    """Report an error to futures that are not cancelled."""
    for future in futures:
        if future.set_running_or_notify_cancel():
            future.set_exception(error)


def fulfil(futures: Iterable[Future[Exhibit]], exhibit: Exhibit) -> None:
    """Give an exhibit to futures that are not cancelled."""
    for future in futures:
        if future.set_running_or_notify_cancel():
            future.set_result(exhibit)
