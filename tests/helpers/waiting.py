"""Waits for conditions, with a deadline that only a hang misses."""

import time

PATIENCE = 120
"""Seconds; more than any condition takes on a busy machine."""


def wait_until(condition, what, pause=0.02, patience=PATIENCE):
    """Wait until a condition holds, and return its value; fail with `what` if it never does."""
    deadline = time.monotonic() + patience
    while not (found := condition()):
        assert time.monotonic() < deadline, f"after {patience} s still waiting: {what}"
        time.sleep(pause)
    return found


class Deadline:
    """Ends loops that read or retry: `while deadline.is_ahead()`."""

    def __init__(self, what, patience=PATIENCE):
        self._what, self._patience = what, patience
        self._end = time.monotonic() + patience

    def is_ahead(self):
        """Fail if the time is over, else return True."""
        assert time.monotonic() < self._end, (
            f"after {self._patience} s still waiting: {self._what}"
        )
        return True
