"""The snapshot of a run that a request has read, so that it reads the store only once."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from zorank.types import Snapshot


@dataclass(frozen=True)
class Seen:
    """The time at which a request began, and the snapshot that was read since then.

    Attributes:
        at: the time, by `time.perf_counter`. Snapshots read later are new enough.
        snapshot: None if none was read yet.
    """

    at: float = field(default_factory=time.perf_counter)
    snapshot: Snapshot | None = None
