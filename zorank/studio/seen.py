"""What a request has seen of the store, so that the store is read once for each request."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from zorank.types import Snapshot


@dataclass(frozen=True)
class Seen:
    """When a request asked for the state of a run, and a snapshot that was read since then.

    Attributes:
        at: the time, by `time.perf_counter`. Whatever is read later is new enough.
        snapshot: None if none was read yet.
    """

    at: float = field(default_factory=time.perf_counter)
    snapshot: Snapshot | None = None
