"""Threads and processes of this machine."""

from __future__ import annotations

import math
import os


def threads() -> int:
    """Return the number of threads to use: one per core, or OMP_NUM_THREADS if it is set.

    Worker processes set OMP_NUM_THREADS to share the cores; it also limits zorank.
    """
    setting = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()  # may be "4,2"
    return (int(setting) if setting.isdigit() else 0) or os.cpu_count() or 1


def is_running(process: int) -> bool:
    """Return whether there is a process with this id."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # a process of another user
        return True
    return True


def memory_bytes() -> float:
    """Return the size of this machine's memory; infinite if the system does not tell it."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not a POSIX system
        return math.inf
