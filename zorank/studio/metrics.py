"""Numbers about a server process in the text format of Prometheus.

The format is described at prometheus.io/docs/instrumenting/exposition_formats. Each process
counts for itself, from its start; `zorank_process` tells processes apart.
"""

from __future__ import annotations

import os
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zorank._version import __version__

if TYPE_CHECKING:
    from zorank.studio.notifier import Notifier
    from zorank.studio.studio import Studio

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0)
"""The upper bounds of the histogram's buckets, in seconds."""

Labels = dict[str, object]


@dataclass
class _Times:
    """The durations of the requests of one route with one status."""

    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0


class RequestTimes:
    """A histogram of the seconds until responses began, by route template and status."""

    def __init__(self) -> None:
        self._times: dict[tuple[str, int], _Times] = {}
        self._lock = threading.Lock()

    def add(self, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        with self._lock:
            times = self._times.setdefault((route, status), _Times())
            times.buckets[bisect_left(BOUNDS, seconds)] += 1
            times.seconds += seconds

    def lines(self) -> Iterator[str]:
        """Yield the histogram."""
        name = "zorank_request_seconds"
        yield from _head(name, "histogram", "Seconds until the response began.")
        with self._lock:
            found = sorted((key, list(t.buckets), t.seconds) for key, t in self._times.items())
        for (route, status), buckets, seconds in found:
            labels: Labels = {"route": route, "status": status}
            total = 0
            for bound, count in zip((*BOUNDS, "+Inf"), buckets, strict=True):
                total += count
                yield _line(f"{name}_bucket", total, {**labels, "le": bound})
            yield _line(f"{name}_sum", round(seconds, 6), labels)
            yield _line(f"{name}_count", total, labels)


def text(studio: Studio, notifier: Notifier, requests: RequestTimes) -> str:
    """Return all numbers."""
    lines = [*_head("zorank_process", "gauge", "The process that counts.")]
    lines.append(_line("zorank_process", 1, {"version": __version__, "pid": os.getpid()}))
    for name, kind, what, value in _numbers(studio, notifier):
        lines += [*_head(name, kind, what), _line(name, value)]
    lines += requests.lines()
    return "\n".join([*lines, ""])


def _numbers(studio: Studio, notifier: Notifier) -> Iterable[tuple[str, str, str, float]]:
    """Return name, type, description and value of each number without labels."""
    counts: Counter[str] = studio.counts.copy()
    renders = studio.render_pool.stats()
    loaded = studio.loaded
    waiting = sum(session.missing_answers > 0 for session in loaded)
    return [
        ("zorank_answers_total", "counter", "Answers stored.", counts["answers"]),
        (
            "zorank_ballots_total",
            "counter",
            "Answers stored as ballots of rounds with several raters.",
            counts["ballots"],
        ),
        ("zorank_open_pages", "gauge", "Event streams of open pages.", notifier.pages),
        ("zorank_loaded_runs", "gauge", "Runs in memory.", len(loaded)),
        ("zorank_waiting_rounds", "gauge", "Rounds of loaded runs that wait.", waiting),
        ("zorank_renders_total", "counter", "Exhibits rendered.", renders.done),
        ("zorank_failed_renders_total", "counter", "Renderings that failed.", renders.failed),
        ("zorank_refused_renders_total", "counter", "Requests beyond the queue.", renders.refused),
        ("zorank_render_seconds_total", "counter", "Time spent rendering.", renders.seconds),
        ("zorank_render_queue", "gauge", "Exhibits that wait to be rendered.", renders.queued),
        ("zorank_rendering", "gauge", "Exhibits that are being rendered.", renders.rendering),
        ("zorank_cache_bytes", "gauge", "Size of the cached exhibits.", renders.cached_bytes),
    ]


def _head(name: str, kind: str, what: str) -> Iterator[str]:
    yield f"# HELP {name} {what}"
    yield f"# TYPE {name} {kind}"


def _line(name: str, value: float, labels: Labels | None = None) -> str:
    inside = ",".join(f'{key}="{_escaped(str(text))}"' for key, text in (labels or {}).items())
    return f"{name}{{{inside}}} {value}" if inside else f"{name} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
