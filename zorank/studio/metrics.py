"""Numbers about a studio in the text format of Prometheus.

The format is described at prometheus.io/docs/instrumenting/exposition_formats. With several server
processes, any of them returns the sums over all, counted from the start of the studio.
"""

from __future__ import annotations

import asyncio
import os
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from zorank._version import __version__
from zorank.studio.numbers import Numbers

if TYPE_CHECKING:
    from zorank.studio.notifier import Notifier
    from zorank.studio.studio import Studio

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0)
"""The upper bounds of the histogram's buckets, in seconds."""
PROCESS = "zorank_process"
PERIOD = 1.0
"""Seconds after which other processes see changed gauges."""

Labels = dict[str, object]


class RequestTimes:
    """A histogram of the seconds until responses began, by route template and status.

    A row has the counts of the buckets, and then the sum of the seconds.
    """

    def __init__(self, numbers: Numbers | None = None) -> None:
        self._numbers = numbers or Numbers()
        self._lock = threading.Lock()

    def add(self, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        row = self._numbers.own(f"request {route} {status}")
        with self._lock:
            row[bisect_left(BOUNDS, seconds)] += 1
            row[-1] += seconds

    def lines(self) -> Iterator[str]:
        """Yield the histogram."""
        name = "zorank_request_seconds"
        yield from _head(name, "histogram", "Seconds until the response began.")
        for key, values in self._numbers.totals().items():
            what, _, place = key.partition(" ")
            if what != "request":
                continue
            route, _, status = place.rpartition(" ")
            *buckets, seconds = values.tolist()
            labels: Labels = {"route": route, "status": status}
            total = 0
            for bound, count in zip((*BOUNDS, "+Inf"), buckets, strict=True):
                total += int(count)
                yield _line(f"{name}_bucket", total, {**labels, "le": bound})
            yield _line(f"{name}_sum", round(seconds, 6), labels)
            yield _line(f"{name}_count", total, labels)


class Metrics:
    """The numbers of this process, which others can read, and the sums over all processes.

    Args:
        numbers: where the processes write their numbers.
        studio: the studio of this process.
        notifier: has the open pages of this process.
    """

    def __init__(self, numbers: Numbers, studio: Studio, notifier: Notifier) -> None:
        self.times = RequestTimes(numbers)
        self._numbers = numbers
        self._studio = studio
        self._notifier = notifier
        # This process continues the counts of the one that it replaces.
        self._before = {name: float(numbers.own(name)[0]) for name, *_ in self._counters()}
        numbers.own(PROCESS)[0] = os.getpid()
        self.publish()

    def count(self, route: str, status: int, seconds: float) -> None:
        """Count a request before its response, and publish the counters of its work."""
        self.times.add(route, status, seconds)
        if self._numbers.is_shared:
            self._publish_counters()

    def publish(self) -> None:
        """Let other processes read the numbers of this one."""
        self._publish_counters()
        for name, _, value in self._gauges():
            self._numbers.own(name)[0] = value

    async def keep_published(self) -> None:
        """Publish the numbers regularly, if there are other processes."""
        while self._numbers.is_shared:
            self.publish()
            await asyncio.sleep(PERIOD)

    def text(self) -> str:
        """Return all numbers."""
        self.publish()
        lines = [*_head(PROCESS, "gauge", "The processes that count.")]
        for row in self._numbers.of_each(PROCESS):
            lines.append(_line(PROCESS, 1, {"version": __version__, "pid": int(row[0])}))
        totals = self._numbers.totals()
        for kind, numbers in (("counter", self._counters()), ("gauge", self._gauges())):
            for name, what, _ in numbers:
                total = float(totals[name][0])
                shown = int(total) if total.is_integer() else total
                lines += [*_head(name, kind, what), _line(name, shown)]
        return "\n".join([*lines, *self.times.lines(), ""])

    def _publish_counters(self) -> None:
        for name, _, value in self._counters():
            self._numbers.own(name)[0] = self._before[name] + value

    def _counters(self) -> Iterable[tuple[str, str, float]]:
        """Return name, description and value of each number that never decreases."""
        counts: Counter[str] = self._studio.counts.copy()
        renders = self._studio.render_pool.stats()
        ballots = "Answers stored as ballots of rounds with several raters."
        return [
            ("zorank_answers_total", "Answers stored.", counts["answers"]),
            ("zorank_ballots_total", ballots, counts["ballots"]),
            ("zorank_renders_total", "Exhibits rendered.", renders.done),
            ("zorank_failed_renders_total", "Renderings that failed.", renders.failed),
            ("zorank_refused_renders_total", "Requests beyond the queue.", renders.refused),
            ("zorank_shared_renders_total", "Exhibits of another process.", renders.shared),
            ("zorank_render_seconds_total", "Time spent rendering.", renders.seconds),
        ]

    def _gauges(self) -> Iterable[tuple[str, str, float]]:
        """Return name, description and value of each number that may decrease."""
        renders, loaded = self._studio.render_pool.stats(), self._studio.loaded
        waiting = sum(session.missing_answers > 0 for session in loaded)
        return [
            ("zorank_open_pages", "Event streams of open pages.", self._notifier.pages),
            ("zorank_loaded_runs", "Runs in memory.", len(loaded)),
            ("zorank_waiting_rounds", "Rounds of loaded runs that wait.", waiting),
            ("zorank_render_queue", "Exhibits that wait to be rendered.", renders.queued),
            ("zorank_rendering", "Exhibits that are being rendered.", renders.rendering),
            ("zorank_cache_bytes", "Size of the cached exhibits.", renders.cached_bytes),
        ]


def _head(name: str, kind: str, what: str) -> Iterator[str]:
    yield f"# HELP {name} {what}"
    yield f"# TYPE {name} {kind}"


def _line(name: str, value: float, labels: Labels | None = None) -> str:
    inside = ",".join(f'{key}="{_escaped(str(text))}"' for key, text in (labels or {}).items())
    return f"{name}{{{inside}}} {value}" if inside else f"{name} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
