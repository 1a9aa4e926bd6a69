"""What the machine has and runs."""

from __future__ import annotations

import os


def threads() -> int:
    """How many threads to use: a core each, unless numeric libraries are to keep to fewer.

    Whoever sets OMP_NUM_THREADS means us, too: the workers of a pool or an experiment do.
    """
    wish = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()  # may be "4,2"
    return (int(wish) if wish.isdigit() else 0) or os.cpu_count() or 1


def is_running(process: int) -> bool:
    """Whether there is a process of this number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is someone else's
        return True
    return True
